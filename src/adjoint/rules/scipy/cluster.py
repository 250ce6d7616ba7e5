"""Derivatives of the compiled functions of `scipy.cluster.vq`, at the assignment that they find."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.cluster import vq

from adjoint.rulekit.registry import non_differentiable
from adjoint.rules.scipy.equivalents import carried

_compiled: Any = vq._vq


@non_differentiable
def _nearest(obs: Any, code_book: Any) -> Any:
    return _compiled.vq(obs, code_book)[0]


@carried(_compiled.vq)
def _codes_and_distances(obs: Any, code_book: Any) -> Any:
    code = _nearest(obs, code_book)
    gap = obs - code_book[code]
    return code, np.sqrt(gap * gap if np.ndim(obs) == 1 else np.sum(gap * gap, axis=1))


@carried(_compiled.update_cluster_means)
def _means(obs: Any, labels: Any, nc: Any) -> Any:
    counts = np.bincount(labels, minlength=nc)
    sums = np.zeros((nc, *np.shape(obs)[1:]), obs.dtype)
    np.add.at(sums, labels, obs)
    shape = (nc,) + (1,) * (np.ndim(obs) - 1)
    return sums / np.reshape(np.maximum(counts, 1), shape), counts > 0
