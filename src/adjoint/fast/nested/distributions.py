"""Distributions of `scipy.stats` in terms of operations of programs: the definitions that these
inline.

Points outside of a support are left out by masks, whether there are some or none. A multivariate
distribution uses the determinant of a matrix M of full rank and a factor U with U Uᵀ = M⁻¹, here
the inverse of Cholesky's. The generic tier takes singular matrices.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg
from scipy.stats import _distn_infrastructure, _multivariate

from adjoint.fast.evaluate.callees.definitions import definition
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


@result_like(lambda M: M[0, 0])
@non_differentiable
def tolerance_of(M: Any) -> Any:
    """Return the eigenvalue up to which SciPy takes a covariance for singular, which it is not."""
    s = linalg.eigvalsh(M)
    eps = np.float64(_multivariate._eigvalsh_to_eps(s, None, None))
    if not s.min() > eps:
        raise Deoptimize("a covariance that is singular")
    return eps


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
    self.eps = 1e3 * tolerance_of(self._M)
    root = np.linalg.cholesky(self._M)
    self.U = np.linalg.inv(root).T
    self.V = np.zeros((len(root), 0))
    self.rank = rank_of(self._M)
    self.log_pdet = 2 * np.sum(np.log(np.diagonal(root)))
    self._pinv = None
