"""Vectors of equal values, and determinants of singular matrices: what their rules say in programs.

A program is for eigenvalues and singular values that differ from each other. It leaves the call to
the generic tier where vectors of equal values are used, since these have derivatives only in
several runs (`adjoint.levels.bases`), and where a determinant is nearly zero.
"""

from __future__ import annotations

import math

import numpy as np

from adjoint.fast.evaluate.callees.numpy_definitions import definition
from adjoint.fast.not_covered import Deoptimize
from adjoint.rulekit.registry import non_differentiable
from adjoint.rules.numpy.linalg import bases, determinants, gauges, singular
from adjoint.rules.numpy.linalg.bases import turn_of
from adjoint.rules.numpy.linalg.matrices import dagger, diagonal, diagonal_matrix
from adjoint.rules.scipy.equivalents import result_like


@result_like(lambda equal: np.any(equal))
@non_differentiable
def are_some(equal):
    """Return whether two values are equal, by the mask of equal values."""
    return np.bool_(np.count_nonzero(equal) > math.prod(equal.shape[:-1]))


@result_like(lambda equal, vectors: np.any(equal))
@non_differentiable
def are_turned(equal, vectors):
    """Return whether a trial turns the vectors of equal values."""
    return np.bool_(turn_of(equal, vectors) is not None)


def demand_unequal(equal):
    """Leave the program if two values are equal."""
    if are_some(equal):
        raise ValueError("equal values")


@definition(turn_of)
def _turn_of(equal, vectors):
    if are_turned(equal, vectors):
        raise ValueError("vectors of equal values in a trial")
    return None


@definition(gauges.in_any_basis)
def _in_any_basis(f, equal, turn, w_bar, turning, vectors, bars, turns=True):
    demand_unequal(equal)
    return 0.0 if w_bar is None else diagonal_matrix(w_bar)


@definition(bases.parting_basis)
def _parting_basis(inner, equal, vectors):
    demand_unequal(equal)
    return None


@definition(bases.between_equals)
def _between_equals(inner, equal, basis=None):
    demand_unequal(equal)
    return 0.0


@definition(gauges.parting)
def _parting(w_dot, inner, equal, values_of=np.linalg.eigvalsh):
    demand_unequal(equal)
    return w_dot, None


@definition(singular._parting)
def _singular_parting(u, s, v, a_dot):
    equal, zero = singular._coincident(u, s, v)
    demand_unequal(equal)
    if np.any(zero):
        raise ValueError("values that are zero")
    return np.real(diagonal(dagger(u) @ a_dot @ v)), None


@definition(gauges.nan_beyond_first_pair)
def _nan_beyond_first_pair(w, w_dot, shared):
    return w, w_dot


@definition(determinants.adjugate)
def _adjugate(a):
    return _left(a)


@result_like(lambda a: a)
@non_differentiable
def _left(a):
    """Leave the program, which has no adjugate of a matrix that is nearly singular."""
    raise Deoptimize("a matrix that is nearly singular")
