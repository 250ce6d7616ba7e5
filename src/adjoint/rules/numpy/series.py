"""Rules of `numpy.polynomial`: sums and products of series, in six bases of polynomials.

NumPy cuts off leading coefficients that are zero. If they would contribute to a derivative, needing
it is an error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import polynomial as families
from numpy.polynomial import polyutils
from numpy.polynomial._polybase import ABCPolyBase

from adjoint.cotangents.poison import Poison
from adjoint.rulekit.elementwise_forward import like_result
from adjoint.rulekit.refusal import (
    may_be_nonzero,
    refusal,
)
from adjoint.rulekit.registry import frule, substitute
from adjoint.rulekit.tangents import linear_in, steady_in
from adjoint.rules.numpy.leading_zeros import CUT, cut
from adjoint.rules.numpy.operands import array_rule, conj, cotangent_dtype, dense

BASES = {
    "polynomial": "poly",
    "chebyshev": "cheb",
    "legendre": "leg",
    "hermite": "herm",
    "hermite_e": "herme",
    "laguerre": "lag",
}
"""The modules, and the prefixes of the names of their functions."""


# ---- cutting off zeros ---------------------------------------------------------------------------


@substitute(polyutils.trimseq)
def _(seq):
    stop = len(seq)
    while stop > 1 and seq[stop - 1] == 0:
        stop -= 1
    return seq if stop == len(seq) else cut(polyutils.trimseq, seq, 0, stop)


def _fitted(part: Any, length: int) -> Any:
    """Pad or cut a series to `length` coefficients."""
    whole = np.zeros(length, cotangent_dtype(part))
    whole[: min(len(part), length)] = part[:length]
    return whole


# ---- sums and products ---------------------------------------------------------------------------


def _sum(f: Callable[..., Any], sign: int) -> None:
    steady_in(f, places=range(2))

    @array_rule(f, operands="c1 c2")
    def _(c1, c2):
        y = f(c1, c2)

        def sum_back(y_bar):
            return None, _summand_bar(f, y_bar, c1), _summand_bar(f, sign * y_bar, c2)

        return y, sum_back

    @frule.register(f)
    def _(dots, c1, c2):
        y = f(c1, c2)
        terms = [
            scale * np.atleast_1d(dense(dot, c))
            for dot, c, scale in zip(dots, (c1, c2), (1, sign), strict=False)
            if dot is not None
        ]
        return y, _moved(f, terms, y)


def _summand_bar(f: Callable[..., Any], y_bar: Any, c: Any) -> Any:
    if np.size(c) > len(y_bar) and may_be_nonzero(y_bar):
        return Poison(refusal(f, CUT))
    return np.reshape(_fitted(y_bar, np.size(c)), np.shape(c))


def _moved(f: Callable[..., Any], terms: list[Any], y: Any) -> Any:
    """Add the terms of a tangent; raise if one changes coefficients that are cut off."""
    if not terms:
        return None
    if any(may_be_nonzero(term[len(y) :]) for term in terms):
        raise refusal(f, CUT)
    return like_result(sum(_fitted(term, len(y)) for term in terms), y)


def _product(f: Callable[..., Any]) -> None:
    linear_in(f, places=range(2))

    @array_rule(f, operands="c1 c2")
    def _(c1, c2):
        def product_back(y_bar):
            return None, _factor_bar(f, y_bar, c1, c2), _factor_bar(f, y_bar, c2, c1)

        return f(c1, c2), product_back

    @frule.register(f)
    def _(dots, c1, c2):
        y, (c1_dot, c2_dot) = f(c1, c2), (*dots, None, None)[:2]
        terms = [] if c1_dot is None else [f(dense(c1_dot, c1), c2)]
        terms += [] if c2_dot is None else [f(c1, dense(c2_dot, c2))]
        return y, _moved(f, terms, y)


def _factor_bar(f: Callable[..., Any], y_bar: Any, c: Any, other: Any) -> Any:
    """Return the cotangent of `c` by products of unit vectors with the other factor."""
    columns = [f(unit, other) for unit in np.eye(np.size(c))]
    if any(len(column) > len(y_bar) and column[-1] != 0 for column in columns) and may_be_nonzero(
        y_bar
    ):
        return Poison(refusal(f, CUT))
    c_bar = [np.sum(y_bar * conj(_fitted(column, len(y_bar)))) for column in columns]
    return np.reshape(np.array(c_bar), np.shape(c))


for _module, _prefix in BASES.items():
    _functions = getattr(families, _module)
    _sum(getattr(_functions, f"{_prefix}add"), 1)
    _sum(getattr(_functions, f"{_prefix}sub"), -1)
    _product(getattr(_functions, f"{_prefix}mul"))


# ---- series of series ----------------------------------------------------------------------------


@substitute(polyutils.mapdomain)
def _(x, old, new):
    """Map a series itself; NumPy would put it into an array of objects."""
    if not isinstance(x, ABCPolyBase | int | float | complex | np.generic):
        x = np.asanyarray(x)
    off, scl = polyutils.mapparms(old, new)
    return off + scl * x
