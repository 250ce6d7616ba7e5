"""Phases of eigenvectors and singular vectors, and bases for vectors of equal values.

*Phases.* A vector times a unit complex number is a vector, too. LAPACK makes one component of each
vector real, and the derivative is that of the vectors so chosen: it is right also for functions
that depend on the phase. Of Hermitian matrices it is the first component (the last, where the upper
triangle is read), since the tridiagonal form is real and its basis keeps that axis; of singular
vectors the first one of V, or of U where the matrix is wide; of general matrices the largest one,
as LAPACK's documentation of ``geev`` says. A function of a phase that this does not determine is
refused.

*Equal values.* Vectors of equal values are any basis of their space. A function of them has in
general no derivative, or one that the vectors do not determine (``v @ diag(f(w)) @ v.T`` has one,
with f'), so reverse mode refuses it, and in forward mode such vectors have the tangent NaN. Vectors
of other values, and the values themselves, are not affected. Second derivatives of equal values
need the vectors, even where these are multiplied by zero: they are NaN (`nan_beyond_first`). To
detect that, the tangents of equal values are those of the sorted values on one side, as they part
(`parting`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from adjoint.levels.bases import can_try
from adjoint.rulekit.registry import frule, non_differentiable, rrule
from adjoint.rules.numpy.linalg.bases import Turn, among_equals, distinct_pairs, shared_vectors
from adjoint.rules.numpy.linalg.matrices import (
    diagonal_matrix,
    noise,
    rounding,
    undetermined,
)

# ---- equal values --------------------------------------------------------------------------------


def differences(w: Any) -> Any:
    """Return w_j − w_i at row i and column j."""
    return w[..., None, :] - w[..., :, None]


def equal_pairs(w: Any, size: Any, vectors: Any) -> Any:
    """Return which pairs of values are equal up to rounding; `size` is that of the matrix."""
    return np.abs(differences(w)) <= rounding(vectors) * np.asarray(size)[..., None, None]


def over(m: Any, gaps: Any, equal: Any) -> Any:
    """Return ``m / gaps``; 0 where there is no gap."""
    return np.where(equal, 0, m / np.where(equal, 1, gaps))


def parting(w_dot: Any, inner: Any, equal: Any, values_of: Any = np.linalg.eigvalsh) -> Any:
    """Return the tangents `w_dot`, one-sided where `equal` values part, and the mask of these.

    `inner` is the tangent of the matrix in the basis of their vectors.
    """
    parted, shared = _parted(inner, equal, values_of)
    return replaced(w_dot, parted, shared), shared


def replaced(w_dot: Any, parted: Any, shared: Any) -> Any:
    """Replace `w_dot` by `parted` where `shared`, but keep its dependence on the matrix."""
    return w_dot + np.where(shared, parted - fixed(w_dot), 0) if shared.any() else w_dot


def _parted(inner: Any, equal: Any, values_of: Any) -> tuple[Any, Any]:
    """Return how fast equal values part, in ascending order, and which values have vectors that
    turn into one another."""
    n, size = equal.shape[-1], np.max(np.abs(inner), (-2, -1), initial=0)[..., None]
    among = distinct_pairs(equal) & np.isfinite(size)[..., None]
    moved = np.any(among & (np.abs(inner) > noise(inner)), -1)
    shared = np.any(equal & moved[..., None, :], -1)
    if not shared.any():
        return np.zeros(shared.shape), shared
    group = np.argmax(equal, -1)
    offset = 2 * n * size * group  # separates the groups
    pairs = equal & shared[..., None]
    values = np.sort(values_of(np.where(pairs, inner, 0) + diagonal_matrix(offset)), -1)
    places = np.argsort(np.argsort(group, -1, kind="stable"), -1)
    return np.take_along_axis(values, places, -1) - offset, shared


def refuse_shared(
    f: Any, equal: Any, w_bar: Any, *vector_bars: Any, orthogonal: bool = True
) -> None:
    """Refuse the cotangent of vectors that belong to equal values.

    A vector whose cotangent is exactly zero is unused. But in ``v @ diag(f(w)) @ inv(v)`` the
    cotangents by `v` and by its inverse cancel for equal values, although the derivative does not.
    So if values are used and no vector is, all vectors count as used; so they do if they are not
    orthogonal, since their inverse is expected, and any value or vector is used.
    """
    if np.count_nonzero(equal) == math.prod(equal.shape[:-1]):
        return
    pairs = distinct_pairs(equal)
    used = np.zeros(pairs.shape[:-1], bool)
    for bar in vector_bars:
        if bar is not None:
            used |= np.any(bar != 0, -2)
    if w_bar is not None:
        valued = np.any(w_bar != 0, -1)
        used |= (valued & ~used.any(-1))[..., None]
        if not orthogonal:
            used |= (valued | used.any(-1))[..., None]
    if np.any(pairs & (used[..., :, None] | used[..., None, :])):
        is_complex = any(map(np.iscomplexobj, vector_bars))
        raise shared_vectors(f, equal, is_complex, w_bar is not None)


def in_any_basis(
    f: Any,
    equal: Any,
    turn: Turn | None,
    w_bar: Any,
    turning: Any,
    vectors: tuple[Any, Any],
    bars: tuple[Any, ...],
    turns: Any = True,
) -> Any:
    """Return the part of ā, in the basis of `vectors`, that comes by the values.

    `bars` are the cotangents of vectors. `turning` is the rate of the result as vectors turn into
    one another. A trial turns those of `equal` values where `turns`; it is demanded also if they
    seem unused (multiplied by log(1)), because they may be used in another basis.
    """
    values = 0.0 if w_bar is None else diagonal_matrix(w_bar)
    turned = equal & turns & among_equals(equal & turns)[..., None]
    refuse_shared(f, equal & ~turned if turn is not None else equal, w_bar, *bars)
    if not turned.any():
        return values
    needed = shared_vectors(f, turned, np.iscomplexobj(vectors[0]), w_bar is not None)
    if turn is None:
        if can_try():
            needed.rounds = 1
            raise needed
        return values
    size = sum(np.sum(squared(bar), -1) for bar in bars)
    limit = np.sqrt(rounding(turning) * size)[..., None, None]
    turn.trial.depends |= bool(np.any(turned & (np.abs(turning) > limit)))
    used = sum(squared(bar) for bar in bars) != 0
    used = used if w_bar is None else used | (w_bar != 0)
    if np.any(turn.shared & used) and needed.rounds > turn.trial.rounds:
        raise needed
    if w_bar is None:
        return values
    return np.where(turned, turn.measured(w_bar, *vectors), values)


def settled(vectors: Any, weights: Any) -> Any:
    """Return the vectors, in columns, as constants where they are multiplied by zero, because their
    derivatives may be unknown."""
    unused = np.equal(weights, 0)[..., None, :]
    return np.where(unused, fixed(vectors), vectors) if unused.any() else vectors


def fixed(vectors: Any) -> Any:
    """Return a copy that is constant."""
    return np.array(vectors)


def nan_beyond_first(w_bar: Any, equal: Any, alone: Any = False) -> Any:
    """Return the cotangent of values, whose own derivative is NaN where it needs the vectors: for
    equal values, and those `alone` without a vector on the other side."""
    shared = among_equals(equal) | alone
    return nan_derivative(w_bar, shared) if shared.any() else w_bar


def nan_derivative(w_bar: Any, shared: Any) -> Any:
    """Copy `w_bar`; its derivative is NaN where `shared`."""
    return w_bar * 1.0


@rrule.register(nan_derivative, trusted=True)
def _(w_bar: Any, shared: Any) -> Any:
    return nan_derivative(w_bar, shared), lambda bar: (None, np.where(shared, np.nan, bar), None)


@frule.register(nan_derivative, trusted=True)
def _(dots: Any, w_bar: Any, shared: Any) -> Any:
    dot = dots[0]
    return nan_derivative(w_bar, shared), None if dot is None else np.where(
        shared & (dot != 0), np.nan, dot
    )


def nan_beyond_first_pair(w: Any, w_dot: Any, shared: Any) -> tuple[Any, Any]:
    """Return values and tangents; a derivative that uses both is NaN where `shared`."""
    return nan_derivative_pair(w, w_dot, shared) if shared.any() else (w, w_dot)


def nan_derivative_pair(w: Any, w_dot: Any, shared: Any) -> tuple[Any, Any]:
    """Copy `w` and `w_dot`; the derivative is NaN where `shared` and both are used."""
    return w * 1.0, w_dot * 1.0


@rrule.register(nan_derivative_pair, trusted=True)
def _(w: Any, w_dot: Any, shared: Any) -> Any:
    def unknown_pair_back(y_bar: Any) -> Any:
        w_bar, dot_bar = y_bar
        if w_bar is not None and dot_bar is not None:
            dot_bar = np.where(shared & (w_bar != 0), np.nan, dot_bar)
        return None, w_bar, dot_bar, None

    return nan_derivative_pair(w, w_dot, shared), unknown_pair_back


@frule.register(nan_derivative_pair, trusted=True)
def _(dots: Any, w: Any, w_dot: Any, shared: Any) -> Any:
    return nan_derivative_pair(w, w_dot, shared), (dots[0], dots[1])


# ---- phases --------------------------------------------------------------------------------------


def row(vectors: Any, index: int) -> Any:
    """Return the mask of one component of each vector."""
    m = vectors.shape[-2]
    return np.arange(m)[:, None] == (index % m if m else 0)


def squared(bar: Any) -> Any:
    """Return the squared lengths of columns."""
    return np.sum(np.abs(bar) ** 2, -2)


def in_phase(f: Any, bar: Any, turn: Any, size: Any, vectors: Any, mask: Any) -> Any:
    """Return the cotangent of vectors whose phases are fixed by a real component.

    Parameters
    ----------
    bar
        The cotangent of the vectors, in columns, without that condition.
    turn
        The rate of the result as the phase of each vector turns.
    size
        The squared length of the terms of `turn`, to tell it from rounding.
    vectors, mask
        The vectors, and which component of each is real.
    """
    if not np.iscomplexobj(vectors):  # NumPy 1 has real vectors of general matrices
        return bar
    shows = np.abs(turn) > rounding(vectors) * np.sqrt(size)
    if not shows.any():
        return bar
    pivot = np.sum(np.where(mask, vectors, 0), -2)
    if np.any(shows & ~_is_clear(pivot, vectors)):
        raise undetermined(
            f,
            "the phase of a vector shows in the result, and nothing determines it",
            "use what does not depend on it, such as abs(v), or v * conj(v[k])",
        )
    rate = np.where(shows, turn, 0) / np.where(shows, pivot.real, 1)
    return bar - 1j * np.where(mask, rate[..., None, :], 0)


def phased(dot: Any, vectors: Any, mask: Any) -> Any:
    """Return the factor of the vectors that, added to their tangents `dot`, keeps pivots real."""
    if not np.iscomplexobj(vectors):
        return 0.0
    pivot = np.sum(np.where(mask, vectors, 0), -2)
    clear = _is_clear(pivot, vectors)
    rate = -np.imag(np.sum(np.where(mask, dot, 0), -2)) / np.where(clear, np.real(pivot), 1)
    return 1j * np.where(clear, rate, 0)[..., None, :]


def _is_clear(pivot: Any, vectors: Any) -> Any:
    limit = rounding(vectors)
    return (np.abs(pivot) > limit) & (np.abs(pivot.imag) <= limit)


non_differentiable(equal_pairs, fixed, refuse_shared, row, _is_clear, _parted)
