"""Of which cotangents of a tuple's items the cotangents that a program gives are made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint.fast.single.walk import blocks, operands, results, walk
from adjoint.ir.single import Operand, Value

if TYPE_CHECKING:
    from adjoint.fast.program import Program

__all__ = ["needs", "without"]


def needs(program: Program) -> tuple[tuple[int, ...], ...]:
    """For each cotangent that a program gives, the items of which the cotangents may be in it."""
    found: dict[Operand, set[int]] = {
        y_bar: {i} for i, y_bar in enumerate(program.y_bars) if y_bar is not None
    }
    for op in program.reverse.ops:
        read = [*operands(op)]
        for block in blocks(op):
            read += [*(x for one in walk(block) for x in operands(one)), *(block.results or ())]
        values = [x for x in read if isinstance(x, Value)]
        come = set[int]().union(*(found.get(x, ()) for x in values))
        # Without a result, it writes to one of them; what is inside it may, too.
        written = (*results(op), *(values if blocks(op) or not results(op) else ()))
        for x in written:
            found[x] = come | found.get(x, set())
    return tuple(tuple(sorted(found.get(x, ()))) for x in program.reverse.results or ())


def without(
    bars: tuple[Any, ...], y_bar: Sequence[Any], needed: tuple[tuple[int, ...], ...]
) -> tuple[Any, ...] | None:
    """The cotangents, ``None`` for zeros made of those of items that have none; ``None`` for all of
    them if one is a zero and only some of the items have one: either may lead there."""
    found: list[Any] = []
    for bar, of in zip(bars, needed, strict=True):
        lacking = [y_bar[i] is None for i in of]
        if bar is not None and any(lacking) and _has_zeros(bar):
            if not all(lacking) or any(map(np.any, _numbers(bar))):
                return None
            bar = None
        found.append(bar)
    return tuple(found)


def _has_zeros(bar: Any) -> bool:
    """Whether a cotangent is zero, or that of a number in a list."""
    return any(not np.any(x) for x in _numbers(bar))


def _numbers(bar: Any) -> list[Any]:
    """A cotangent, or those of the numbers in a list."""
    return [x for x in bar if x is not None] if type(bar) is list else [bar]
