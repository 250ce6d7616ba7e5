"""A machine that runs instructions on operands instead of values and emits operations of the IR.

An operand on the stack keeps the value that was pushed: before an instruction may change this (by
rebinding a variable, or by a call that may rebind a global), the value is copied.
"""

from __future__ import annotations

import builtins
import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, NoReturn

from adjoint.frontend.added_variables import Names
from adjoint.frontend.builder import constant, declared_globals
from adjoint.frontend.bytecode.instructions import Instruction, refused
from adjoint.frontend.bytecode.registry import opcode
from adjoint.frontend.bytecode.stack_entries import (
    Entry,
    Frame,
    LoopItem,
    Method,
    NotStarted,
    OuterVariable,
    StackMark,
    Unchecked,
)
from adjoint.frontend.bytecode.tree import Cycle, Item
from adjoint.ir import primitives
from adjoint.ir.nodes import Assign, Call, Const, Global, Operand, Span, Unpack, Var, Yield

_QUIET: frozenset[Callable[..., Any]] = frozenset(
    {
        operator.is_,
        operator.is_not,
        primitives.build_list,
        primitives.build_slice,
        primitives.build_tuple,
        primitives.current_globals,
        primitives.list_to_tuple,
        primitives.load_cell,
        primitives.load_own_cell,
        primitives.make_function,
        primitives.new_cell,
    }
)
"""Functions that run no code that could rebind a global."""


# ---- the machine ---------------------------------------------------------------------------------


class Machine(Names):
    """The state of lowering one function.

    Attributes
    ----------
    items
        The code being written.
    frame
        The frame at this point.
    span
        The place of the running instruction.
    arriving
        The loop whose next item has just been pushed.
    keyword_names
        The keywords of the next call.
    made
        The calls that made temporaries, by name.
    own
        Names that only comprehensions use.
    namespace
        The parameter of a class body: the namespace to fill.
    free
        The cells of captured variables.
    """

    code: CodeType
    opcode: str
    span: Span

    def __init__(
        self, function: FunctionType, instructions: list[Instruction], own: frozenset[str]
    ) -> None:
        code = function.__code__
        super().__init__((*code.co_varnames, *code.co_names, *code.co_freevars, *code.co_cellvars))
        self.function: FunctionType = function
        self.code = code
        self.items: list[Item] = []
        self.span = Span(code.co_firstlineno, 0, code.co_firstlineno, 0)
        self.opcode = ""
        self.namespace: Var | None = None
        self.keyword_names: tuple[str, ...] = ()
        self.arriving: Cycle | None = None
        self.made: dict[str, Call] = {}
        self.own = own
        self._bools: set[str] = set()
        read = {step.value for step in instructions if step.name == "LOAD_GLOBAL"}
        self.written: set[Any] = {
            step.value for step in instructions if step.name in ("STORE_GLOBAL", "DELETE_GLOBAL")
        }
        self.bound: set[int] = {
            step.arg for step in instructions if step.name in ("STORE_FAST", "DELETE_FAST")
        }
        more = [name for name in code.co_cellvars if name not in code.co_varnames]
        names = [*code.co_varnames, *more]
        plain = {slot: self._local(name, read) for slot, name in enumerate(names)}
        self.parameters: list[Var] = [plain[slot] for slot in range(_parameter_count(code))]
        self.free: list[Var] = [self.variable(f"{name}_cell") for name in code.co_freevars]
        self.frame: Frame = Frame([], plain, dict(enumerate(self.free, len(names))))
        if not code.co_flags & 0x1:  # CO_OPTIMIZED
            self.namespace = self.variable("namespace")

    def _local(self, name: str, read: set[str]) -> Var:
        """Return the variable of a local name, renamed if the code also reads a global of this
        name."""
        if name == ".0":
            return self.variable("_it")
        return Var(name) if name.isidentifier() and name not in read else self.variable(name)

    def run(self, step: Instruction) -> None:
        """Run one instruction."""
        self.span, self.opcode = step.span, step.name
        handler = opcode.entries.get(step.name)
        if handler is None:
            self.refuse()
        handler(self, step)
        self.arriving = None

    def refuse(self, construct: str = "") -> NoReturn:
        """Raise the error for the running instruction."""
        raise refused(self.code, self.opcode, self.span, construct)

    # ---- names -----------------------------------------------------------------------------------

    def is_temporary(self, operand: Entry) -> bool:
        return (
            isinstance(operand, Var)
            and operand.name not in self._taken
            and re.fullmatch(r"_\d+", operand.name) is not None
        )

    def variable(self, stem: str) -> Var:
        """Return a hidden variable with a name like `stem`."""
        return super().variable(re.sub(r"\W", "_", stem))

    def is_stable(self, name: str) -> bool:
        """Return whether a global is a function, class or module that no ``global`` statement
        rebinds."""
        namespace = self.function.__globals__
        value = namespace.get(name, getattr(builtins, name, None))
        return (
            isinstance(value, FunctionType | BuiltinFunctionType | ModuleType | type)
            and name not in self.written
            and name not in declared_globals(self.code.co_filename, namespace)
        )

    # ---- the stack -------------------------------------------------------------------------------

    def push(self, *entries: Entry) -> None:
        self.frame.stack += entries

    def pop_entry(self) -> Entry:
        if not self.frame.stack:
            self.refuse()
        return self.frame.stack.pop()

    def pop(self) -> Operand:
        """Pop the top operand."""
        return self.operand(self.pop_entry())

    def pop_many(self, n: int) -> tuple[Operand, ...]:
        """Pop `n` operands; return them bottom first."""
        entries = [self.pop_entry() for _ in range(n)]
        return tuple(self.operand(entry) for entry in reversed(entries))

    def top(self, depth: int = 1) -> Operand:
        """Return the operand at `depth` from the top without popping it."""
        if depth > len(self.frame.stack):
            self.refuse()
        value = self.frame.stack[-depth] = self.operand(self.frame.stack[-depth])
        return value

    def operand(self, entry: Entry) -> Operand:
        """Turn an entry into an operand."""
        match entry:
            case Unchecked(var=var):
                return var
            case LoopItem(cycle=cycle):
                if cycle.target is None:
                    cycle.target = self.temporary()
                return cycle.target
            case NotStarted(iterable=iterable):
                return self.call(primitives.begin, (iterable,))
            case Method(owner=owner, name=name):
                return self.call(getattr, (owner, Const(name)))
            case StackMark() | OuterVariable():
                self.refuse()
        return entry

    def _replace(self, change: Callable[[Any], Any]) -> None:
        """Apply `change` to the operands on the stack, bottom first."""
        stack = self.frame.stack
        for i, entry in enumerate(stack):
            match entry:
                case Method(owner=owner):
                    stack[i] = replace(entry, owner=change(owner))
                case NotStarted(iterable=iterable):
                    stack[i] = replace(entry, iterable=change(iterable))
                case StackMark() | LoopItem() | OuterVariable():
                    pass
                case _:
                    stack[i] = change(entry)

    def _holds(self, var: Var) -> bool:
        found = False

        def look(entry: Entry) -> Entry:
            nonlocal found
            found = found or entry == var
            return entry

        self._replace(look)
        return found

    def _settle(self) -> None:
        """Copy operands that the following code may change."""

        def settled(entry: Entry) -> Entry:
            if isinstance(entry, Unchecked):
                return self.copy(entry.var)
            if isinstance(entry, Global) and not self.is_stable(entry.name):
                return self.copy(entry)
            return entry

        self._replace(settled)

    def release(self, var: Var) -> None:
        """Copy operands that hold a variable before it is rebound."""

        def released(entry: Entry) -> Entry:
            return self.copy(var) if entry == var or entry == Unchecked(var) else entry

        self._replace(released)

    def enter_loop(self, below: int) -> None:
        """Copy operands that a loop may change, except the `below` topmost entries."""
        held = [self.frame.stack.pop() for _ in range(below)]
        self._settle()
        plain = self.frame.plain
        rebound = {plain[slot] for slot in self.bound if slot in plain}

        def kept(entry: Entry) -> Entry:
            return self.copy(entry) if isinstance(entry, Var) and entry in rebound else entry

        self._replace(kept)
        self.frame.stack += reversed(held)

    # ---- operations ------------------------------------------------------------------------------

    def call(
        self,
        function: Callable[..., Any] | Operand,
        operands: Sequence[Operand],
        keywords: tuple[tuple[str, Operand], ...] = (),
        into: Var | None = None,
    ) -> Var:
        """Emit a call and return the variable of its result."""
        target = self.temporary() if into is None else into
        self._emit(function, operands, keywords, target)
        return target

    def do(self, function: Callable[..., Any], *operands: Operand) -> None:
        """Emit a call whose result is discarded."""
        self._emit(function, operands, (), None)

    def _emit(
        self,
        function: Callable[..., Any] | Operand,
        operands: Sequence[Operand],
        keywords: tuple[tuple[str, Operand], ...],
        target: Var | None,
    ) -> None:
        callee = function if isinstance(function, Operand) else constant(function)
        if isinstance(function, Operand) or function not in _QUIET:
            self._settle()
        call = Call(target, callee, tuple(operands), keywords, self.span)
        self.items.append(call)
        if target is not None:
            self.made[target.name] = call

    def is_made_by(self, operand: Operand, functions: tuple[Callable[..., Any], ...]) -> bool:
        """Return whether a temporary holds the result of one of `functions`."""
        call = self.made.get(operand.name) if self.is_temporary(operand) else None  # type: ignore[union-attr]
        return call is not None and any(call.callee == constant(f) for f in functions)

    def emit(self, op: Unpack | Yield) -> None:
        """Emit an operation that may run other code."""
        self._settle()
        self.items.append(op)

    def take_back(self, op: Item) -> None:
        """Remove an emitted operation."""
        index = next(i for i, item in enumerate(self.items) if item is op)
        del self.items[index]

    def copy(self, source: Operand) -> Var:
        """Copy the present value of `source` to a temporary."""
        target = self.temporary()
        self.items.append(Assign(target, source, self.span))
        return target

    def push_bool(self, result: Var) -> None:
        """Push a result that is a bool whatever its operands are."""
        self._bools.add(result.name)
        self.push(result)

    def truth(self, value: Operand) -> Operand:
        """Return the bool that decides a branch."""
        if isinstance(value, Const):
            return Const(bool(value.value))
        if isinstance(value, Var) and value.name in self._bools:
            return value
        result = self.call(operator.truth, (value,))
        self._bools.add(result.name)
        return result

    def store(self, slot: int) -> None:
        """Pop an entry into a local variable."""
        entry = self.pop_entry()
        if isinstance(entry, OuterVariable):
            self._restore(slot, entry)
            return
        var = self.frame.plain[slot]
        if isinstance(entry, LoopItem) and entry.cycle is self.arriving:
            entry.cycle.target = var
            return
        value = self.operand(entry)
        self.release(var)
        if not self._retarget(value, var):
            self.items.append(Assign(var, value, self.span))

    def _retarget(self, value: Operand, var: Var) -> bool:
        """Let the last operation bind `var` directly, if it has just made `value`."""
        if not self.is_temporary(value) or not self.items:
            return False
        last = self.items[-1]
        if isinstance(last, Call | Yield) and last.target == value:
            self.items[-1] = replace(last, target=var)
        elif isinstance(last, Unpack) and value in last.targets and var not in last.targets:
            targets = tuple(var if target == value else target for target in last.targets)
            self.items[-1] = replace(last, targets=targets)
        else:
            return False
        self._replace(lambda entry: var if entry == value else entry)
        return True

    def _restore(self, slot: int, saved: OuterVariable) -> None:
        for table, old in ((self.frame.plain, saved.var), (self.frame.cells, saved.cell)):
            if old is None:
                table.pop(slot, None)
            else:
                table[slot] = old

    def drop(self) -> None:
        """Pop an entry whose value is discarded."""
        match self.pop_entry():
            case Unchecked(var=var):
                self.copy(var)
            case Global() as name:
                self.copy(name)  # an undefined name is an error even if unused
            case Var() as var if self.is_temporary(var) and not self._holds(var):
                last = self.items[-1] if self.items else None
                if isinstance(last, Call | Yield) and last.target == var:
                    self.items[-1] = replace(last, target=None)

    def globals(self) -> Var:
        """Emit the read of the function's globals."""
        return self.call(primitives.current_globals, ())


def _parameter_count(code: CodeType) -> int:
    count = code.co_argcount + code.co_kwonlyargcount
    return count + bool(code.co_flags & 0x4) + bool(code.co_flags & 0x8)
