"""The body of a class, as a function of the namespace that it fills.

A class body is a special scope: its bindings go into the namespace, its reads search the namespace
first, and the functions and comprehensions inside it do not see its names.
"""

from __future__ import annotations

import ast
import dis
import operator
from types import CodeType, FunctionType
from typing import Any

from adjoint.frontend.builder import Builder, terminates
from adjoint.frontend.codes import NestedCodes
from adjoint.frontend.scope import FUTURE_ANNOTATIONS, Scope
from adjoint.frontend.source import Source
from adjoint.ir import primitives
from adjoint.ir.nodes import Const, If, Operand, Return, Var


class ClassBuilder(Builder):
    """The state of lowering one class body.

    Attributes
    ----------
    own_namespace
        The parameter: the namespace of the class.
    """

    def __init__(
        self, function: FunctionType, source: Source, scope: Scope, codes: NestedCodes
    ) -> None:
        super().__init__(function, source, scope, codes)
        self.own_namespace = self.variable("namespace")
        self.outer: dict[str, Var] = {}
        self._no_locals: dict[str, Var] = {}
        self.locals = self._no_locals

    def is_in_body(self) -> bool:
        """Return whether names have the meaning of the class body here. Inside a comprehension they
        do not: it sees the variables around the class and its own."""
        return self.locals is self._no_locals

    def read(self, name: str, node: ast.AST, into: Var | None = None) -> Operand:
        """Lower the read of a name: from the class, else a captured variable or a global."""
        if name in self.hidden or not self.is_in_body() or name == "__debug__":
            return super().read(name, node, into)
        name = self.mangle(name)
        if name in self.scope.global_names:
            return self.call(
                primitives.load_global, (self.namespace(node), Const(name)), node, into
            )
        # Python does not search enclosing functions for a name that the class binds.
        cell = None if name in self.scope.local else self.outer.get(name)
        outside = self.namespace(node) if cell is None else cell
        return self.call(
            primitives.load_class_name, (self.own_namespace, Const(name), outside), node, into
        )

    def write(self, name: str, value: Operand, node: ast.AST) -> None:
        """Lower ``name = value``."""
        mangled = self.mangle(name)
        if not self._is_attribute(name, mangled):
            super().write(name, value, node)
            return
        self.call(operator.setitem, (self.own_namespace, Const(mangled), value), node, drop=True)

    def delete(self, name: str, node: ast.AST) -> None:
        """Lower ``del name``."""
        mangled = self.mangle(name)
        if not self._is_attribute(name, mangled):
            super().delete(name, node)
            return
        self.call(
            primitives.delete_class_name, (self.own_namespace, Const(mangled)), node, drop=True
        )

    def _is_attribute(self, name: str, mangled: str) -> bool:
        """Return whether a name that is bound here becomes an attribute of the class."""
        return (
            name not in self.hidden
            and self.is_in_body()
            and mangled not in self.scope.global_names
            and mangled not in self.scope.nonlocal_names
        )

    def annotate(self, node: ast.AnnAssign) -> None:
        """Lower the annotation of a variable, which a class evaluates and stores."""
        as_text = bool(self.function.__code__.co_flags & FUTURE_ANNOTATIONS)
        if not (node.simple and isinstance(node.target, ast.Name)):
            if not as_text:
                self.evaluate(node.annotation)
            return
        value = Const(ast.unparse(node.annotation)) if as_text else self.expression(node.annotation)
        annotations = self.read("__annotations__", node)
        name = Const(self.mangle(node.target.id))
        self.call(operator.setitem, (annotations, name, value), node, drop=True)


def lower_class_body(b: ClassBuilder, node: ast.ClassDef) -> None:
    """Lower the statements, and the assignments that the compiler adds before and after them. The
    function returns the cell of ``__class__``, or ``None``."""
    code = b.function.__code__
    b.outer = dict(b.cells)
    implicit = _implicit(code)
    for name in ("__class__", "__classdict__"):
        if name in code.co_cellvars:
            b.new_cell(name, node)
    b.write("__module__", b.read("__name__", node), node)
    _store(b, "__qualname__", implicit, node)
    _store(b, "__firstlineno__", implicit, node)
    if ".type_params" in code.co_freevars:
        operands = (b.cells[".type_params"], Const(".type_params"))
        b.write("__type_params__", b.call(primitives.load_cell, operands, node), node)
    if "__classdict__" in code.co_cellvars:
        filled = (b.cells["__classdict__"], b.own_namespace)
        b.call(primitives.store_cell, filled, node, drop=True)
    if any(op.opname == "SETUP_ANNOTATIONS" for op in dis.get_instructions(code)):
        _set_up_annotations(b, node)
    if ast.get_docstring(node, clean=False) is not None:
        _store(b, "__doc__", implicit, node)
    b.statements(node.body)
    if b.ops and terminates(b.ops[-1]):
        return
    _store(b, "__static_attributes__", implicit, node)
    if "__classdict__" in code.co_cellvars:
        b.write("__classdictcell__", b.cells["__classdict__"], node)
    cell: Operand = Const(None)
    if "__class__" in code.co_cellvars:
        cell = b.cells["__class__"]
        b.write("__classcell__", cell, node)
    b.ops.append(Return(cell, b.span(node)))


def _implicit(code: CodeType) -> dict[str, Any]:
    """Return the constants that the compiler stores implicitly, by name, in this version of
    Python."""
    stored: list[tuple[str, Any]] = []
    constant: list[Any] = []
    for instruction in dis.get_instructions(code):
        if instruction.opname == "STORE_NAME" and constant:
            stored.append((instruction.argval, constant[0]))
        if instruction.opname != "EXTENDED_ARG":
            constant = [instruction.argval] if instruction.opname == "LOAD_CONST" else []
    # Assignments to these names in the source come later, except for the last name.
    first, last = dict(reversed(stored)), dict(stored)
    if "__static_attributes__" in last:
        first["__static_attributes__"] = last["__static_attributes__"]
    names = ("__qualname__", "__firstlineno__", "__doc__", "__static_attributes__")
    return {name: first[name] for name in names if name in first}


def _store(b: ClassBuilder, name: str, implicit: dict[str, Any], node: ast.AST) -> None:
    if name in implicit:
        b.write(name, Const(implicit[name]), node)


def _set_up_annotations(b: ClassBuilder, node: ast.AST) -> None:
    name = "__annotations__"

    def make() -> None:
        b.write(name, b.call(primitives.build_dict, (), node), node)

    there = b.call(operator.contains, (b.own_namespace, Const(name)), node)
    b.ops.append(If(there, (), b.region(make), b.span(node)))
