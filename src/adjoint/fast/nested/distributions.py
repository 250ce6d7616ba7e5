"""Distributions of `scipy.stats` in terms of operations of programs: the definitions that these
inline.

Points outside of a support are left out by masks, whether there are some or none. A multivariate
distribution uses the determinant of a matrix M of full rank and a factor U with U Uᵀ = M⁻¹, which
moves as L⁻ᵀ times a constant, with M = L Lᵀ. The generic tier takes singular matrices.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import linalg
from scipy.stats import _distn_infrastructure, _kde, _multivariate, gaussian_kde

from adjoint.fast.evaluate.callees.numpy_definitions import constant, definition, with_derivative
from adjoint.fast.not_covered import Deoptimize
from adjoint.rulekit.registry import non_differentiable
from adjoint.rules.scipy.equivalents import result_like
from adjoint.rules.scipy.kernels import estimated


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


@definition(_distn_infrastructure.rv_generic.entropy)
def entropy(self, *args, **kwds):
    """Return the entropy for parameters that are numbers; SciPy vectorises it."""
    shapes, _, scale = _numbers(self, args, kwds)
    found = self._entropy(*(np.reshape(np.asarray(x, float), 1) for x in shapes))
    return (found[0] if np.ndim(found) else np.float64(found)) + np.log(scale)


def _numbers(self, args, kwds):
    """Return the parameters of a distribution, which have to be numbers."""
    shapes, loc, scale = self._parse_args(*args, **kwds)
    if any(np.ndim(x) for x in (*shapes, loc, scale)):
        raise TypeError("parameters that are arrays")
    if not (scale > 0 and self._argcheck(*shapes)):
        raise ValueError("parameters outside of their domain")
    return shapes, loc, scale


def _moment(self, letter, args, kwds):
    """Return the mean ("m") or the variance ("v") for parameters that are numbers."""
    shapes, loc, scale = _numbers(self, args, kwds)
    given = [np.reshape(np.asarray(x), 1) for x in shapes]
    options = {"moments": letter} if self._stats_has_moments else {}
    mean, variance, _, _ = self._stats(*given, **options)
    known = mean if letter == "m" else variance
    if known is None:
        raise ValueError("a moment that is an integral")
    found = known[0] if np.ndim(known) else known
    return np.float64(found * scale + loc if letter == "m" else found * scale * scale)


@definition(_distn_infrastructure.rv_generic.mean)
def mean(self, *args, **kwds):
    return _moment(self, "m", args, kwds)


@definition(_distn_infrastructure.rv_generic.var)
def var(self, *args, **kwds):
    return _moment(self, "v", args, kwds)


@definition(_distn_infrastructure.rv_generic.std)
def std(self, *args, **kwds):
    return np.sqrt(_moment(self, "v", args, kwds))


def _quantile(self, inverse, q, args, kwds):
    """Return the point of each probability, none of which is 0 or 1: there it may be infinite."""
    shapes, loc, scale = self._parse_args(*args, **kwds)
    given = [*map(np.asarray, (q, *shapes, loc, scale))]
    q, *shapes, loc, scale = np.broadcast_arrays(*given)
    if not np.all(self._argcheck(*shapes) & (scale > 0) & (loc == loc) & (0 < q) & (q < 1)):
        raise ValueError("a probability or a parameter outside of its domain")
    found = inverse(*map(np.ravel, (q, *shapes))) * np.ravel(scale) + np.ravel(loc)
    if found.dtype != np.float64:
        raise TypeError("numbers of another precision")
    return np.reshape(found, q.shape) if q.ndim else found[0]


@definition(_distn_infrastructure.rv_continuous.ppf)
def ppf(self, q, *args, **kwds):
    return _quantile(self, self._ppf, q, args, kwds)


@definition(_distn_infrastructure.rv_continuous.isf)
def isf(self, q, *args, **kwds):
    return _quantile(self, self._isf, q, args, kwds)


def _without_state(self, seed=None):
    """Make a distribution without the random state and the text that SciPy gives it."""
    if seed is not None:
        raise ValueError("a random state")


for _cls in (_multivariate.multivariate_normal_gen, _multivariate.multivariate_t_gen):
    definition(_cls.__init__)(_without_state)


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


# ---- density estimates ---------------------------------------------------------------------------


def _places(self, points):
    """Return the places of an estimate as columns."""
    x = np.atleast_2d(np.asarray(points))
    d = self.dataset.shape[0]
    if x.shape[0] != d:
        if x.shape[0] != 1 or x.shape[1] != d:
            raise ValueError("points of another dimension")
        x = np.reshape(x, (d, 1))
    for one in (x, self.dataset, self.covariance, self.weights):
        if one.dtype != np.float64:
            raise TypeError("numbers of another precision")
    return x


def _logarithms(self, x):
    """Return the logarithm of each kernel (column) at each place (row), but for their factor; and
    the logarithm of that."""
    centres = linalg.solve_triangular(self.cho_cov, self.dataset, lower=True)
    places = linalg.solve_triangular(self.cho_cov, x, lower=True)
    d = self.dataset.shape[0]
    if d == 1:
        gap = places[0][:, None] - centres[0]
        squares = gap * gap
    else:
        gaps = places[:, :, None] - centres[:, None, :]
        squares = np.sum(gaps * gaps, axis=0)
    factor = -d / 2 * math.log(2 * math.pi) - np.sum(np.log(np.diagonal(self.cho_cov)))
    return -squares / 2, factor


def _vecdot(x1, x2, /, *, axis=-1):
    if axis != -1:
        raise ValueError("another axis")
    return np.vecdot(x1, x2)


if hasattr(_kde, "np_vecdot") and hasattr(np, "vecdot"):
    definition(_kde.np_vecdot)(_vecdot)


@definition(gaussian_kde.evaluate)
def _density(self, points):
    x = _places(self, points)
    value = estimated(self.dataset.T, self.weights, x.T, self.cho_cov, False)
    logarithms, factor = _logarithms(self, x)
    return with_derivative(value, (np.exp(logarithms) @ self.weights) * np.exp(factor))


@definition(gaussian_kde.logpdf)
def _log_density(self, x):
    at = _places(self, x)
    value = estimated(self.dataset.T, self.weights, at.T, self.cho_cov, True)
    logarithms, factor = _logarithms(self, at)
    top = constant(np.max(logarithms, axis=1))
    total = np.exp(logarithms - top[:, None]) @ self.weights
    return with_derivative(value, np.log(total) + top + factor)
