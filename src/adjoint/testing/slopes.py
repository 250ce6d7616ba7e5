"""The slope of a function of one number, and whether differences agree on it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

SETTLED = 1e-3
"""How far the slopes of one attempt may disagree, relative to the slope."""
DOUBTS = 10.0
"""By how many times their own disagreement the slopes may be wrong."""


@dataclass(frozen=True, slots=True)
class Slope:
    """The slope of ⟨y_bar, f⟩ along a direction, how far it is in doubt, and what its errors are
    relative to."""

    value: float
    doubt: float
    scale: float

    @property
    def is_settled(self) -> bool:
        """Whether the differences agree."""
        return self.doubt <= SETTLED * self.scale

    def is_far_from(self, found: float, rtol: float, scale: float) -> bool:
        """Whether `found` is another slope."""
        size = max(self.scale, scale, abs(found) if math.isfinite(found) else 0.0)
        return not abs(found - self.value) <= rtol * size + DOUBTS * self.doubt


def slope_of(along: Callable[[float], float], step: float, noise: float) -> Slope | None:
    """The slope of a function at 0; ``None`` where its values are not finite."""
    at = {k: along(k * step) for k in (-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0)}
    if not all(map(math.isfinite, at.values())):
        return None
    half, one, two = (at[k] - at[-k] for k in (0.5, 1.0, 2.0))
    coarse, fine = (8 * one - two) / (12 * step), (8 * half - one) / (6 * step)
    right = (4 * at[0.5] - 3 * at[0.0] - at[1.0]) / step
    left = (3 * at[0.0] - 4 * at[-0.5] + at[-1.0]) / step
    doubt = abs(coarse - fine) + abs(right - left) + noise / step
    steepest = max(abs(at[k] - at[0.0]) / abs(k * step) for k in at if k)
    return Slope(fine, doubt, max(abs(fine), steepest))
