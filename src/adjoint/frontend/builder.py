"""The operations of one function as they are built, and the places of its variables."""

from __future__ import annotations

import ast
import builtins
import linecache
from collections.abc import Callable, Iterable, Sequence
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, NoReturn

from adjoint.errors import UnsupportedSyntaxError
from adjoint.frontend.added_variables import Names
from adjoint.frontend.codes import NestedCodes, mangle
from adjoint.frontend.registry import Table
from adjoint.frontend.scope import CALLS, REBINDS, Scope
from adjoint.frontend.source import Source
from adjoint.ir import primitives
from adjoint.ir.nodes import (
    Assign,
    Break,
    Call,
    Const,
    Continue,
    Delete,
    Global,
    If,
    Op,
    Operand,
    Raise,
    Region,
    Return,
    Span,
    Var,
    Yield,
)

NONE = Const(None)

expression: Table[Callable[[Builder, Any, Var | None], Operand]] = Table()
"""The lowering of each class of expression. An entry emits operations and returns the result. If
its last operation makes the result, this operation may write to the given variable."""

statement: Table[Callable[[Builder, Any], None]] = Table()
"""The lowering of each class of statement."""

_CONSTANTS: dict[Any, Const] = {}


def constant(function: Callable[..., Any]) -> Const:
    """Return the operand for a function known at lowering."""
    found = _CONSTANTS.get(function)
    if found is None:
        found = _CONSTANTS[function] = Const(function)
    return found


class Builder(Names):
    """The state of lowering one function.

    Attributes
    ----------
    ops
        The operations of the region being built.
    in_region
        Whether this region is part of another one, so that it may not run.
    locals, cells
        The variables visible at this point, by their mangled names in the source: plain ones, and
        those that live in cells.
    """

    codes: NestedCodes
    scope: Scope
    source: Source
    in_region: bool

    def __init__(
        self, function: FunctionType, source: Source, scope: Scope, codes: NestedCodes
    ) -> None:
        code = function.__code__
        own = (*code.co_varnames, *code.co_names, *code.co_freevars, *code.co_cellvars)
        super().__init__((*own, *scope.names))
        self.function: FunctionType = function
        self.source, self.scope, self.codes = source, scope, codes
        self.private: str | None = source.private
        self.filename: str = code.co_filename
        self.ops: list[Op] = []
        self.in_region = False
        self.locals: dict[str, Var] = {name: Var(name) for name in scope.local - scope.captured}
        self.cells: dict[str, Var] = {}
        self._own_cells: set[Var] = set()
        self.hidden: dict[str, Operand] = {}
        self._offset = source.offset
        self._fixed_span: Span | None = None

    # ---- places ----------------------------------------------------------------------------------

    def span(self, node: Any) -> Span:
        """Return the place of `node` in the user's source."""
        if self._fixed_span is not None:
            return self._fixed_span
        return Span(
            node.lineno + self._offset,
            node.col_offset,
            node.end_lineno + self._offset,
            node.end_col_offset,
        )

    def at(self, span: Span | None) -> Span | None:
        """Give all further operations this place (``None``: their own); return the previous
        setting."""
        before, self._fixed_span = self._fixed_span, span
        return before

    def refuse(self, construct: str, node: Any, hint: str) -> NoReturn:
        """Raise the error for a construct that is not differentiated."""
        raise UnsupportedSyntaxError(
            f"'{construct}' cannot be differentiated",
            hint=hint,
            filename=self.filename,
            span=self.span(node),
        )

    # ---- names -----------------------------------------------------------------------------------

    def mangle(self, name: str) -> str:
        return mangle(name, self.private) if name.startswith("__") else name

    def is_local(self, name: str) -> Var | None:
        """Return the plain variable of a name, or ``None``."""
        hidden = self.hidden.get(name)
        if hidden is not None:
            return hidden if isinstance(hidden, Var) else None
        return self.locals.get(self.mangle(name))

    def read(self, name: str, node: ast.AST, into: Var | None = None) -> Operand:
        """Lower the read of a name."""
        if name in self.hidden:
            return self.hidden[name]
        name = self.mangle(name)
        var = self.locals.get(name)
        if var is not None:
            return var
        cell = self.cells.get(name)
        if cell is not None:
            return self.load_cell(name, node, into)
        if name == "__debug__":
            return Const(__debug__)
        if name in self.scope.global_names:
            return self.call(
                primitives.load_global, (self.namespace(node), Const(name)), node, into
            )
        return Global(name)

    def write(self, name: str, value: Operand, node: ast.AST) -> None:
        """Lower ``name = value``."""
        if name in self.hidden:
            hidden = self.hidden[name]
            assert isinstance(hidden, Var)
            self.assign(hidden, value, node)
            return
        name = self.mangle(name)
        var = self.locals.get(name)
        if var is not None:
            self.assign(var, value, node)
        elif name in self.cells:
            self.call(primitives.store_cell, (self.cells[name], value), node, drop=True)
        else:
            self.call(
                primitives.store_global, (self.namespace(node), Const(name), value), node, drop=True
            )

    def bind(self, name: str, result: Operand, node: ast.AST) -> None:
        """Lower ``name = result``; the call that made `result` binds the name itself if possible.
        `result` must have no other use."""
        var, last = self.is_local(name), self.ops[-1] if self.ops else None
        if var is not None and isinstance(last, Call) and last.target is result:
            self.ops[-1] = Call(var, last.callee, last.operands, last.keywords, last.span)
        else:
            self.write(name, result, node)

    def delete(self, name: str, node: ast.AST) -> None:
        """Lower ``del name``."""
        if name in self.hidden:
            return
        name = self.mangle(name)
        var = self.locals.get(name)
        if var is not None:
            self.ops.append(Delete(var, self.span(node)))
        elif name in self.cells:
            cell = self.cells[name]
            is_own = cell in self._own_cells
            delete = primitives.delete_own_cell if is_own else primitives.delete_cell
            self.call(delete, (cell, Const(name)), node, drop=True)
        else:
            self.call(
                primitives.delete_global, (self.namespace(node), Const(name)), node, drop=True
            )

    def comprehension_variable(self, name: str) -> Var:
        """Return a variable of a comprehension. It keeps its name if the name has no other meaning
        in the function."""
        used = (
            name in self.scope.local
            or name in self.scope.outside
            or name in self.locals
            or name in self.cells
        )
        return self.variable(name) if used else Var(name)

    def namespace(self, node: ast.AST) -> Var:
        """Lower the read of the function's globals."""
        return self.call(primitives.current_globals, (), node)

    def new_cell(self, name: str, node: ast.AST) -> None:
        """Make a cell, in which `name` lives from now on."""
        cell = self.variable(f"{name}_cell")
        self.call(primitives.new_cell, (), node, cell)
        self.locals.pop(name, None)
        self.cells[name] = cell
        self._own_cells.add(cell)

    def load_cell(self, name: str, node: ast.AST, into: Var | None = None) -> Var:
        """Lower the read of a name that lives in a cell."""
        cell = self.cells[name]
        is_own = cell in self._own_cells
        load = primitives.load_own_cell if is_own else primitives.load_cell
        return self.call(load, (cell, Const(name)), node, into)

    # ---- operations ------------------------------------------------------------------------------

    def call(
        self,
        function: Callable[..., Any] | Operand,
        operands: Sequence[Operand],
        node: ast.AST,
        into: Var | None = None,
        keywords: tuple[tuple[str, Operand], ...] = (),
        *,
        drop: bool = False,
    ) -> Var:
        """Emit a call and return the variable of its result."""
        target = self.temporary() if into is None and not drop else into
        callee = function if isinstance(function, Operand) else constant(function)
        self.ops.append(Call(target, callee, tuple(operands), keywords, self.span(node)))
        return target  # type: ignore[return-value]

    def assign(self, target: Var, source: Operand, node: ast.AST) -> None:
        """Emit ``target = source``."""
        self.ops.append(Assign(target, source, self.span(node)))

    def copy(self, source: Operand, node: ast.AST) -> Var:
        """Copy the present value of `source` to a temporary."""
        target = self.temporary()
        self.assign(target, source, node)
        return target

    def evaluate(self, node: ast.expr) -> None:
        """Lower an expression whose value is discarded."""
        if isinstance(node, ast.Constant):
            return
        result = self.expression(node)
        last = self.ops[-1] if self.ops else None
        if isinstance(last, Call) and last.target is result:
            self.ops[-1] = Call(None, last.callee, last.operands, last.keywords, last.span)
        elif isinstance(last, Yield) and last.target is result:
            self.ops[-1] = Yield(None, last.value, last.source, last.span)
        elif isinstance(node, ast.Name) and not isinstance(result, Const):
            # Reading an unbound name is an error even if the value is discarded.
            self.copy(result, node)

    def region(self, lower: Callable[..., Any], *args: Any) -> Region:
        """Return the operations that ``lower(*args)`` emits."""
        outer, self.ops = self.ops, []
        before, self.in_region = self.in_region, True
        lower(*args)
        ops, self.ops, self.in_region = tuple(self.ops), outer, before
        return ops

    def branch(
        self,
        condition: Operand,
        then: Callable[[], Operand],
        otherwise: Callable[[], Operand],
        node: ast.AST,
        into: Var | None = None,
    ) -> Var:
        """Emit ``target = then() if condition else otherwise()``; each arm emits its own
        operations."""
        target = self.temporary() if into is None else into

        def arm(lower: Callable[[], Operand]) -> None:
            result = lower()
            if result is not target:
                self.assign(target, result, node)

        self.ops.append(
            If(condition, self.region(arm, then), self.region(arm, otherwise), self.span(node))
        )
        return target

    # ---- syntax ----------------------------------------------------------------------------------

    def expression(self, node: ast.expr, into: Var | None = None) -> Operand:
        """Lower an expression. The result is `into` itself if the last operation wrote to it."""
        return expression.entries[type(node)](self, node, into)

    def value_into(self, node: ast.expr, target: Var) -> None:
        """Lower ``target = node``."""
        # With a new `Var`, `x = x` is not taken for an expression that wrote to `x`.
        own = Var(target.name)
        result = self.expression(node, own)
        if result is not own:
            self.assign(own, result, node)

    def operands(self, nodes: Sequence[ast.expr]) -> list[Operand]:
        """Lower expressions from left to right; each keeps its value at the time of its
        evaluation."""
        flags, later = self.scope.flags, 0
        hazards = [0] * len(nodes)
        for index in range(len(nodes) - 1, 0, -1):
            later |= flags.get(nodes[index], 0)
            hazards[index - 1] = later
        if not later:
            return [self.expression(node) for node in nodes]
        return [
            self.copy_if_rebound(self.expression(node), node, hazard)
            for node, hazard in zip(nodes, hazards, strict=True)
        ]

    def copy_if_rebound(self, operand: Operand, node: ast.expr, hazard: int) -> Operand:
        """Copy the operand if later evaluations (flags `hazard`) may rebind its name before its
        use."""
        if (
            hazard & REBINDS
            and isinstance(node, ast.Name | ast.NamedExpr)
            and isinstance(operand, Var)
        ):
            return self.copy(operand, node)
        if (
            hazard & (CALLS | REBINDS)
            and isinstance(operand, Global)
            and not self.is_stable(operand.name)
        ):
            return self.copy(operand, node)
        return operand

    def is_stable(self, name: str) -> bool:
        """Return whether a global is a function, class or module that its file never rebinds by
        ``global``."""
        value = self.function.__globals__.get(name, getattr(builtins, name, None))
        return isinstance(
            value, FunctionType | BuiltinFunctionType | ModuleType | type
        ) and name not in declared_globals(self.filename, self.function.__globals__)

    def copy_for_targets(self, value: Operand, targets: Iterable[ast.expr]) -> Operand:
        """Copy a value for several targets, if assigning to one may change it for the next."""
        if isinstance(value, Global) or (
            isinstance(value, Var) and value.name in self._names_bound(targets)
        ):
            return self.copy(value, next(iter(targets)))
        return value

    def _names_bound(self, targets: Iterable[ast.expr]) -> set[str]:
        return {
            self.mangle(node.id)
            for target in targets
            for node in ast.walk(target)
            if isinstance(node, ast.Name)
        }

    def hazard(self, nodes: Iterable[ast.AST | None]) -> int:
        """Return the union of the flags of expressions that are evaluated later."""
        flags = 0
        for node in nodes:
            flags |= self.scope.flags.get(node, 0) if node is not None else 0
        return flags

    def statements(self, body: Iterable[ast.stmt]) -> None:
        """Lower statements, up to the first one that always leaves."""
        for node in body:
            statement.entries[type(node)](self, node)
            if self.ops and terminates(self.ops[-1]):
                return


_DECLARED: dict[str, tuple[list[str], frozenset[str]]] = {}


def declared_globals(filename: str, module_globals: dict[str, Any]) -> frozenset[str]:
    """Return the names in ``global`` statements anywhere in a file."""
    lines = linecache.getlines(filename, module_globals)
    known = _DECLARED.get(filename)
    if known is None or known[0] is not lines:
        names = {
            name.strip()
            for line in lines
            if "global " in line
            for name in line.partition("global ")[2].partition(";")[0].partition("#")[0].split(",")
        }
        known = _DECLARED[filename] = (lines, frozenset(names))
    return known[1]


def terminates(op: Op) -> bool:
    """Return whether control never continues after `op`."""
    match op:
        case Return() | Raise() | Break() | Continue():
            return True
        case If(body=body, orelse=orelse):
            return bool(body) and bool(orelse) and terminates(body[-1]) and terminates(orelse[-1])
        case _:
            return False
