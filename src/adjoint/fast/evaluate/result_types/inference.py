"""Result types of calls: shapes by `records`, classes and dtypes by calls on numbers or ones."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from typing import Any

from adjoint.fast.evaluate.result_types.inferable_functions import most_operands, record_of
from adjoint.fast.evaluate.result_types.lengths import settled
from adjoint.fast.evaluate.result_types.of_numbers import type_of_numbers
from adjoint.fast.evaluate.result_types.ones import Constant, name_of, type_on_ones
from adjoint.fast.evaluate.result_types.records import Record, Several, dims, dtype_of
from adjoint.fast.evaluate.types import (
    INTEGERS_OR_FLOATS,
    Array,
    IntegersOrFloats,
    Number,
    Symbol,
    join,
    number,
)
from adjoint.fast.not_covered import NotCovered, UnknownSizes


def result_type(
    f: Callable[..., Any],
    operands: Sequence[Any],
    keywords: Mapping[str, Any],
    derived: Callable[..., Symbol],
) -> Number | Array | Several:
    """Return the type of ``f(*operands, **keywords)``.

    Parameters
    ----------
    operands, keywords
        Types of values; a `Constant` for a known one, a `Symbol` for a length, a tuple for a list.
    derived
        Returns the symbol of a length that follows from others, see `Draft.derived`.

    Raises
    ------
    NotCovered
        The type depends on more than the types of the operands, or `f` is not covered.
    """
    record = record_of(f)
    if record is None:
        raise NotCovered(f"{name_of(f)} has no known result type")
    most = most_operands(f)
    if len(operands) > most and getattr(operands[most], "value", f) is not None:
        raise NotCovered(f"{name_of(f)} with an array to write to")
    for name, t in keywords.items():
        if name.startswith("overwrite") and getattr(t, "value", True):
            raise NotCovered(f"{name_of(f)} with an array to write to")
    kinds = {*map(type, operands)}
    if record.of_numbers and not keywords and kinds <= _NUMBERS:
        known = type_of_numbers(f, operands)
        if known is not None:
            return known
    if kinds.isdisjoint(_WITH_ALTERNATIVES) or not any(map(_has_alternatives, operands)):
        return _recorded(f, record, operands, keywords, derived)  # type: ignore[no-any-return]
    inside = record.arrays == 0
    found = {
        _recorded(f, record, one, keywords, derived)
        for one in itertools.product(*(_alternatives(t, inside) for t in operands))
    }
    if len(found) == 1:
        return found.pop()  # type: ignore[no-any-return]
    if all(isinstance(t, Number) for t in found):  # beside a length
        return Number(frozenset().union(*(t.kinds for t in found)))
    if any(isinstance(t, IntegersOrFloats) for t in operands):
        joined: Any = reduce(lambda a, b: a and join(a, b), found)
        if joined is not None:
            return joined  # type: ignore[no-any-return]
    raise NotCovered(f"{name_of(f)} of numbers of several classes beside an array")


_NUMBERS = frozenset({Number, Constant, Symbol})
_WITH_ALTERNATIVES = frozenset({Number, IntegersOrFloats, tuple})


def _has_alternatives(t: Any) -> bool:
    """Return whether a type may have several classes or dtypes."""
    return len(t.kinds) > 1 if type(t) is Number else type(t) in _WITH_ALTERNATIVES


def _alternatives(t: Any, inside: bool) -> list[Any]:
    """Return a type with several classes or dtypes as one type for each; `inside`: also that of a
    list, whose items are no elements of an array."""
    if isinstance(t, tuple) and inside:
        return [*itertools.product(*(_alternatives(part, inside) for part in t))]
    if isinstance(t, Number) and len(t.kinds) > 1:
        return [number(kind) for kind in t.kinds]
    if isinstance(t, IntegersOrFloats):
        return [Array(dtype, t.shape) for dtype in INTEGERS_OR_FLOATS]
    return [t]


def _recorded(
    f: Any,
    record: Record,
    operands: Sequence[Any],
    keywords: Mapping[str, Any],
    derived: Callable[..., Symbol],
) -> Any:
    """Return the type of a result by the record of `f`."""
    named = {k: _given(t) for k, t in keywords.items()} if keywords else {}
    try:
        found = record.result(*map(_given, operands), **named)
    except (TypeError, ValueError, LookupError) as error:
        if isinstance(error, ValueError) and sizes_in((*operands, *keywords.values())):
            raise UnknownSizes(name_of(f), getattr(error, "pair", None)) from None
        raise NotCovered(f"{name_of(f)} does not take such operands: {error}") from None
    if isinstance(found, Number):
        return found
    if isinstance(found, Several):
        types = (
            t if isinstance(t, Number) else Array(t.dtype, settled(t.shape, derived))
            for t in found.types
        )
        return found._replace(types=tuple(types))
    if isinstance(found, Array):
        return Array(found.dtype, settled(found.shape, derived))
    flat = [*map(_flat, operands[: record.arrays]), *operands[record.arrays :]]
    if keywords:
        names = record.result.__code__.co_varnames[: record.arrays]
        keywords = {k: _flat(t) if k in names else t for k, t in keywords.items()}
    of_ones = type_on_ones(f, flat, keywords)
    if isinstance(of_ones, Array):
        assert len(of_ones.shape) == len(found), (f, found, of_ones)
        return Array(of_ones.dtype, settled(found, derived))
    assert found == (), (f, found, of_ones)
    return of_ones


def _given(t: Any) -> Any:
    """Return an operand as records take it."""
    if type(t) is Array:
        return t
    if isinstance(t, Constant):
        return t.value
    return tuple(map(_given, t)) if isinstance(t, tuple) else t


def _flat(t: Any) -> Any:
    """Return the type of a list as that of an array with lengths of 1."""
    if type(t) is Array:
        return t
    whole = _given(t)
    if isinstance(whole, tuple | list):
        return Array(dtype_of(whole), (1,) * len(dims(whole)))
    return t


def sizes_in(operands: Iterable[Any]) -> list[Symbol]:
    """Return the symbolic dimensions in the types of operands."""
    symbols: dict[Symbol, None] = {}
    for t in operands:
        if isinstance(t, tuple | Array):
            symbols |= dict.fromkeys(sizes_in(t if isinstance(t, tuple) else t.shape))
        elif isinstance(t, Symbol):
            symbols[t] = None
    return list(symbols)
