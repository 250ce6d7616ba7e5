"""Rules of `pint`: registry lookups by text, comparisons and hashes of units are constants."""

from __future__ import annotations

from types import FunctionType
from typing import Any

from adjoint.primal.special_methods import class_attribute
from adjoint.rulekit.loading import registering
from adjoint.rulekit.registry import non_differentiable, primitive
from adjoint.runtime.foreign.entry_monitor import vouch_for

_READING = (
    "__getattr__ _get_symbol _parse_units_as_container get_name get_symbol parse_unit_name"
    " parse_units parse_units_as_container"
).split()
"""Methods of registries that return names, units, or the parts of a unit."""

_TELLING = "__eq__ __ne__".split()
"""Comparisons of units; another operand with an ``__eq__`` of its own runs that one."""

_NUMBERS_AND_TEXT = frozenset({str, int, float})

_TEXT = frozenset({str, bool, type(None)})


def _runs_with_text(f: Any) -> None:
    @primitive(f)
    def run(record: list[Any], slot: int, registry: Any, /, *args: Any, **kwargs: Any) -> Any:
        if _TEXT.issuperset(map(type, (*args, *kwargs.values()))):
            return f(registry, *args, **kwargs)
        return NotImplemented


def _tells(f: Any, own: frozenset[Any]) -> None:
    @primitive(f)
    def run(record: list[Any], slot: int, unit: Any, other: Any, /) -> Any:
        kind = type(other)
        if kind in _NUMBERS_AND_TEXT or class_attribute(kind, "__eq__") in own:
            return f(unit, other)
        return NotImplemented


@registering("pint")
def _(pint: Any) -> None:
    for kind in pint.UnitRegistry.__mro__:
        for name in _READING:
            if type(f := vars(kind).get(name)) is FunctionType:
                _runs_with_text(f)
    containers = pint.util.UnitsContainer, pint.util.ParserHelper
    kinds = *containers, *pint.Unit.__mro__
    equals = [f for kind in kinds if type(f := vars(kind).get("__eq__")) is FunctionType]
    for kind in kinds:
        if type(f := vars(kind).get("__hash__")) is FunctionType:  # it caches the hash
            non_differentiable(f)
            vouch_for(f.__code__)
        for name in _TELLING:
            if type(f := vars(kind).get(name)) is FunctionType:
                _tells(f, frozenset(equals))
                if kind in containers:  # used as keys
                    vouch_for(f.__code__)
