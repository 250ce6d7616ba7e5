"""Lengths of dimensions that follow from other lengths, as expressions.

Equal expressions have equal keys, for which `Draft.derived` returns the same symbol.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from math import gcd
from typing import Any, TypeAlias

from adjoint.fast.evaluate.types import Symbol
from adjoint.ir.node import node
from adjoint.ir.single import Value

UNIT = "unit slice"
"""Key of the length of ``k : k + 1``, which is 1 where it has to fit others."""


@node
class Derived:
    """A length that follows from others by the expression `key`; a length of its own if `key` is
    empty."""

    key: tuple[Any, ...] = ()


class Misfit(ValueError):
    """Two lengths that have to be equal, and are not known to be."""

    def __init__(self, first: Length, second: Length) -> None:
        super().__init__("arrays of lengths that do not fit")
        self.pair = first, second


Length: TypeAlias = "int | Symbol | Derived"
Shape: TypeAlias = tuple[Length, ...]
UNKNOWN = Derived()


def total(lengths: Iterable[Length]) -> Length:
    """Return the sum of lengths."""
    known = 0
    others: list[Any] = []
    for length in lengths:
        if isinstance(length, int):
            known += length
        elif length == UNKNOWN:
            return UNKNOWN
        elif length.key[:1] == ("sum",):
            known += length.key[1]
            others += length.key[2:]
        else:
            others.append(length)
    if not others:
        return known
    if known == 0 and len(others) == 1:
        return others[0]  # type: ignore[no-any-return]
    return Derived(("sum", known, *sorted(others, key=str)))


def less(length: Length, by: Length) -> Length:
    """Return the length of what is left after `by` elements are cut off."""
    if isinstance(length, int) and isinstance(by, int):
        return max(length - by, 0)
    if by == 0:
        return length
    if UNKNOWN in (length, by):
        return UNKNOWN
    key = () if isinstance(length, int) else length.key
    if key[:1] == ("less",) and isinstance(by, int) and isinstance(key[2], int):
        return Derived(("less", key[1], key[2] + by))
    return Derived(("less", length, by))


def smaller(m: Length, n: Length) -> Length:
    """Return the smaller one of two lengths."""
    if isinstance(m, int) and isinstance(n, int):
        return min(m, n)
    for one, other in ((m, n), (n, m)):
        if one == other or (not isinstance(one, int) and other in _bounds(one)):
            return one
    return UNKNOWN if UNKNOWN in (m, n) else Derived(("smaller", *sorted((m, n), key=str)))


def _bounds(length: Symbol | Derived) -> tuple[Length, ...]:
    """Return the lengths of which `length` is the smallest one."""
    return length.key[1:] if length.key[:1] == ("smaller",) else ()


def product(lengths: Iterable[Length], by: Iterable[Length] = ()) -> Length:
    """Return the product of `lengths`, divided by that of `by`; the program has to raise where
    this leaves a remainder.

    Raises
    ------
    ValueError
        Known lengths leave a remainder, or would be divided by zero.
    """
    lengths, by = [n for n in lengths if n != 1], [*by]
    if len(lengths) == 1 and not by:
        return lengths[0]
    if UNKNOWN in (*lengths, *by):
        return UNKNOWN
    above, below, factors = _factors(lengths)
    if by:
        of_below, of_above, divisors = _factors(by)
        above, below = above * of_above, below * of_below
        for factor, power in divisors.items():
            factors[factor] = factors.get(factor, 0) - power
    if below == 0:
        raise ValueError("a division by zero")
    above, below = above // gcd(above, below), below // gcd(above, below)
    powers = {length: power for length, power in factors.items() if power}
    if above == 0:
        return 0
    if not powers:
        if below != 1:
            raise ValueError("a length that is not whole")
        return above
    if (above, below) == (1, 1) and [*powers.values()] == [1]:
        (only,) = powers
        return only  # type: ignore[no-any-return]
    pairs = sorted(powers.items(), key=lambda pair: str(pair[0]))
    return Derived(("product", above, below, *pairs))


def _factors(lengths: Iterable[Length]) -> tuple[int, int, dict[Any, int]]:
    """Return a product of lengths as a fraction of integers, and powers of other lengths."""
    above, below = 1, 1
    powers: dict[Any, int] = {}
    for length in lengths:
        if isinstance(length, int):
            above *= length
        elif length.key[:1] == ("product",):
            above, below = above * length.key[1], below * length.key[2]
            for factor, power in length.key[3:]:
                powers[factor] = powers.get(factor, 0) + power
        else:
            powers[length] = powers.get(length, 0) + 1
    return above, below, powers


def settled(part: Any, derived: Callable[..., Symbol]) -> Any:
    """Replace each `Derived` in a length or a key by a symbol."""
    if isinstance(part, tuple):
        if Derived not in map(type, part) and tuple not in map(type, part):
            return part
        return tuple(settled(one, derived) for one in part)
    if not isinstance(part, Derived):
        return part
    if not part.key:
        return fresh_length()
    return derived(*settled(part.key, derived))


def bases(length: Symbol) -> Iterator[Symbol]:
    """Yield the lengths that `length_at` needs: itself, if its expression is not one of those."""
    if length.key[:1] in _EVALUATED and all(
        isinstance(x, str | int | Symbol) for x in leaves_of(length.key)
    ):
        for part in symbols_in(length.key):
            yield from bases(part)
    else:
        yield length


_EVALUATED = (("sum",), ("less",), ("minus",), ("product",), ("pairs",))


def length_at(length: Length | int, at: Mapping[Symbol, int]) -> int:
    """Return the value of a length whose `bases` have the values `at`."""
    if not isinstance(length, Symbol | Derived):
        return length
    if length in at:
        return at[length]  # type: ignore[index]
    kind, *parts = length.key
    if kind == "product":
        above, below, *powers = parts
        factors = [(length_at(factor, at), power) for factor, power in powers]
        above *= math.prod(n**power for n, power in factors if power > 0)
        below *= math.prod(n**-power for n, power in factors if power < 0)
        return int(above // below)
    values = [length_at(part, at) for part in parts]
    if kind == "pairs":
        return values[0] * (values[0] - 1) // 2
    return sum(values) if kind == "sum" else max(values[0] - values[1], 0)


def fresh_length() -> Symbol:
    """Return the symbol of a length that follows from nothing known."""
    return Symbol(f"n{next(_numbers)}", is_argument=False)


_numbers = itertools.count()


def leaves_of(key: Any) -> Iterator[Any]:
    """Yield the parts of a key that are no tuples."""
    for part in key:
        if isinstance(part, tuple):
            yield from leaves_of(part)
        else:
            yield part


def symbols_in(key: Any) -> Iterator[Symbol]:
    """Yield the symbols in a key."""
    return (part for part in leaves_of(key) if isinstance(part, Symbol))


def values_in(key: Any) -> Iterator[Value]:
    """Yield the values of the program in a key, and in those of its symbols."""
    for part in leaves_of(key):
        if isinstance(part, Value):
            yield part
        elif isinstance(part, Symbol):
            yield from values_in(part.key)
