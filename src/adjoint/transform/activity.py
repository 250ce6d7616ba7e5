"""Activity analysis: find variables that are constant whatever the arguments are.

The analysis works on the named IR and ignores control flow: a variable is inactive if every value
assigned to it is. It assumes nothing about types, so it proves little: constants, counters over
``range`` and their arithmetic. The forward function runs inactive operations as plain Python; the
activity of all others is decided at run time.
"""

from __future__ import annotations

import builtins
import operator
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
    Try,
    Unpack,
    Var,
    Yield,
)
from adjoint.ir.walk import targets, walk
from adjoint.primal.compiled_functions import is_closed_and_compiled

PURE: frozenset[Any] = frozenset(
    [
        *(operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv),
        *(operator.mod, operator.pow, operator.neg, operator.pos, operator.invert),
        *(operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift),
        *(operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne),
        *(operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ifloordiv),
        *(operator.imod, operator.ipow, operator.not_, operator.truth),
        *(operator.is_, operator.is_not, primitives.build_slice, primitives.format_value),
        *(primitives.build_string, primitives.current_globals),
    ]
)
"""Functions without effect and without derivative on inactive operands. Inactive operands are
immutable, since containers are active."""

FLAT: frozenset[Any] = frozenset(
    {operator.is_, operator.is_not, primitives.current_globals, primitives.build_string}
)
"""Functions without effect and without derivative on any operands."""

RESULT_INACTIVE: frozenset[Any] = frozenset(
    {
        operator.not_,
        operator.truth,
        operator.contains,
        primitives.format_value,
        primitives.exception_match,
        primitives.import_module,
        primitives.match_sequence,
        primitives.match_mapping,
    }
)
"""Functions whose result is a bool, a string or a module; they may still call user code."""

PASSES_OPERAND: frozenset[Any] = frozenset({operator.contains, isinstance, issubclass})
"""Functions that pass one operand to user code of another, which may store it."""

COUNTERS: frozenset[Any] = frozenset({range})
RESULT_INACTIVE_BUILTINS: frozenset[Any] = frozenset(
    [
        *(len, isinstance, issubclass, callable, hasattr, id, hash, ord, chr, str, repr, ascii),
        *(bool, bin, hex, oct, type),
    ]
)
_RESULT_INACTIVE = FLAT | RESULT_INACTIVE | COUNTERS | RESULT_INACTIVE_BUILTINS


def known_global(namespace: dict[str, Any], name: str) -> Any:
    """Return the function, class or module that a global name is bound to, else ``None``."""
    value = namespace.get(name, _ABSENT)
    if value is _ABSENT:
        value = getattr(builtins, name, None)
    return value if isinstance(value, _KNOWN_KINDS) else None


_ABSENT = object()
_KNOWN_KINDS = (FunctionType, BuiltinFunctionType, ModuleType, type)


class Activity:
    """The inactive variables of one function.

    Attributes
    ----------
    namespace
        The globals of the function.
    guards
        The globals that the result relies on, by name: rebinding one of them makes the function be
        lowered again.
    """

    def __init__(self, function: Function, namespace: dict[str, Any]) -> None:
        self.namespace = namespace
        self.guards: dict[str, Any] = {}
        self._inactive = self._solve(function)

    def known_global(self, name: str) -> Any:
        """Return the function, class or module that a global name is bound to, else ``None``."""
        return known_global(self.namespace, name)

    def callee(self, call: Call) -> Any:
        """Return the callee if it is known at lowering, else ``None``; add a guard for a global."""
        callee = call.callee
        if type(callee) is Const:
            return callee.value
        if type(callee) is Global:
            value = self.namespace.get(callee.name)
            if is_closed_and_compiled(value):
                self.guards[callee.name] = value
                return value
            value = self.known_global(callee.name)
            if value is not None and (value in COUNTERS or value in RESULT_INACTIVE_BUILTINS):
                self.guards[callee.name] = value
                return value
        return None

    def is_inactive(self, operand: Operand) -> bool:
        """Return whether the operand carries no derivative and holds nothing that does."""
        if type(operand) is Var:
            return operand.name in self._inactive
        return type(operand) is not Global

    def runs_as_python(self, call: Call) -> bool:
        """Return whether the call can run as plain Python: no operand and no result is active."""
        callee = self.callee(call)
        if callee in FLAT:
            return True
        if callee in PURE or callee in COUNTERS or is_closed_and_compiled(callee):
            return all(map(self.is_inactive, call.operands)) and not call.keywords
        return False

    def result_inactive(self, call: Call) -> bool:
        """Return whether the result is inactive whatever the run-time values are."""
        sources = self._sources(call)
        return sources is not None and all(map(self.is_inactive, sources))

    def passes_operand(self, call: Call) -> bool:
        """Return whether an operand may get a cotangent although the result has none."""
        callee = self.callee(call)
        return callee is not None and _hashable(callee) and callee in PASSES_OPERAND

    def _solve(self, function: Function) -> set[str]:
        """Start from "all inactive" and remove variables that an assignment makes active, to a
        fixpoint."""
        names = set()
        active = {parameter.name for parameter in function.parameters}
        active.update([var.name for _, var in function.free])
        sources: list[tuple[str, tuple[Operand, ...]]] = []  # of variables that may be inactive
        for op in walk(function.body):
            match op:
                case Call(target=Var(name=name)):
                    names.add(name)
                    given = self._sources(op)
                    if given is None:
                        active.add(name)
                    elif given:
                        sources.append((name, given))
                case Assign(target=target, source=source) | For(target=target, iterable=source):
                    names.add(target.name)
                    sources.append((target.name, (source,)))
                case Unpack() | Try() | Yield():
                    bound = [target.name for target in targets(op)]
                    names.update(bound)
                    active.update(bound)
        self._inactive = names - active
        changed = True
        while changed:
            changed = False
            for name, given in sources:
                if name in self._inactive and not all(map(self.is_inactive, given)):
                    self._inactive.discard(name)
                    changed = True
        return self._inactive

    def _sources(self, call: Call) -> tuple[Operand, ...] | None:
        """Return the operands whose inactivity makes the result inactive; ``None``: it never is."""
        callee = self.callee(call)
        if callee is None or not _hashable(callee):
            return None
        if callee is type and (len(call.operands) != 1 or call.keywords):
            return None  # three arguments make a class, which holds its operands
        if callee in _RESULT_INACTIVE:
            return ()
        is_pure = callee in PURE or is_closed_and_compiled(callee)
        return call.operands if is_pure and not call.keywords else None


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True
