"""Least squares, and chains of matrix products, in terms of functions whose derivatives programs
inline: the definitions that programs inline.

Least squares are for matrices of full rank, whose pseudo-inverse is smooth.
"""

from __future__ import annotations

import inspect

import numpy as np

from adjoint.fast.evaluate.callees.numpy_definitions import definition, with_derivative
from adjoint.fast.evaluate.result_types.records import converted_operands
from adjoint.fast.not_covered import Deoptimize
from adjoint.rulekit.registry import frule, non_differentiable, rrule
from adjoint.rules.scipy.equivalents import result_like

# ---- least squares -------------------------------------------------------------------------------

_DEFAULT = inspect.signature(np.linalg.lstsq).parameters["rcond"].default


@result_like(lambda a, b, rcond: np.concatenate([a.T @ b, b[:1]]))
@non_differentiable
def solved(a, b, rcond):
    """Return NumPy's solution, and in a further row the residuals."""
    x, residuals, rank, _ = np.linalg.lstsq(a, b, rcond)
    if rank < min(a.shape):
        raise Deoptimize("a matrix that is not of full rank")
    return np.concatenate([x, [residuals if residuals.size else np.zeros(b.shape[1])]])


@result_like(lambda a, b, rcond: np.int32(np.argmax(b)))
@non_differentiable
def rank_of(a, b, rcond):
    return np.linalg.lstsq(a, b, rcond)[2]


@result_like(lambda a, b, rcond: np.linalg.svd(a, compute_uv=False))
@non_differentiable
def values_of(a, b, rcond):
    return np.linalg.lstsq(a, b, rcond)[3]


def of_doubles(a):
    """Return an array of double precision, converted from one of integers."""
    if a.dtype.char not in "dlq":
        raise TypeError("an array of other numbers")
    return a if a.dtype == np.float64 else a.astype(np.float64)


def moved_solution(a, columns, found):
    """Return the solution `found` for each column, with its derivative."""
    return with_derivative(found, np.linalg.pinv(a, 0.0) @ columns)


converted_operands[np.linalg.lstsq] = 2


@definition(np.linalg.lstsq)
def _lstsq(a, b, rcond=_DEFAULT):
    a, b = of_doubles(a), of_doubles(b)
    m, n = a.shape
    columns = b if np.ndim(b) == 2 else np.reshape(b, (m, 1))
    found = solved(a, columns, rcond)
    x = moved_solution(a, columns, found[:-1])
    if m > n:
        residuals = with_derivative(found[-1], np.sum((columns - a @ x) ** 2, axis=0))
    else:
        residuals = np.zeros(0)
    s = with_derivative(values_of(a, columns, rcond), np.linalg.svd(a, compute_uv=False))
    return x if np.ndim(b) == 2 else x[:, 0], residuals, rank_of(a, columns, rcond), s


@definition(np.polyfit)
def _polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    if full or cov or not isinstance(deg, int) or deg < 0:
        raise ValueError("other options")
    x, y = np.asarray(x) + 0.0, np.asarray(y) + 0.0
    if np.ndim(x) != 1 or np.ndim(y) not in (1, 2) or len(x) == 0 or len(x) != len(y):
        raise TypeError("points of another kind")
    lhs, rhs = np.vander(x, deg + 1), y
    if w is not None:
        w = np.asarray(w) + 0.0
        if np.ndim(w) != 1 or len(w) != len(y):
            raise TypeError("weights of another kind")
        lhs = lhs * w[:, None]
        rhs = rhs * w if np.ndim(y) == 1 else rhs * w[:, None]
    scale = np.sqrt((lhs * lhs).sum(axis=0))
    if rcond is None:
        rcond = len(x) * np.finfo(np.float64).eps
    c = _lstsq(lhs / scale, rhs, rcond)[0]
    return (c.T / scale).T


# ---- chains of products --------------------------------------------------------------------------


@result_like(lambda *matrices: np.zeros((matrices[0].shape[0], matrices[-1].shape[1])))
def chain(*matrices):
    """Return the product of matrices, in the order that takes the fewest operations."""
    return np.linalg.multi_dot(matrices)


@rrule.register(chain)
def _(*matrices):
    def chain_back(y_bar):
        turned = [matrix.T for matrix in matrices]
        bars = []
        for i in range(len(matrices)):
            bars.append(chain(*turned[:i][::-1], y_bar, *turned[i + 1 :][::-1]))
        return (None, *bars)

    return chain(*matrices), chain_back


@frule.register(chain)
def _(dots, *matrices):
    y_dot = 0.0
    for i, dot in enumerate(dots):
        if dot is not None:
            y_dot = y_dot + chain(*matrices[:i], dot, *matrices[i + 1 :])
    return chain(*matrices), y_dot


@definition(np.linalg.multi_dot)
def _multi_dot(arrays, *, out=None):
    if out is not None or len(arrays) < 2:
        raise ValueError("other options")
    for array in arrays:
        if array.dtype != np.float64:
            raise TypeError("arrays of other numbers")
    if len(arrays) == 2:
        return np.dot(arrays[0], arrays[1])
    first, last = arrays[0], arrays[-1]
    left = first if np.ndim(first) == 2 else np.reshape(first, (1, len(first)))
    right = last if np.ndim(last) == 2 else np.reshape(last, (len(last), 1))
    y = chain(left, *arrays[1:-1], right)
    if np.ndim(first) == np.ndim(last) == 1:
        return y[0, 0]
    return y if np.ndim(first) == np.ndim(last) else np.ravel(y)
