"""Rules of eigenvalues and eigenvectors.

Formulas: Giles (2008), section 3.1, for general matrices; Boeddeker et al., *On the computation of
complex-valued gradients with application to statistically optimum beamforming* (2017), section
4.2, and Seeger et al., *Auto-differentiating linear algebra* (2017), for Hermitian ones. Phases,
and vectors of equal eigenvalues: see `gauges`. Of a Hermitian matrix NumPy reads one triangle only,
so the cotangent of the other one is zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.rulekit.registry import non_differentiable
from adjoint.rules.numpy.linalg.bases import Turn, between_equals, parting_basis, turn_of
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
    refuse_shared,
    row,
    settled,
    squared,
)
from adjoint.rules.numpy.linalg.matrices import (
    dagger,
    diagonal,
    diagonal_matrix,
    from_triangle,
    poisoned,
    skew,
    to_triangle,
    undetermined,
)
from adjoint.rules.numpy.operands import array_rule

# ---- Hermitian matrices --------------------------------------------------------------------------


def equal_values(w: Any, v: Any) -> Any:
    return equal_pairs(w, np.max(np.abs(w), -1, initial=0), v)


def eigh_bar(
    f: Any, w: Any, v: Any, w_bar: Any, v_bar: Any, pivot: Any, turn: Turn | None = None
) -> Any:
    """ā = V (diag(w̄) + skew(Vᴴ V̄) / (w_j − w_i)) Vᴴ, Hermitian; the eigenvalues in any order."""
    equal = equal_values(w, v)
    if v_bar is None:
        v = settled(v, w_bar)
        return (v * nan_beyond_first(w_bar, equal)[..., None, :]) @ dagger(v)
    turning = skew(dagger(v) @ v_bar)
    values = in_any_basis(f, equal, turn, w_bar, turning, (v, v), (v_bar,))
    if np.iscomplexobj(v):
        turn = np.imag(np.sum(np.conj(v) * v_bar, -2))
        v_bar = in_phase(f, v_bar, turn, squared(v_bar), v, row(v, pivot))
    inner = over(skew(dagger(v) @ v_bar), differences(w), equal) + values
    return v @ inner @ dagger(v)


def eigh_dot(w: Any, v: Any, a_dot: Any, pivot: Any) -> tuple[Any, Any, Any, Any]:
    """Return w, V, ẇ and V̇ for a Hermitian tangent."""
    inner = dagger(v) @ a_dot @ v
    equal = equal_values(w, v)
    if (basis := parting_basis(inner, equal, v)) is not None:
        v, inner = v @ basis, dagger(basis) @ inner @ basis
    v_dot = v @ (over(inner, differences(w), equal) + between_equals(inner, equal, basis))
    w, w_dot = nan_beyond_first_pair(w, *parting(np.real(diagonal(inner)), inner, equal))
    return w, v, w_dot, v_dot + phased(v_dot, v, row(v, pivot)) * v


def _upper(uplo: str) -> bool:
    return uplo.upper() == "U"


def _pivot(upper: bool) -> int:
    return -1 if upper else 0


@array_rule(np.linalg.eigh)
def _(a, UPLO="L"):
    y, upper = np.linalg.eigh(a, UPLO), _upper(UPLO)
    w, v = y
    if (turn := turn_of(equal_values(w, v), v)) is not None:
        v = v @ turn.matrix
        y = type(y)(w, v)

    def eigh_back(y_bar):
        w_bar, v_bar = y_bar
        a_bar = eigh_bar(np.linalg.eigh, w, v, w_bar, v_bar, _pivot(upper), turn)
        return None, to_triangle(a_bar, upper)

    return y, poisoned(eigh_back)


@forward_rule(np.linalg.eigh)
def _(dots, a, UPLO="L"):
    y, upper = np.linalg.eigh(a, UPLO), _upper(UPLO)
    w, v, w_dot, v_dot = eigh_dot(y[0], y[1], from_triangle(dots[0], upper), _pivot(upper))
    return type(y)(w, v), (w_dot, v_dot)


@array_rule(np.linalg.eigvalsh)
def _(a, UPLO="L"):
    upper = _upper(UPLO)

    def eigvalsh_back(w_bar):
        w, v = np.linalg.eigh(a, UPLO)
        return None, to_triangle(eigh_bar(np.linalg.eigvalsh, w, v, w_bar, None, 0), upper)

    return np.linalg.eigvalsh(a, UPLO), eigvalsh_back


@forward_rule(np.linalg.eigvalsh)
def _(dots, a, UPLO="L"):
    w, v = np.linalg.eigh(a, UPLO)
    inner = dagger(v) @ from_triangle(dots[0], _upper(UPLO)) @ v
    equal = equal_values(w, v)
    return nan_beyond_first_pair(
        np.linalg.eigvalsh(a, UPLO), *parting(np.real(diagonal(inner)), inner, equal)
    )


# ---- general matrices ----------------------------------------------------------------------------


def inverse_of_vectors(f: Any, v: Any) -> Any:
    """Return V⁻¹; refuse dependent eigenvectors, whose eigenvalues have no finite derivative."""
    _demand_independent(f, v)
    return np.linalg.inv(v)


def _demand_independent(f: Any, v: Any) -> None:
    if v.size and np.linalg.cond(v, 1).max() > 1e-3 / np.finfo(v.dtype).eps:
        raise undetermined(
            f,
            "the matrix is defective, its eigenvectors are linearly dependent",
            "at such a matrix eigenvalues have no finite derivative; perturb it",
        )


def _largest(v: Any) -> Any:
    """Return the mask of the largest component of each vector, which LAPACK makes real."""
    if not v.size:
        return np.zeros(v.shape, bool)
    size = np.where(v.imag == 0, np.abs(v), -1)
    return np.arange(v.shape[-2])[:, None] == np.argmax(size, -2)[..., None, :]


def _equal(a: Any, w: Any, v: Any) -> Any:
    return equal_pairs(w, np.sqrt(np.sum(np.abs(a) ** 2, (-2, -1))), v)


def eig_bar(f: Any, a: Any, w: Any, v: Any, w_bar: Any, v_bar: Any) -> Any:
    """ā = V⁻ᴴ (diag(w̄) + Vᴴ V̄ / (w_j − w_i)*) Vᴴ, without the part of V̄ that changes lengths."""
    inverse, equal = inverse_of_vectors(f, v), _equal(a, w, v)
    if w_bar is not None and v_bar is None:
        w_bar = nan_beyond_first(w_bar, equal)
    inner = 0 if w_bar is None else diagonal_matrix(w_bar)
    if v_bar is not None:
        refuse_shared(f, equal, w_bar, v_bar, orthogonal=False)
        along = np.sum(np.conj(v) * v_bar, -2)
        v_bar = in_phase(f, v_bar, np.imag(along), squared(v_bar), v, _largest(v))
        v_bar = v_bar - v * np.real(along)[..., None, :]
        inner = inner + over(dagger(v) @ v_bar, np.conj(differences(w)), equal)
    return dagger(inverse) @ inner @ dagger(v)


@array_rule(np.linalg.eig)
def _(a):
    y = np.linalg.eig(a)
    w, v = y

    def eig_back(y_bar):
        w_bar, v_bar = y_bar
        return None, eig_bar(np.linalg.eig, a, w, v, w_bar, v_bar)

    return y, poisoned(eig_back)


def values_and_dot(f: Any, a: Any, w: Any, v: Any, a_dot: Any) -> tuple[Any, Any]:
    """Return w and ẇ."""
    inner, equal = inverse_of_vectors(f, v) @ a_dot @ v, _equal(a, w, v)
    return nan_beyond_first_pair(w, *parting(diagonal(inner), inner, equal, np.linalg.eigvals))


def eig_dot(f: Any, a: Any, w: Any, v: Any, a_dot: Any) -> tuple[Any, Any, Any]:
    """Return w, ẇ and V̇, for vectors that keep their length."""
    inner = inverse_of_vectors(f, v) @ a_dot @ v
    equal = _equal(a, w, v)
    v_dot = v @ (over(inner, differences(w), equal) + between_equals(inner, equal))
    v_dot = v_dot - v * np.real(np.sum(np.conj(v) * v_dot, -2))[..., None, :]
    w, w_dot = values_and_dot(f, a, w, v, a_dot)
    return w, w_dot, v_dot + phased(v_dot, v, _largest(v)) * v


@forward_rule(np.linalg.eig)
def _(dots, a):
    y = np.linalg.eig(a)
    w, w_dot, v_dot = eig_dot(np.linalg.eig, a, y[0], y[1], dots[0])
    return type(y)(w, y[1]), (w_dot, v_dot)


def vectors_of(a: Any, w: Any) -> Any:
    """Return the eigenvectors in the order of eigenvalues that were computed without them."""
    found, v = np.linalg.eig(a)
    return np.take_along_axis(v, _matched(w, found)[..., None, :], -1)


def _matched(w: Any, found: Any) -> Any:
    """Return for each of `w` the place of the nearest value in `found`, each place once."""
    distance = np.abs(w[..., :, None] - found[..., None, :])
    order = np.empty(w.shape, np.intp)
    for i in range(w.shape[-1]):
        nearest = np.argmin(distance[..., i, :], -1)[..., None]
        order[..., i] = nearest[..., 0]
        np.put_along_axis(distance, nearest[..., None], np.inf, -1)
    return order


@array_rule(np.linalg.eigvals)
def _(a):
    w = np.linalg.eigvals(a)

    def eigvals_back(w_bar):
        return None, eig_bar(np.linalg.eigvals, a, w, vectors_of(a, w), w_bar, None)

    return w, poisoned(eigvals_back)


@forward_rule(np.linalg.eigvals)
def _(dots, a):
    w = np.linalg.eigvals(a)
    return values_and_dot(np.linalg.eigvals, a, w, vectors_of(a, w), dots[0])


non_differentiable(equal_values, _demand_independent, _largest, _equal, _matched)
