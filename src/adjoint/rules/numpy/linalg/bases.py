"""Bases of vectors of equal values in trials of functions that are the same in each basis (see
`adjoint.levels.bases`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from adjoint.errors import NoDerivativeError
from adjoint.levels.bases import Trial, note_missed, trial_now
from adjoint.rulekit.registry import non_differentiable
from adjoint.rules.numpy.linalg.matrices import dagger, diagonal_matrix, noise, skew, undetermined


def among_equals(equal: Any) -> Any:
    """Return which values have an equal one."""
    return np.any(distinct_pairs(equal), -1)


def distinct_pairs(equal: Any) -> Any:
    """Return the pairs of different vectors of equal values."""
    return equal & ~np.eye(equal.shape[-1], dtype=bool)


def shared_vectors(f: Any, equal: Any, is_complex: bool, valued: bool = True) -> NoDerivativeError:
    """Return the error for used vectors of equal values, with the number of rounds of a trial: one
    for each other vector, two if complex."""
    error = undetermined(
        f,
        "vectors of equal values are used, and these may be any basis of their space",
        "use the values alone, or a function of the whole matrix"
        " (solve, inv, matrix_power, pinv), or add a small perturbation that tells them apart",
    )
    most = int(np.max(np.sum(equal, -1), initial=1))
    error.rounds = 1 + (most - 1 + most % 2) * (2 if is_complex else 1) if valued else 1
    return error


# ---- reverse mode --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Turn:
    """The change of basis of vectors of equal values in one run: the matrix on their right, the
    mask `shared` of these vectors, and the pairs that meet in this round (in round 0 none).
    """

    matrix: Any
    shared: Any
    pairs: Any
    trial: Trial

    def measured(self, w_bar: Any, left: Any, right: Any) -> Any:
        """Return the known part of W in the basis of the vectors `left` and `right`; store the
        contribution of the cotangents of values to the next W."""
        if self.trial.round == 0:
            found = w_bar
        else:
            other = np.sum(np.where(self.pairs, w_bar[..., None, :], 0), -1)
            found = np.where(np.any(self.pairs, -1), (w_bar - other) / 2, 0)
        part = (left * np.where(self.shared, found, 0)[..., None, :]) @ dagger(right)
        known = np.linalg.pinv(left) @ self.trial.measure(part) @ dagger(np.linalg.pinv(right))
        return np.where(self.shared[..., None], known, 0)


def turn_of(equal: Any, vectors: Any) -> Turn | None:
    """Return the change of basis in the running trial; None without a trial or `equal` values."""
    trial = trial_now(of_level=False)
    shared = among_equals(equal)
    if trial is None or not shared.any():
        return None
    pairs, phase = _meeting(equal, trial.round, np.iscomplexobj(vectors))
    half = np.sqrt(0.5)
    upper = np.triu(np.ones(pairs.shape[-2:], bool))
    meeting = np.where(pairs, np.where(upper, -np.conj(phase), phase) * half, 0)
    meeting = meeting + diagonal_matrix(np.where(np.any(pairs, -1), half, 1.0))
    return Turn(random_basis(equal, trial.seed, vectors) @ meeting, shared, pairs, trial)


def random_basis(equal: Any, seed: int, vectors: Any) -> Any:
    """Return a unitary matrix that turns vectors of equal values into a random basis, the same for
    every basis of their space."""
    rng = np.random.default_rng(seed)
    directions = rng.normal(size=(vectors.shape[-2], equal.shape[-1]))
    if np.iscomplexobj(vectors):
        directions = directions + 1j * rng.normal(size=directions.shape)
    q, r = np.linalg.qr(np.where(equal, dagger(vectors) @ directions, 0))
    signs = np.diagonal(r, 0, -2, -1)
    mixing = np.where(equal, q * (signs / np.abs(signs))[..., None, :], 0)
    alone = ~among_equals(equal)[..., None]
    return np.where(alone, np.eye(equal.shape[-1]), mixing).astype(vectors.dtype)


def _meeting(equal: Any, number: int, is_complex: bool) -> tuple[Any, Any]:
    """Return which vectors of equal values meet in a round of a tournament, and their phase."""
    size = np.sum(equal, -1)
    days = size - 1 + size % 2
    day, phase = number - 1, 1.0 + 0j if is_complex else 1.0
    if is_complex:
        phase, day = (phase, day // 2) if day % 2 == 0 else (1j, day // 2)
    place = np.sum(equal & np.tri(equal.shape[-1], k=-1, dtype=bool), -1)
    row, column = place[..., :, None], place[..., None, :]
    days = days[..., None]
    total = np.where((size[..., None] % 2 == 0) & (np.maximum(row, column) == days),
                     2 * np.minimum(row, column), row + column)  # fmt: skip
    meets = distinct_pairs(equal) & (total % days == day) & (number > 0)
    return meets, phase


# ---- forward mode --------------------------------------------------------------------------------


def parting_basis(inner: Any, equal: Any, vectors: Any) -> Any:
    """Return, in a trial of forward mode, a unitary matrix that turns vectors of equal values into
    those along which the values part; `inner` is the Hermitian tangent in their basis."""
    trial = trial_now(of_level=True)
    if trial is None or not among_equals(equal).any():
        return None
    start = random_basis(equal, trial.seed, vectors)
    inner = np.where(equal, dagger(start) @ inner @ start, 0)
    size = np.max(np.abs(inner), (-2, -1), initial=0)[..., None]
    group = np.argmax(equal, -1)  # its multiples keep the groups apart
    found = np.linalg.eigh(inner + diagonal_matrix(3 * equal.shape[-1] * size * group))[1]
    places = np.argsort(np.argsort(group, -1, kind="stable"), -1)
    found = np.take_along_axis(found, places[..., None, :], -1)
    return start @ np.where(equal, found, 0)


def between_equals(inner: Any, equal: Any, basis: Any = None) -> Any:
    """Return how vectors of equal values turn into one another in forward mode.

    The rate is 0 if `inner` does not couple them, else NaN. In the `basis` of a trial the rate must
    not matter, so it is random.
    """
    trial = trial_now(of_level=True)
    if trial is not None and basis is not None:
        rng = np.random.default_rng(trial.seed)
        size = np.max(np.abs(inner), (-2, -1), keepdims=True, initial=0)
        return np.where(distinct_pairs(equal), skew(rng.normal(size=equal.shape)) * size, 0)
    unknown = distinct_pairs(equal) & (np.abs(inner) > noise(inner))
    if unknown.any():
        note_missed()
    return np.where(unknown, np.nan, 0)


non_differentiable(among_equals, distinct_pairs, between_equals, parting_basis, turn_of)
