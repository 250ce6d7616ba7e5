"""Rules of cumulative distribution functions, complements and inverses, from the slopes of F."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from adjoint.rulekit.families import NoDerivative, elementwise

Slope: TypeAlias = Callable[..., Any] | NoDerivative | None


def cumulative(
    *slopes: Slope,
    cdf: Any = None,
    sf: Any = None,
    ppf: Mapping[int, Any] | None = None,
    isf: Mapping[int, Any] | None = None,
) -> None:
    """Register a distribution function F, its complement and its inverses.

    Parameters
    ----------
    *slopes
        The derivative of F in each operand, as a function of all; ``None`` where it is zero.
    cdf, sf
        F and 1 − F; ``None`` where SciPy has none.
    ppf, isf
        Maps an operand's index to the function that solves F(…) = p, or 1 − F(…) = p, for it and
        takes p in its place.
    """
    functions = [(cdf, slopes), (sf, complement(slopes))]
    functions += [(f, inverse(slopes, place)) for place, f in (ppf or {}).items()]
    functions += [(f, inverse(complement(slopes), place)) for place, f in (isf or {}).items()]
    for f, partials in functions:
        if f is not None:
            elementwise(f, *partials, singular=True)


def complement(slopes: tuple[Slope, ...]) -> tuple[Slope, ...]:
    """Return the slopes of 1 − F."""

    def negative(slope: Callable[..., Any]) -> Slope:
        return lambda *operands: -slope(*operands)

    return tuple([negative(slope) if callable(slope) else slope for slope in slopes])


def inverse(slopes: tuple[Slope, ...], place: int) -> tuple[Slope, ...]:
    """Return the slopes of the function that solves for the operand at `place`."""
    divisor: Any = slopes[place]
    if isinstance(divisor, NoDerivative):
        return (NoDerivative("any argument", divisor.why),) * len(slopes)

    def solved(i: int, slope: Callable[..., Any]) -> Slope:
        def partial(y: Any, *operands: Any) -> Any:
            at = (*operands[:place], y, *operands[place + 1 :])
            if i == place:
                return 1 / divisor(*at)
            moved = slope(*at)
            return np.where(np.equal(moved, 0), 0, -moved / divisor(*at))[()]

        return partial

    return tuple([solved(i, slope) if callable(slope) else slope for i, slope in enumerate(slopes)])
