"""Rules of least squares, pseudo-inverses and norms, from those of `numpy.linalg`."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg as sl

from adjoint.rules.numpy.linalg.least_squares import mirrored
from adjoint.rules.numpy.linalg.matrices import dagger, from_triangle, hermitian, to_triangle
from adjoint.rules.numpy.linalg.norms import norm_axes, norm_back, norm_dot
from adjoint.rules.numpy.linalg.singular import values_bar
from adjoint.rules.scipy.linalg.matrix_rule import Call, matrix_rule

# ---- lstsq ---------------------------------------------------------------------------------------


def _inverse(a: Any, rank: Any) -> Any:
    """Return the pseudo-inverse of `a` for a given rank."""
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    kept = np.arange(s.shape[-1]) < np.asarray(rank)[..., None]
    weights = np.where(kept, 1 / np.where(kept, s, 1), 0)
    return (dagger(vh) * weights[..., None, :]) @ dagger(u)


@matrix_rule(sl.lstsq, "a b")
def _(call: Call) -> Any:
    a, b = call.a, call.b
    x, residues, rank, s = call.y
    stack = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    one, (m, n) = b.ndim == 1, a.shape[-2:]  # a vector is shared by all matrices of a stack
    right = b[:, None] if one else b
    columns = x[..., None] if one else x
    measured = np.size(residues) > 0 and bool(np.all(rank == n))  # NaN for dependent columns

    def back(y_bar: Any) -> Any:
        x_bar, residues_bar, _, s_bar = y_bar
        a_bar = np.zeros((*stack, m, n))
        b_bar = np.zeros((*stack, m, right.shape[-1]))
        if x_bar is not None and x.size:
            p, x_bar = _inverse(a, rank), np.reshape(x_bar, columns.shape)
            a_bar = a_bar + mirrored(right @ dagger(x_bar), a, p)
            b_bar = b_bar + dagger(p) @ x_bar
        if residues_bar is not None and measured:
            # SciPy may return real residues as complex numbers.
            weights = np.reshape(np.real(residues_bar), (*stack, 1, right.shape[-1]))
            rest = 2 * weights * (right - a @ columns)
            a_bar, b_bar = a_bar - rest @ dagger(columns), b_bar + rest
        if s_bar is not None and np.asarray(s).dtype.kind == "f" and np.size(s_bar):
            a_bar = a_bar + values_bar(np.broadcast_to(a, a_bar.shape), s_bar)
        return a_bar, b_bar[..., 0] if one else b_bar

    return back


# ---- pseudo-inverses -----------------------------------------------------------------------------


@matrix_rule(sl.pinv, "a")
def _(call: Call) -> Any:
    a, ranked = call.a, bool(call.return_rank)
    y = call.y[0] if ranked else call.y

    def back(y_bar: Any) -> Any:
        bar = y_bar[0] if ranked else y_bar
        return (None if bar is None else mirrored(dagger(bar), a, y),)

    return back


@matrix_rule(sl.pinvh, "a")
def _(call: Call) -> Any:
    upper, ranked = not call.lower, bool(call.return_rank)
    a, y = from_triangle(call.a, upper), call.y[0] if ranked else call.y

    def back(y_bar: Any) -> Any:
        bar = y_bar[0] if ranked else y_bar
        if bar is None:
            return (None,)
        return (to_triangle(hermitian(mirrored(dagger(bar), a, y)), upper),)

    return back


# ---- norms ---------------------------------------------------------------------------------------


@matrix_rule(sl.norm, "a *ord")
def _(call: Call) -> Any:
    axes, matrices = norm_axes(call.a, call.ord, call.axis)
    pull = norm_back(call.a, call.y, call.ord, axes, matrices)

    def back(y_bar: Any) -> Any:
        _, a_bar, *order_bar = pull(y_bar)
        return a_bar, order_bar[0] if order_bar else None

    return back, lambda *dots: norm_dot(call.a, call.y, dots, call.ord, axes, matrices)
