"""Covariances in terms of other functions of NumPy: the definitions that programs inline."""

from __future__ import annotations

import numpy as np

from adjoint.fast.evaluate.callees.numpy_definitions import definition


@definition(np.cov)
def cov(m, y=None, rowvar=True, bias=False, ddof=None, *, fweights=None, aweights=None):
    if np.ndim(m) > 2 or (y is not None and (np.ndim(y) > 2 or not rowvar)):
        raise ValueError("variables of another kind")
    x = np.atleast_2d(m)
    if not rowvar and np.ndim(m) > 1:
        x = x.T
    if y is not None:
        x = np.concatenate([x, np.atleast_2d(y)], axis=0)
    if ddof is None:
        ddof = 0 if bias else 1
    if fweights is not None or x.dtype != np.float64:
        raise TypeError("numbers of another kind")
    if aweights is None:
        rest = x.shape[1] - ddof
        centred = weighed = x - np.mean(x, axis=1)[:, None]
    else:
        if aweights.dtype != np.float64 or np.shape(aweights) != x.shape[1:]:
            raise ValueError("weights of another kind")
        total = np.sum(aweights)
        rest = total - ddof * np.sum(aweights * aweights) / total
        centred = x - (np.sum(x * aweights, axis=1) / total)[:, None]
        weighed = centred * aweights
    if rest <= 0:
        raise ValueError("no degrees of freedom")
    c = np.dot(centred, weighed.T) * (1 / rest)
    if np.ndim(m) < 2 and y is None:
        return np.reshape(c, ())
    if x.shape[0] == 1:
        if aweights is None:
            raise ValueError("one variable")
        return np.reshape(c, ())
    return c


@definition(np.corrcoef)
def _corrcoef(x, y=None, rowvar=True):
    c = cov(x, y, rowvar)
    scale = np.sqrt(np.diag(c))
    return np.clip(c / scale[:, None] / scale[None, :], -1, 1)
