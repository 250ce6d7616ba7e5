"""Rules of compiled linear functions below the splines of `scipy.signal`.

The weights of their sums are found by applying the functions to the identity, up to the precision
at which they stop.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import signal as ss

from adjoint.rulekit.refusal import NoDerivative, refused_bar
from adjoint.rulekit.registry import substitute
from adjoint.rules.numpy.operands import array_rule
from adjoint.rules.numpy.transposition import forward_from_reverse
from adjoint.rules.scipy.linalg.matrix_rule import Call, matrix_rule
from adjoint.rules.scipy.pointwise import pointwise

try:
    from scipy.signal import _spline, _spline_filters
except ImportError:  # older versions have them elsewhere
    from scipy.signal import _bsplines as _spline_filters

    _spline = None

# ---- the first values of recursions --------------------------------------------------------------

POLES = NoDerivative("the poles", "has no rule")
FIRST = "symiirorder1_ic symiirorder2_ic_fwd symiirorder2_ic_bwd"


def first_values(signal: Any, poles: Any, precision: Any, compiled: Any) -> Any:
    """Return the first values of a symmetric recursive filter for each row."""
    return compiled(signal, *poles, precision)


@matrix_rule(first_values, "signal poles")
def _(call: Call) -> Any:
    f, signal = call.compiled, call.signal
    whole = np.eye(signal.shape[-1], dtype=signal.dtype)
    sums = f(whole, *call.poles.tolist(), call.precision)

    def back(y_bar: Any) -> Any:
        return y_bar @ np.conj(sums.T), refused_bar(f, POLES, y_bar)

    return back


def _first(f: Any) -> None:
    if f.__name__ == "symiirorder1_ic":

        @substitute(f)
        def _(signal, z1, precision):
            return first_values(signal, np.array([z1]), precision, f)

    else:

        @substitute(f)
        def _(signal, r, omega, precision):
            return first_values(signal, np.array([r, omega]), precision, f)


for _name in FIRST.split():
    if hasattr(_spline, _name):
        _first(getattr(_spline, _name))


# ---- a filter along rows and columns -------------------------------------------------------------


def _matrices(shape: tuple[int, int], hrow: Any, hcol: Any, dtype: Any) -> tuple[Any, Any]:
    """Return matrices such that ``left @ image @ right`` is the filtered image."""
    rows, columns = (np.eye(n, dtype=dtype) for n in shape)
    return ss.sepfir2d(rows, np.ones(1), hcol), ss.sepfir2d(columns, hrow, np.ones(1))


def _taps(h: Any, of: Any) -> Any:
    return np.array([of(np.eye(len(h))[k]) for k in range(len(h))])


@array_rule(ss.sepfir2d, operands="input hrow hcol")
def _(input, hrow, hcol):
    if np.ndim(input) != 2 or np.iscomplexobj(hrow) or np.iscomplexobj(hcol):
        return NotImplemented
    y = ss.sepfir2d(input, hrow, hcol)
    shape = np.shape(input)
    left, right = _matrices(shape, hrow, hcol, y.dtype)

    def sepfir2d_back(y_bar):
        left_bar, right_bar = y_bar @ np.conj(input @ right).T, np.conj(left @ input).T @ y_bar
        one = np.ones(1)
        row_bar = _taps(hrow, lambda h: np.vdot(_matrices(shape, h, one, float)[1], right_bar))
        column_bar = _taps(hcol, lambda h: np.vdot(_matrices(shape, one, h, float)[0], left_bar))
        return None, left.T @ y_bar @ right.T, row_bar, column_bar

    return y, sepfir2d_back


forward_from_reverse(ss.sepfir2d)


# ---- B-splines -----------------------------------------------------------------------------------


def _cubic_slope(x: Any) -> Any:
    far = np.maximum(2.0 - np.abs(x), 0.0)
    return np.where(np.abs(x) < 1.0, x * (1.5 * np.abs(x) - 2.0), -0.5 * np.sign(x) * far * far)


def _quadratic_slope(x: Any) -> Any:
    far = np.maximum(1.5 - np.abs(x), 0.0)
    return np.where(np.abs(x) < 0.5, -2.0 * x, -np.sign(x) * far)


pointwise(_spline_filters._cubic, x=lambda x: _cubic_slope(x))
pointwise(_spline_filters._quadratic, x=lambda x: _quadratic_slope(x))
