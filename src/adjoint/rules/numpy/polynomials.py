"""Rules of NumPy's older polynomials, whose highest power comes first: values, roots, objects."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.primal.value_kinds import is_objects
from adjoint.rulekit.elementwise_forward import like_result
from adjoint.rulekit.registry import frule, substitute
from adjoint.rules.numpy.forward_rules import array_frule
from adjoint.rules.numpy.leading_zeros import cut
from adjoint.rules.numpy.operands import array_rule, conj, dense

# ---- values --------------------------------------------------------------------------------------


@array_rule(np.polyval, operands="p x")
def _(p, x):
    p = np.asarray(p)
    if p.ndim != 1:
        return NotImplemented
    y = np.polyval(p, x)

    def polyval_back(y_bar):
        powers = conj(np.asarray(x))[..., None] ** np.arange(len(p) - 1, -1, -1)
        p_bar = np.tensordot(y_bar, powers, np.ndim(x))
        return None, p_bar, y_bar * conj(np.polyval(np.polyder(p), x))

    return y, polyval_back


@array_frule(np.polyval, operands="p x")
def _(dots, y, p, x):
    if np.ndim(p) != 1:
        return NotImplemented
    p_dot, x_dot = dots
    moved: Any = 0.0
    if p_dot is not None:
        moved = moved + np.polyval(p_dot, x)
    if x_dot is not None:
        degrees = np.cumsum(np.ones_like(p[1:]))[::-1]
        moved = moved + np.polyval(p[:-1] * degrees, x) * x_dot
    return moved


@substitute(np.polyval)
def _(p, x):
    """Evaluate at numbers, objects or a polynomial.

    No polynomial is multiplied by zero, since the product would be cut off. Objects are, since
    this may run user code.
    """
    p = np.asarray(p)
    x = x if isinstance(x, np.poly1d) else np.asanyarray(x)
    if len(p) == 0:
        return 0 if isinstance(x, np.poly1d) else np.zeros_like(x)
    y = np.poly1d(p[0]) if isinstance(x, np.poly1d) else np.zeros_like(x)
    if not isinstance(x, np.poly1d):
        y = y * x + p[0] if is_objects(x) else y + p[0]
    for coefficient in p[1:]:
        y = y * x + coefficient
    return y


# ---- roots ---------------------------------------------------------------------------------------


def _root_slopes(p: Any, roots: Any) -> Any:
    """Return ∂r/∂c = - r^k / p'(r) of each root r and coefficient c; a multiple root has none."""
    slope = np.polyval(np.polyder(p), roots)
    return -np.vander(roots, len(p)) / slope[:, None]


@array_rule(np.roots, operands="p")
def _(p):
    p, y = np.atleast_1d(p), np.roots(p)
    if p.ndim != 1:
        return NotImplemented

    def roots_back(y_bar):
        shares = np.where(y_bar[:, None] == 0, 0, y_bar[:, None] * conj(_root_slopes(p, y)))
        return None, np.sum(shares, 0)

    return y, roots_back


@frule.register(np.roots)
def _(dots, p):
    p, y = np.atleast_1d(p), np.roots(p)
    if dots[0] is None:
        return y, None
    return y, like_result(_root_slopes(p, y) @ np.atleast_1d(dense(dots[0], p)), y)


# ---- objects that are polynomials: zeros in front are cut off ------------------------------------


def without_leading_zeros(coefficients: Any) -> Any:
    """Cut off leading zeros, but keep one coefficient."""
    if len(coefficients) == 0:
        return np.array([0], coefficients.dtype)
    there = np.flatnonzero(coefficients)
    start = int(there[0]) if len(there) else len(coefficients) - 1
    return cut(np.poly1d, coefficients, start, len(coefficients)) if start else coefficients


@substitute(np.poly1d.__init__)
def poly1d_init(self, c_or_r, r=False, variable=None):
    if isinstance(c_or_r, np.poly1d):
        self.__dict__.update(c_or_r.__dict__)
        if variable is not None:
            self._variable = variable
        return
    coefficients = np.atleast_1d(np.poly(c_or_r) if r else c_or_r)
    if coefficients.ndim > 1:
        raise ValueError("Polynomial must be 1d only.")
    self._coeffs = without_leading_zeros(coefficients)
    self._variable = "x" if variable is None else variable
