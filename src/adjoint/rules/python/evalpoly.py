"""Polynomials by Horner's rule: the function `evalpoly` and its rules."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.rulekit.elementwise_forward import like_result
from adjoint.rulekit.projection import Projector, is_numeric, project, projector
from adjoint.rulekit.registry import frule, rrule


def evalpoly(x: Any, coefficients: Any) -> Any:
    """Evaluate the polynomial ``c[0] + c[1] x + c[2] x² + …`` at `x` by Horner's rule.

    Parameters
    ----------
    x : number or array
        The point, or an array of points.
    coefficients : sequence or array
        The constant term first. Numbers, or arrays that broadcast with `x`.

    Returns
    -------
    number or array
        A float for a float `x`; shaped like `x`, broadcast with the coefficients.

    Raises
    ------
    ValueError
        There are no coefficients.

    Examples
    --------
    >>> evalpoly(2.0, [1.0, 0.0, 3.0])
    13.0
    """
    if isinstance(x, float) and isinstance(coefficients, np.ndarray) and coefficients.ndim == 1:
        # Python floats: each step on NumPy scalars would cost several times as much
        x, coefficients = float(x), coefficients.tolist()
    return _horner(x, coefficients)


def _horner(x: Any, coefficients: Any) -> Any:
    if len(coefficients) == 0:
        raise ValueError("a polynomial has at least one coefficient")
    y = coefficients[-1]
    if len(coefficients) == 1 and isinstance(x, np.ndarray):
        return y + np.zeros(x.shape)
    for c in coefficients[-2::-1]:
        y = y * x + c
    return y


def _slope(x: Any, coefficients: Any) -> Any:
    """Return p'(x) by Horner's rule for c[1] + 2 c[2] x + …"""
    slope: Any = 0.0
    for k in range(len(coefficients) - 1, 0, -1):
        slope = slope * x + k * coefficients[k]
    return slope


def _powers(first: Any, x: Any, n: int) -> list[Any]:
    """Return ``first * x**k`` for k < n."""
    powers = [first]
    for _ in range(n - 1):
        powers.append(powers[-1] * x)
    return powers


def _rule(x: Any, coefficients: Any, wrt: tuple[bool, bool]) -> Any:
    if not is_numeric(x) or not isinstance(coefficients, list | tuple | np.ndarray):
        return NotImplemented
    if isinstance(coefficients, np.ndarray):
        if coefficients.dtype.kind not in "fciub":
            return NotImplemented
    elif not all(map(is_numeric, coefficients)):
        return NotImplemented
    if _is_plain(x, coefficients):
        return _plain_rule(float(x), coefficients, wrt)
    y = evalpoly(x, coefficients)
    to_x, n = projector(x), len(coefficients)

    def evalpoly_back(y_bar: Any) -> Any:
        x_bar = to_x(y_bar * np.conj(_slope(x, coefficients))) if wrt[0] else None
        if not wrt[1]:
            return None, x_bar, None
        return None, x_bar, _like(_powers(y_bar, np.conj(x), n), coefficients)

    return y, evalpoly_back


def _is_plain(x: Any, coefficients: Any) -> bool:
    return (
        isinstance(x, float)
        and type(coefficients) is np.ndarray
        and coefficients.ndim == 1
        and coefficients.dtype.kind == "f"
        and coefficients.size > 0
    )


def _plain_rule(x: float, coefficients: Any, wrt: tuple[bool, bool]) -> Any:
    """Apply the rule at one float with an array of real coefficients, in Python floats."""
    c = coefficients.tolist()
    y, n, dtype = _horner(x, c), len(c), coefficients.dtype

    def evalpoly_back(y_bar: Any) -> Any:
        x_bar = y_bar * _slope(x, c) if wrt[0] else None
        return None, x_bar, np.array(_powers(y_bar, x, n), dtype) if wrt[1] else None

    return y, evalpoly_back


def _like(bars: list[Any], coefficients: Any) -> Any:
    """Pack one cotangent per coefficient into a cotangent of their sequence."""
    items = [project(bar, c) for bar, c in zip(bars, coefficients, strict=True)]
    if isinstance(coefficients, np.ndarray):
        to_array: Projector = projector(coefficients)
        return to_array(np.array(items).reshape(coefficients.shape))
    return items if isinstance(coefficients, list) else tuple(items)


@rrule.register(evalpoly, trusted=True)
def _evalpoly(x, coefficients):
    return _rule(x, coefficients, (True, True))


_evalpoly.only = (  # type: ignore[attr-defined]
    lambda x, coefficients: _rule(x, coefficients, (True, False)),
    lambda x, coefficients: _rule(x, coefficients, (False, True)),
)


@frule.register(evalpoly)
def _(dots, x, coefficients):
    x_dot, coefficient_dots = dots
    y, y_dot = evalpoly(x, coefficients), 0.0
    if x_dot is not None:
        y_dot = y_dot + _slope(x, coefficients) * x_dot
    if coefficient_dots is not None:
        known = [0.0 if dot is None else dot for dot in coefficient_dots]
        y_dot = y_dot + evalpoly(x, known)
    return y, like_result(y_dot, y)
