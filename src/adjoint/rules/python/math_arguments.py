"""Arguments of `math`: numbers, and objects with ``__float__``, whose code is differentiated."""

from __future__ import annotations

import math
from types import FunctionType
from typing import Any

import numpy as np

from adjoint.primal.childless_types import CHILDLESS_TYPES
from adjoint.primal.memo_by_class import ByClass
from adjoint.primal.special_methods import special_of
from adjoint.rulekit.registry import primitive
from adjoint.runtime.dispatch.linked import linked
from adjoint.runtime.dispatch.source_call import call_function


def real(x: Any) -> Any:
    """Return the float that C converts `x` to."""
    kind = type(x)
    if not (hasattr(kind, "__float__") or hasattr(kind, "__index__")):
        raise TypeError(f"must be real number, not {type(x).__name__}")
    return float(x)


def real_part(x: Any) -> Any:
    """Return the real part of a number or of its tangent, which is all that `math` reads."""
    return x.real if isinstance(x, complex | np.ndarray) else x


def _has_float_method(kind: type) -> bool:
    return not issubclass(kind, float) and type(special_of(kind, "__float__")) is FunctionType


_asks_for_a_float = ByClass(_has_float_method)


def _converts_by_float(f: Any, operands: int, names: frozenset[str]) -> None:
    """Register a rule of `f` that calls ``__float__`` of its `operands` operands before C would."""

    @primitive(f)
    def run(record: list[Any], slot: int, /, *args: Any, **options: Any) -> Any:
        if (
            CHILDLESS_TYPES.issuperset(map(type, args))
            or len(args) != operands
            or not options.keys() <= names
        ):
            return NotImplemented
        if not any(map(_asks_for_a_float, map(type, args))):
            return NotImplemented
        given = (f, *args)
        return linked(record, slot, _arrange, call_function, _with_floats, given, options)


def _arrange(bars: tuple[Any, ...]) -> tuple[Any, ...]:
    return (None, *bars[2:])


def _with_floats(f, /, *args, **options):
    return f(*[real(x) for x in args], **options)


for _truth in ("isfinite", "isinf", "isnan"):
    _converts_by_float(getattr(math, _truth), 1, frozenset())
_converts_by_float(math.isclose, 2, frozenset({"abs_tol", "rel_tol"}))
