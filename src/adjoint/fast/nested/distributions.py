"""Distributions of `scipy.stats` in terms of operations of programs: the definitions that these
inline.

Points outside of a support are left out by masks, whether there are some or none. A multivariate
distribution uses the determinant of a matrix M of full rank and a factor U with U Uᵀ = M⁻¹, which
moves as L⁻ᵀ times a constant, with M = L Lᵀ. The generic tier takes singular matrices.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import _distn_infrastructure, _multivariate

from adjoint.fast.evaluate.callees.numpy_definitions import constant, definition, with_derivative
from adjoint.fast.not_covered import Deoptimize
from adjoint.rulekit.registry import non_differentiable
from adjoint.rules.scipy.equivalents import result_like


@definition(_distn_infrastructure.argsreduce)
def argsreduce(cond, *args):
    """Return the elements of each argument where the condition holds, of one length."""
    *arrays, chosen = np.broadcast_arrays(*args, cond)
    places = np.ravel(chosen) != 0
    return [np.ravel(array)[places] for array in arrays]


@definition(_distn_infrastructure.rv_frozen.__init__)
def frozen(self, dist, *args, **kwds):
    """Keep the distribution itself, of which SciPy makes a copy with a random state of its own."""
    self.args = args
    self.kwds = kwds
    self.dist = dist
    shapes, _, _ = dist._parse_args(*args, **kwds)
    self.a, self.b = dist._get_support(*shapes)


@result_like(lambda M: np.concatenate([M, M[:, :1], M[:, :1]], axis=1))
@non_differentiable
def factors(M: Any) -> Any:
    """Return what SciPy makes of a covariance as columns: U, the logarithm of the determinant, and
    the tolerance for points outside of the support."""
    found = _multivariate._PSD(M)
    if found.rank < len(M) or found.U.dtype != float:
        raise Deoptimize("a covariance that is singular")
    numbers = [np.full((len(M), 1), x) for x in (found.log_pdet, found.eps)]
    return np.concatenate([found.U, *numbers], axis=1)


@result_like(lambda M: np.argmax(M))
@non_differentiable
def rank_of(M: Any) -> Any:
    """Return the rank of a regular matrix."""
    return np.intp(len(M))


@definition(_multivariate._PSD.__init__)
def factored(
    self, M, cond=None, rcond=None, lower=True, check_finite=True, allow_singular=True
):  # fmt: skip
    if cond is not None or rcond is not None or not lower:
        raise ValueError("other options")
    self._M = np.asarray(M)
    found, root = factors(self._M), np.linalg.cholesky(self._M)
    U = found[:, :-2]
    self.U = with_derivative(U, np.linalg.solve(root.T, constant(root.T) @ U))
    self.log_pdet = with_derivative(found[0, -2], 2 * np.sum(np.log(np.diagonal(root))))
    self.eps, self.rank = found[0, -1], rank_of(self._M)
    self.V = np.zeros((len(root), 0))
    self._pinv = None
