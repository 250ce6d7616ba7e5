"""De Boor's algorithm for many points at once, and its derivatives in all operands.

In the interval [t_l, t_(l+1)) a spline of degree k depends on 2 k knots and k + 1 coefficients. The
first `nu` of the k stages take differences of coefficients, the others averages. The two knots of
a stage lie on both sides of the interval, so no stage divides by zero::

    d_j ← q (d_(j+1) − d_j) / (b − a)
    d_j ← (1 − α) d_j + α d_(j+1)  with α = (x − a) / (b − a)
"""

from __future__ import annotations

from typing import Any

import numpy as np


def places_of(t: Any, k: int, n: int, x: Any) -> Any:
    """Return the interval of each point, among those from knot k to knot n, as SciPy does."""
    return np.clip(np.searchsorted(t, x, side="right") - 1, k, n - 1)


class Local:
    """The derivative of order `nu` of a spline, at points whose intervals are known.

    Parameters
    ----------
    t, k
        All knots, and the degree.
    x, places
        The points, and the knots that they follow.
    local
        The k + 1 coefficients that a point depends on, by point, coefficient and value.
    is_analytic
        Whether knots and points are complex, for the sake of a complex step, and `pull` is the
        analytic continuation of that for real numbers.
    """

    is_analytic: bool
    k: int
    n: int
    nu: int
    places: Any
    x: Any

    def __init__(
        self,
        t: Any,
        k: int,
        x: Any,
        places: Any,
        local: Any,
        nu: int,
        is_analytic: bool = False,
    ) -> None:
        self.is_analytic = is_analytic
        self.n, self.k, self.nu, self.x, self.places = len(t), k, nu, x, places
        self.columns: Any = places[:, None] + np.arange(1 - k, k + 1)
        self.knots: Any = t[self.columns]
        self.stages: list[Any] = [local]
        for r in range(1, k + 1 if nu <= k else 1):
            self.stages.append(self._stage(r))

    def _ends(self, knots: Any, r: int) -> tuple[Any, Any]:
        k = self.k
        return knots[:, r - 1 : k, None], knots[:, k : 2 * k - r + 1, None]

    def _stage(self, r: int) -> Any:
        d, (a, b) = self.stages[-1], self._ends(self.knots, r)
        if r <= self.nu:
            return (self.k - r + 1) * (d[:, 1:] - d[:, :-1]) / (b - a)
        along = (self.x[:, None, None] - a) / (b - a)
        return (1 - along) * d[:, :-1] + along * d[:, 1:]

    @property
    def y(self) -> Any:
        """Return the values, one row per point."""
        return np.zeros_like(self.stages[0][:, 0]) if self.vanishes else self.stages[-1][:, 0]

    @property
    def vanishes(self) -> bool:
        """Return whether the derivative is zero everywhere."""
        return self.nu > self.k

    def _real(self, slope: Any, bar: Any) -> Any:
        """Return the cotangent of a real operand, summed over the values."""
        terms = slope * bar if self.is_analytic else np.real(np.conj(slope) * bar)
        return np.sum(terms, -1, keepdims=True)

    def pull(self, y_bar: Any) -> tuple[Any, Any, Any]:
        """Return the cotangents of all knots, of the points and of `local`."""
        kind = complex if self.is_analytic else float
        x_bar, t_bar = np.zeros(len(self.x), kind), np.zeros(self.n, kind)
        if self.vanishes:
            return t_bar, x_bar, np.zeros_like(self.stages[0])
        knots_bar, bar = np.zeros(self.knots.shape, kind), y_bar[:, None, :]
        for r in range(self.k, 0, -1):
            d, (a, b) = self.stages[r - 1], self._ends(self.knots, r)
            a_bar, b_bar = self._ends(knots_bar, r)
            width, step = b - a, d[:, 1:] - d[:, :-1]
            passed = np.zeros(d.shape, np.result_type(d, kind))
            if r <= self.nu:
                up = down = (self.k - r + 1) / width * bar
                down = -down
                of_width = self._real(self.stages[r], bar) / width
                a_bar += of_width
                b_bar -= of_width
            else:
                along = (self.x[:, None, None] - a) / width
                up, down = along * bar, (1 - along) * bar
                of_along = self._real(step, bar) / width
                a_bar += of_along * (along - 1)
                b_bar -= of_along * along
                x_bar += of_along.sum(axis=(1, 2))
            passed[:, 1:] += up
            passed[:, :-1] += down
            bar = passed
        np.add.at(t_bar, self.columns, knots_bar)
        return t_bar, x_bar, bar

    def push(self, t_dot: Any, x_dot: Any, local_dot: Any) -> Any:
        d_dot = np.zeros_like(self.stages[0]) if local_dot is None else local_dot
        if self.vanishes:
            return np.zeros((len(self.x), d_dot.shape[-1]))
        knots_dot = np.zeros(self.knots.shape) if t_dot is None else t_dot[self.columns]
        moved = np.zeros((len(self.x), 1, 1)) if x_dot is None else x_dot[:, None, None]
        for r in range(1, self.k + 1):
            d, (a, b) = self.stages[r - 1], self._ends(self.knots, r)
            a_dot, b_dot = self._ends(knots_dot, r)
            width, step = b - a, d[:, 1:] - d[:, :-1]
            if r <= self.nu:
                stretched = self.stages[r] * (b_dot - a_dot) / width
                q = self.k - r + 1
                d_dot = q * (d_dot[:, 1:] - d_dot[:, :-1]) / width - stretched
            else:
                along = (self.x[:, None, None] - a) / width
                along_dot = (moved - (1 - along) * a_dot - along * b_dot) / width
                d_dot = (1 - along) * d_dot[:, :-1] + along * d_dot[:, 1:] + step * along_dot
        return d_dot[:, 0]
