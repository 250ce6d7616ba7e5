"""Rules of singular values and singular vectors.

Formulas: Townsend, *Differentiating the singular value decomposition* (2016), and Wan & Zhang,
*Automatic differentiation for complex valued SVD* (2019), written with the sum and the difference
of the rotations of U and V: one has the differences of singular values below it, the other their
sums. Phases, and vectors of equal values: see `gauges`. The vectors that ``full_matrices`` adds are
any basis of the rest of the space, so only functions independent of its choice have a derivative;
forward mode turns these vectors as little as possible.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.rulekit.registry import non_differentiable
from adjoint.rules.numpy.linalg.bases import Turn, between_equals, parting_basis, turn_of
from adjoint.rules.numpy.linalg.eigen import eigh_bar, eigh_dot, equal_values
from adjoint.rules.numpy.linalg.forward_rules import forward_rule
from adjoint.rules.numpy.linalg.gauges import (
    differences,
    equal_pairs,
    in_any_basis,
    in_phase,
    nan_beyond_first,
    nan_beyond_first_pair,
    over,
    parting,
    phased,
    replaced,
    row,
    settled,
    squared,
)
from adjoint.rules.numpy.linalg.matrices import (
    dagger,
    diagonal,
    from_triangle,
    hermitian,
    noise,
    poisoned,
    rounding,
    skew,
    to_triangle,
    undetermined,
)
from adjoint.rules.numpy.operands import array_rule

# ---- reverse -------------------------------------------------------------------------------------


def in_trial_basis(parts: Any, signed: bool = False) -> tuple[Any, Turn | None]:
    """Return u, s and vᴴ in the basis of the running trial; `signed`: of a Hermitian matrix."""
    u, s, vh = parts
    k = s.shape[-1]
    equal, zero = _coincident(u, s, vh)
    same = equal_values(s * _signs(u, vh), u) if signed else equal & ~zero[..., None, :]
    turn = turn_of(same, u[..., :k])
    if turn is None:
        return parts, None
    u, vh = np.array(u), np.array(vh)
    u[..., :k], vh[..., :k, :] = u[..., :k] @ turn.matrix, dagger(turn.matrix) @ vh[..., :k, :]
    return _like(parts, (u, s, vh)), turn


def _like(parts: Any, found: tuple[Any, ...]) -> Any:
    """Return `found` as a named tuple, if `parts` is one."""
    return found if type(parts) in (tuple, list) else type(parts)(*found)


def singular_bar(
    f: Any, parts: tuple[Any, ...], bars: tuple[Any, ...], turn: Turn | None = None
) -> Any:
    """Return ā from the cotangents of u, s and vᴴ, of which some may be ``None``."""
    (u, s, vh), (u_bar, s_bar, vh_bar) = parts, bars
    k = s.shape[-1]
    v = dagger(vh)
    if u_bar is not None:
        u_bar = rest_of(f, u_bar, u, k)
    v_bar = None if vh_bar is None else rest_of(f, dagger(vh_bar), v, k)
    u, v = u[..., :k], v[..., :k]
    if u_bar is None and v_bar is None:
        return _weighted(u, s, v, s_bar)
    u_bar = np.zeros_like(u) if u_bar is None else u_bar
    v_bar = np.zeros_like(v) if v_bar is None else v_bar
    return _vectors_bar(f, (u, s, v), (u_bar, s_bar, v_bar), turn)


def _vectors_bar(f: Any, parts: tuple[Any, ...], bars: tuple[Any, ...], turn: Turn | None) -> Any:
    (u, s, v), (u_bar, s_bar, v_bar) = parts, bars
    equal, zero = _coincident(u, s, v)
    turning = skew(dagger(u) @ u_bar) + skew(dagger(v) @ v_bar)
    turns = ~zero[..., None, :]
    values = in_any_basis(f, equal, turn, s_bar, turning, (u, v), (u_bar, v_bar), turns)
    _refuse_null(f, zero, u, v, u_bar, v_bar)
    if np.iscomplexobj(u):
        u_bar, v_bar = _in_phase(f, u, v, u_bar, v_bar)
    of_u, of_v = dagger(u) @ u_bar, dagger(v) @ v_bar
    inner = over(skew(of_u) + skew(of_v), differences(s), equal)
    inner = inner + over(skew(of_u) - skew(of_v), *_sums(s, zero)) + values
    weight = np.where(zero, 0, 1 / np.where(zero, 1, s))[..., None, :]
    bar = u @ inner @ dagger(v)
    if u.shape[-2] > s.shape[-1]:
        bar = bar + ((u_bar - u @ of_u) * weight) @ dagger(v)
    if v.shape[-2] > s.shape[-1]:
        bar = bar + u @ dagger((v_bar - v @ of_v) * weight)
    return bar


def _in_phase(f: Any, u: Any, v: Any, u_bar: Any, v_bar: Any) -> tuple[Any, Any]:
    turn = np.imag(np.sum(np.conj(u) * u_bar, -2) + np.sum(np.conj(v) * v_bar, -2))
    size = squared(u_bar) + squared(v_bar)
    if _turns_v(u, v):
        return u_bar, in_phase(f, v_bar, turn, size, v, row(v, 0))
    return in_phase(f, u_bar, turn, size, u, row(u, 0)), v_bar


def rest_of(f: Any, bar: Any, vectors: Any, k: int) -> Any:
    """Return the cotangent of the first `k` vectors, with that of the others, which follow them."""
    if bar.shape[-1] == k:
        return bar
    first, others, others_bar = vectors[..., :k], vectors[..., k:], bar[..., k:]
    if np.any(np.abs(skew(dagger(others) @ others_bar)) > noise(others_bar)):
        raise undetermined(
            f,
            "the vectors that complete the basis are used, and these may be any basis of the rest",
            "use what does not depend on it, such as q @ q.T of these, or only the first vectors",
        )
    return bar[..., :k] - others @ (dagger(others_bar) @ first)


def _refuse_null(f: Any, zero: Any, u: Any, v: Any, u_bar: Any, v_bar: Any) -> None:
    """Refuse cotangents of undetermined vectors of the value 0: those on the longer side of a
    matrix, and on the left of a square one their phase, which V does not give."""
    if not zero.any():
        return
    vectors, bar = (u, u_bar) if _turns_v(u, v) else (v, v_bar)
    used = np.any(bar != 0, -2)
    if u.shape[-2] == v.shape[-2]:
        turn = np.imag(np.sum(np.conj(vectors) * bar, -2))
        used = np.abs(turn) > rounding(vectors) * np.sqrt(squared(bar))
    if np.any(zero & used):
        raise undetermined(
            f,
            "vectors of a singular value that is zero are used, and these are not determined",
            "use the vectors of the other values only",
        )


def _coincident(u: Any, s: Any, v: Any) -> tuple[Any, Any]:
    """Return which pairs of values are equal, and which values are zero, up to rounding."""
    longest = u if u.shape[-2] > v.shape[-2] else v
    largest = np.max(s, -1, initial=0)
    return equal_pairs(s, largest, longest), s <= rounding(longest) * np.expand_dims(largest, -1)


def _undetermined(u: Any, s: Any, v: Any) -> tuple[Any, Any]:
    """Return which values are equal, and which are zero and have vectors of one side only."""
    equal, zero = _coincident(u, s, v)
    return equal, zero & (u.shape[-2] != v.shape[-2])


def _sums(s: Any, zero: Any) -> tuple[Any, Any]:
    """Return the sums of two singular values, and which are those of two that are `zero`."""
    return s[..., None, :] + s[..., :, None], zero[..., None, :] & zero[..., :, None]


def _turns_v(u: Any, v: Any) -> bool:
    """Return whether LAPACK makes the first components of V real, and not those of U."""
    return bool(u.shape[-2] >= v.shape[-2])


# ---- forward -------------------------------------------------------------------------------------


def singular_dot(parts: tuple[Any, ...], a_dot: Any) -> tuple[Any, tuple[Any, Any, Any]]:
    """Return u, s and vᴴ, and their tangents."""
    u_all, s, v_all = parts[0], parts[1], dagger(parts[2])
    k = s.shape[-1]
    u, v = u_all[..., :k], v_all[..., :k]
    inner = dagger(u) @ a_dot @ v
    equal, zero = _coincident(u, s, v)
    basis = parting_basis(hermitian(inner), equal & ~zero[..., None, :], u)
    if basis is not None:
        u, v, inner = u @ basis, v @ basis, dagger(basis) @ inner @ basis
    sums, none = _sums(s, zero)
    apart = over(hermitian(inner), differences(s), equal)
    apart = apart + between_equals(hermitian(inner), equal, basis)
    together = over(skew(inner), sums, none) + between_equals(skew(inner), none)
    u_dot, v_dot = u @ (apart + together), v @ (apart - together)
    known = np.where(zero, np.nan, s)[..., None, :]
    if u.shape[-2] > k:
        u_dot = u_dot + (a_dot @ v - u @ inner) / known
    if v.shape[-2] > k:
        v_dot = v_dot + (dagger(a_dot) @ u - v @ dagger(inner)) / known
    turn = phased(v_dot, v, row(v, 0)) if _turns_v(u, v) else phased(u_dot, u, row(u, 0))
    u_dot, v_dot = u_dot + turn * u, v_dot + turn * v
    if np.iscomplexobj(u) and u.shape[-2] == v.shape[-2]:  # their phase is not that of V
        u_dot = np.where(zero[..., None, :], np.nan, u_dot)
    s, s_dot = nan_beyond_first_pair(s, *_parting(u, s, v, a_dot))
    y_dot = (
        _completed(u_dot, u, u_all[..., k:]),
        s_dot,
        dagger(_completed(v_dot, v, v_all[..., k:])),
    )
    if basis is None:
        return _like(parts, (parts[0], s, parts[2])), y_dot
    u_all, v_all = (
        np.concatenate([first, every[..., k:]], -1) for first, every in ((u, u_all), (v, v_all))
    )
    return _like(parts, (u_all, s, dagger(v_all))), y_dot


def _completed(dot: Any, first: Any, others: Any) -> Any:
    """Append the tangents of vectors that stay orthogonal to the first ones."""
    if others.shape[-1] == 0:
        return dot
    return np.concatenate([dot, -first @ (dagger(dot) @ others)], -1)


# ---- the rules -----------------------------------------------------------------------------------


@array_rule(np.linalg.svd)
def _(a, full_matrices=True, compute_uv=True, hermitian=False):
    y = np.linalg.svd(a, full_matrices, compute_uv, hermitian)
    y, turn = in_trial_basis(y, hermitian) if compute_uv else (y, None)
    if hermitian:
        return y, _hermitian_back(a, y, compute_uv, turn)

    def svd_back(y_bar):
        if compute_uv:
            u_bar, s_bar, vh_bar = y_bar
            return None, singular_bar(np.linalg.svd, tuple(y), (u_bar, s_bar, vh_bar), turn)
        return None, values_bar(a, y_bar)

    return y, poisoned(svd_back)


@forward_rule(np.linalg.svd)
def _(dots, a, full_matrices=True, compute_uv=True, hermitian=False):
    y = np.linalg.svd(a, full_matrices, compute_uv, hermitian)
    if hermitian:
        return _hermitian_dot(a, y, dots[0], compute_uv)
    if compute_uv:
        return singular_dot(y, dots[0])
    return values_and_dot(a, y, dots[0])


def values_bar(a: Any, s_bar: Any) -> Any:
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return _weighted(u, s, dagger(vh), s_bar)


def _weighted(u: Any, s: Any, v: Any, s_bar: Any) -> Any:
    """U diag(s̄) Vᴴ"""
    weights = nan_beyond_first(s_bar, *_undetermined(u, s, v))[..., None, :]
    return (settled(u, s_bar) * weights) @ dagger(settled(v, s_bar))


def values_and_dot(a: Any, y: Any, a_dot: Any) -> tuple[Any, Any]:
    """Return the singular values, which are `y`, and their tangent."""
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return nan_beyond_first_pair(y, *_parting(u, s, dagger(vh), a_dot))


def _parting(u: Any, s: Any, v: Any, a_dot: Any) -> tuple[Any, Any]:
    """Return the tangents of singular values, one-sided where equal ones part or zeros rise, and
    which of these have vectors that turn."""
    inner = dagger(u) @ a_dot @ v
    equal, zero = _coincident(u, s, v)
    among = equal & ~zero[..., None, :]
    falling, shared = parting(-np.real(diagonal(inner)), -hermitian(inner), among)
    if not zero.any():
        return -falling, shared
    rising, turning = _rising(u, v, a_dot, zero)
    return replaced(-falling, rising, turning), shared | turning


def _rising(u: Any, v: Any, a_dot: Any, zero: Any) -> tuple[Any, Any]:
    """Return how fast values that are zero rise, and which of them have vectors that turn."""
    u_other, v_other = np.where(zero[..., None, :], 0, u), np.where(zero[..., None, :], 0, v)
    rest = a_dot - u_other @ (dagger(u_other) @ a_dot)
    rest = rest - (rest @ v_other) @ dagger(v_other)
    straight = np.where(zero, diagonal(dagger(u) @ a_dot @ v), 0)[..., None, :]
    turning = np.any(np.abs(rest - (u * straight) @ dagger(v)) > noise(a_dot), (-2, -1))
    if not turning.any():
        return np.zeros(zero.shape), np.zeros(zero.shape, bool)
    places = np.where(zero, np.cumsum(zero, -1) - 1, 0)
    found = np.take_along_axis(np.linalg.svd(rest, compute_uv=False), places, -1)
    return found, zero & np.expand_dims(turning, -1)


if hasattr(np.linalg, "svdvals"):

    @array_rule(np.linalg.svdvals, operands="x")
    def _(x, /):
        return np.linalg.svdvals(x), lambda s_bar: (None, values_bar(x, s_bar))

    @forward_rule(np.linalg.svdvals)
    def _(dots, x, /):
        return values_and_dot(x, np.linalg.svdvals(x), dots[0])


# ---- Hermitian matrices --------------------------------------------------------------------------


def _signs(u: Any, vh: Any) -> Any:
    """Return the signs of the eigenvalues behind the singular values: V is U times the signs."""
    return np.sign(np.real(np.sum(np.conj(u) * dagger(vh), -2)))


def _by_size(a: Any) -> tuple[Any, Any]:
    """Return eigenvalues and eigenvectors, the largest in size first."""
    w, v = np.linalg.eigh(a)
    order = np.argsort(np.abs(w))[..., ::-1]
    return np.take_along_axis(w, order, -1), np.take_along_axis(v, order[..., None, :], -1)


def _hermitian_back(a: Any, y: Any, compute_uv: bool, turn: Turn | None) -> Any:
    def values_back(s_bar):
        w, v = _by_size(a)
        bar = eigh_bar(np.linalg.svd, w, v, s_bar * np.sign(w), None, 0)
        return None, to_triangle(bar, False)

    if not compute_uv:
        return values_back

    def vectors_back(y_bar):
        (u, s, vh), (u_bar, s_bar, vh_bar) = y, y_bar
        sign = _signs(u, vh)
        if vh_bar is not None:
            mirrored = dagger(vh_bar) * sign[..., None, :]
            u_bar = mirrored if u_bar is None else u_bar + mirrored
        w_bar = None if s_bar is None else s_bar * sign
        bar = eigh_bar(np.linalg.svd, s * sign, u, w_bar, u_bar, 0, turn)
        return None, to_triangle(bar, False)

    return poisoned(vectors_back)


def _hermitian_dot(a: Any, y: Any, a_dot: Any, compute_uv: bool) -> Any:
    a_dot = from_triangle(a_dot, False)
    if not compute_uv:
        w, v = _by_size(a)
        return y, np.sign(w) * np.real(diagonal(dagger(v) @ a_dot @ v))
    u, s, vh = y
    sign = _signs(u, vh)
    _, u, w_dot, u_dot = eigh_dot(s * sign, u, a_dot, 0)
    y_dot = u_dot, w_dot * sign, dagger(u_dot * sign[..., None, :])
    return _like(y, (u, s, dagger(u * sign[..., None, :]))), y_dot


non_differentiable(_coincident, _rising, _undetermined, _signs)
