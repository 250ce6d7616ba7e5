"""`pint`: what a registry reads from text alone carries no derivative, and runs as it is; so do
comparisons and hashes of units."""

from __future__ import annotations

from types import FunctionType
from typing import Any

from adjoint.rules.loading import registering
from adjoint.rules.registry import non_differentiable, primitive
from adjoint.run.watch import vouch_for

_READING = (
    "__getattr__ _get_symbol _parse_units_as_container get_name get_symbol parse_unit_name"
    " parse_units parse_units_as_container"
).split()
"""Methods of registries that give names, units, and which units others are made of."""

_TELLING = "__eq__ __ne__ __hash__".split()
"""Methods of units that give truths, and a hash, which they keep."""

_TEXT = frozenset({str, bool, type(None)})


def _runs_with_text(f: Any) -> None:
    @primitive(f)
    def run(record: list[Any], slot: int, registry: Any, /, *args: Any, **kwargs: Any) -> Any:
        if _TEXT.issuperset(map(type, (*args, *kwargs.values()))):
            return f(registry, *args, **kwargs)
        return NotImplemented


@registering("pint")
def _(pint: Any) -> None:
    for kind in pint.UnitRegistry.__mro__:
        for name in _READING:
            if type(f := vars(kind).get(name)) is FunctionType:
                _runs_with_text(f)
    for kind in (pint.util.UnitsContainer, pint.util.ParserHelper, *pint.Unit.__mro__):
        for name in _TELLING:
            if type(f := vars(kind).get(name)) is FunctionType:
                non_differentiable(f)
                vouch_for(f.__code__)
