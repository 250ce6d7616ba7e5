"""Which variables cannot carry a derivative, whatever the arguments are.

A flow-insensitive analysis over the named IR: a variable is inactive if everything that is ever
assigned to it is. It assumes nothing about types, so it proves little: constants, counters over
``range``, the arithmetic of such. What it proves is left as plain Python in the forward function;
all else is decided when it runs.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from adjoint.ir import primitives
from adjoint.ir.nodes import (
    Assign,
    Call,
    Const,
    For,
    Function,
    Global,
    Operand,
    Path,
    Try,
    Unpack,
    Var,
    Yield,
)
from adjoint.ir.walk import walk

__all__ = ["Activity", "fixed"]

PURE: frozenset[Any] = frozenset(
    {
        operator.add,
        operator.sub,
        operator.mul,
        operator.truediv,
        operator.floordiv,
        operator.mod,
        operator.pow,
        operator.neg,
        operator.pos,
        operator.invert,
        operator.not_,
        operator.truth,
        operator.and_,
        operator.or_,
        operator.xor,
        operator.lshift,
        operator.rshift,
        operator.lt,
        operator.le,
        operator.gt,
        operator.ge,
        operator.eq,
        operator.ne,
        operator.iadd,
        operator.isub,
        operator.imul,
        operator.itruediv,
        operator.ifloordiv,
        operator.imod,
        operator.ipow,
        operator.is_,
        operator.is_not,
        primitives.build_slice,
        primitives.format_value,
        primitives.build_string,
        primitives.current_globals,
    }
)
"""Without effect and without derivative on operands that are inactive (immutable, since containers
are active)."""

FLAT: frozenset[Any] = frozenset(
    {operator.is_, operator.is_not, primitives.current_globals, primitives.build_string}
)
"""Without derivative and without effect whatever the operands are."""

RESULT_INACTIVE: frozenset[Any] = frozenset(
    {
        operator.not_,
        operator.truth,
        operator.contains,
        primitives.format_value,
        primitives.exception_match,
        primitives.import_module,
        primitives.import_from,
        primitives.match_sequence,
        primitives.match_mapping,
    }
)
"""The result is a bool, a string or a module; computing it may still call the user's code."""

HANDS_ON: frozenset[Any] = frozenset({operator.contains, isinstance, issubclass})
"""The user's code that is called is given another operand, which it may store."""

COUNTERS: frozenset[Any] = frozenset({range})
RESULT_INACTIVE_BUILTINS: frozenset[Any] = frozenset(
    {
        len,
        isinstance,
        issubclass,
        callable,
        hasattr,
        id,
        hash,
        ord,
        chr,
        str,
        repr,
        ascii,
        bool,
        bin,
        hex,
        oct,
        type,
    }
)


def fixed(namespace: dict[str, Any], name: str) -> Any:
    """The function, class or module that a global name stands for, else ``None``."""
    value = namespace.get(name, getattr(builtins, name, None))
    return (
        value if isinstance(value, FunctionType | BuiltinFunctionType | ModuleType | type) else None
    )


class Activity:
    """The inactive variables of one function.

    Attributes
    ----------
    namespace
        The globals of the function.
    guards
        The globals that the result relies on, by name: the function is lowered anew where one was
        rebound.
    """

    def __init__(self, function: Function, namespace: dict[str, Any]) -> None:
        self.namespace = namespace
        self.guards: dict[str, Any] = {}
        self._inactive = self._solve(function)

    def fixed(self, name: str) -> Any:
        """The function, class or module that a global name stands for; ``None`` if it is anything
        else."""
        return fixed(self.namespace, name)

    def callee(self, call: Call) -> Any:
        """What is called, as far as the text says."""
        match call.callee:
            case Const(value=value):
                return value
            case Global(name=name):
                value = self.fixed(name)
                if value is not None and (value in COUNTERS or value in RESULT_INACTIVE_BUILTINS):
                    self.guards[name] = value
                    return value
        return None

    def is_inactive(self, operand: Operand) -> bool:
        """Whether the operand can carry no derivative and holds nothing that can."""
        match operand:
            case Const() | Path():
                return True
            case Var(name=name):
                return name in self._inactive
            case Global(name=name):
                return False

    def is_plain(self, call: Call) -> bool:
        """Whether the call can be left as it is: nothing active goes in or comes out."""
        callee = self.callee(call)
        if callee in FLAT:
            return True
        if callee in PURE or callee in COUNTERS:
            return all(map(self.is_inactive, call.operands)) and not call.keywords
        return False

    def result_inactive(self, call: Call) -> bool:
        """Whether the result of a call carries no derivative whatever goes in."""
        callee = self.callee(call)
        if callee is None or not _hashable(callee):
            return False
        if callee in FLAT or callee in RESULT_INACTIVE or callee in COUNTERS:
            return True
        if callee in RESULT_INACTIVE_BUILTINS:
            return True
        return callee in PURE and all(map(self.is_inactive, call.operands)) and not call.keywords

    def hands_on(self, call: Call) -> bool:
        """Whether an operand may get a cotangent although the result has none."""
        callee = self.callee(call)
        return callee is not None and _hashable(callee) and callee in HANDS_ON

    def _solve(self, function: Function) -> set[str]:
        """Start from "all inactive" and take out what some assignment makes active, until nothing
        changes."""
        definitions: list[tuple[str, Callable[[], bool]]] = []
        names = set()

        def define(target: Var | None, inactive: Callable[[], bool]) -> None:
            if target is not None:
                names.add(target.name)
                definitions.append((target.name, inactive))

        for op in walk(function.body):
            match op:
                case Call(target=target):
                    define(target, lambda op=op: self.result_inactive(op))  # type: ignore[misc]
                case Assign(target=target, source=source):
                    define(target, lambda source=source: self.is_inactive(source))  # type: ignore[misc]
                case Unpack(targets=targets):
                    for target in targets:
                        define(target, lambda: False)
                case For(target=target, iterable=iterable):
                    define(target, lambda iterable=iterable: self.is_inactive(iterable))  # type: ignore[misc]
                case Try(caught=caught):
                    define(caught, lambda: False)
                case Yield(target=target):
                    define(target, lambda: False)
        self._inactive = names - {parameter.name for parameter in function.parameters}
        self._inactive -= {var.name for _, var in function.free}
        changed = True
        while changed:
            changed = False
            for name, inactive in definitions:
                if name in self._inactive and not inactive():
                    self._inactive.discard(name)
                    changed = True
        return self._inactive


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True
