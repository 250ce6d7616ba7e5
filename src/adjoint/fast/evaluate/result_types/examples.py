"""Result types of functions without a record, found by running the functions on examples.

The lengths of the results in three runs, with other lengths of the operands in each, tell which
symbols they are; the program checks them, since other lengths may give other results.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from adjoint.fast.evaluate.result_types.inference import sizes_in
from adjoint.fast.evaluate.result_types.lengths import (
    UNKNOWN,
    Derived,
    Length,
    bases,
    length_at,
    settled,
)
from adjoint.fast.evaluate.result_types.ones import Constant, name_of, run
from adjoint.fast.evaluate.types import (
    Array,
    Number,
    Symbol,
    Type,
    has_complex,
    is_complex,
    type_of,
)
from adjoint.fast.not_covered import NotCovered
from adjoint.runtime.dispatch.observed_results import is_alias

_LENGTHS = ((3, 7, 5, 11), (5, 3, 11, 7), (9, 10, 12, 14))
_LARGE = 100
"""Integers below may be places along an axis, which the lengths of examples must exceed."""


class TypeAndAlias(NamedTuple):
    """The type of a result, and whether it may be an alias of an operand."""

    type: Number | Array
    is_alias: bool


def type_on_examples(
    f: Any,
    operands: Sequence[Any],
    keywords: Mapping[str, Any],
    derived: Callable[..., Symbol],
) -> TypeAndAlias:
    """Return the type of ``f(*operands, **keywords)``, inferred from three runs; `derived` returns
    the symbol of a length that follows from others, see `Draft.derived`."""
    found = runs_on_examples(f, operands, keywords)
    if isinstance(found[0].y, tuple):
        raise NotCovered(f"{name_of(f)} returns several things")
    t = joined_type(f, [(one.y, one.symbols) for one in found], derived)
    return TypeAndAlias(t, any(one.is_alias for one in found))


class Run(NamedTuple):
    """The result of a function for an example, its operands, the symbols by length, and whether the
    result may be an alias of an operand, or a part of it one of another part."""

    y: Any
    args: list[Any]
    kwargs: dict[str, Any]
    symbols: dict[int, Symbol]
    is_alias: bool


def runs_on_examples(f: Any, operands: Sequence[Any], keywords: Mapping[str, Any]) -> list[Run]:
    """Run a function on three examples of its operands."""
    symbols = sizes_in((*operands, *keywords.values()))
    known = [t.value for t in (*operands, *keywords.values()) if isinstance(t, Constant)]
    places = [abs(n) for n in known if type(n) is int and abs(n) < _LARGE]
    lengths = _lengths_of(symbols, max(places, default=0))
    if lengths is None:
        raise NotCovered(f"too many dimensions in a call of {name_of(f)}")
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a warning may be due to the made-up sizes only
        for seed, at in enumerate(lengths):
            rng = np.random.default_rng(seed)
            args = [_example(t, at, rng) for t in operands]
            kwargs = {k: _example(t, at, rng) for k, t in keywords.items()}
            y = run(f, args, kwargs, is_made_up=bool(symbols))
            shared = is_alias(y, [*args, *kwargs.values()])
            found.append(Run(y, args, kwargs, {n: s for s, n in at.items()}, shared))
    return found


def _lengths_of(symbols: Sequence[Symbol], above: int) -> list[dict[Symbol, int]] | None:
    """Return values of lengths for each run, all `above` a number, which agree with the expressions
    that they follow from, unless one were 0; ``None`` if there are too many."""
    made_up = [tuple(n + above for n in lengths) for lengths in _LENGTHS]
    own = [*dict.fromkeys(base for symbol in symbols for base in bases(symbol))]
    if len(own) <= len(_LENGTHS[0]):
        found = [dict(zip(own, lengths, strict=False)) for lengths in made_up]
        for at in found:
            at |= {symbol: length_at(symbol, at) for symbol in symbols}
        if all(n > 0 for at in found for n in at.values()):
            return found
    if len(symbols) > len(_LENGTHS[0]):
        return None
    return [dict(zip(symbols, lengths, strict=False)) for lengths in made_up]


def joined_type(
    f: Any, seen: Sequence[tuple[Any, Mapping[int, Symbol]]], derived: Callable[..., Symbol]
) -> Number | Array:
    """Return the type of results of several runs, each with the symbols by length."""
    found = [_type(f, y) for y, _ in seen]
    shapes = [[(n, symbols) for n in np.shape(y)] for y, symbols in seen]
    first = found[0]
    if isinstance(first, Number) and all(t == first for t in found):
        return first
    if not all(isinstance(t, Array) and len(t.shape) == len(shapes[0]) for t in found):
        raise NotCovered(f"{name_of(f)} returns one thing or another")
    lengths = tuple(settled(n, derived) for n in map(_length, *shapes))
    return Array(first.dtype, lengths)  # type: ignore[union-attr]


def _type(f: Any, y: Any) -> Type:
    found = type_of(y)
    if found is None:
        raise NotCovered(f"{name_of(f)} returns a {type(y).__name__}")
    return found


def _length(*seen: tuple[int, Mapping[int, Symbol]]) -> Length:
    """Return the length that was seen in each run: a symbol, the number of pairs of one, or
    itself."""
    lengths: tuple[int, ...]
    symbols: tuple[Mapping[int, Symbol], ...]
    lengths, symbols = zip(*seen, strict=True)
    if len({*lengths}) == 1:
        return lengths[0]
    for length in symbols[0].values():
        at = [{symbol: n for n, symbol in of_run.items()}.get(length, 0) for of_run in symbols]
        if [*lengths] == at:
            return length
        if [*lengths] == [n * (n - 1) // 2 for n in at]:
            return Derived(("pairs", length))
    return UNKNOWN


def _example(t: Any, at: Mapping[Any, int], rng: np.random.Generator) -> Any:
    if isinstance(t, Constant):
        return t.value
    if isinstance(t, tuple):
        return [_example(part, at, rng) for part in t]
    if isinstance(t, Array):
        shape = [at[d] if isinstance(d, Symbol) else d for d in t.shape]
        made = 0.1 + 0.8 * rng.random(shape)
        if made.ndim > 1 and shape[-1] == shape[-2]:  # some functions require positive definite
            made = made @ np.swapaxes(made, -1, -2) + np.eye(shape[-1])
        return made.astype(t.dtype)
    if isinstance(t, Number):
        (kind,) = t.kinds if len(t.kinds) == 1 else (_general(t),)
        return kind(0.4)
    raise NotCovered("an operand is neither a number nor an array")


def _general(t: Number) -> type:
    """Return one class to represent a number of several classes."""
    if has_complex(t) and not is_complex(t):
        raise NotCovered("a number that is real or complex, as an operand of a function")
    return complex if has_complex(t) else float
