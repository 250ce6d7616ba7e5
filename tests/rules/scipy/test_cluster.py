"""Rules of `scipy.cluster.vq`: distances, means and k-means, in all modes."""

import numpy as np
import pytest
from scipy.cluster import vq

from adjoint.testing import check_gradient

RNG = np.random.default_rng(0)
X, LINE = RNG.normal(size=(20, 2)), RNG.normal(size=12)
C = X[:3] + 0.1

FUNCTIONS = {
    "distances": (lambda x, c: (vq.vq(x, c)[1] ** 2).sum() + vq.vq(x, c)[1].sum(), (X, C)),
    "of a line": (lambda x, c: vq.vq(x, c)[1].sum(), (LINE, LINE[:2] + 0.1)),
    "kmeans": (lambda x: (vq.kmeans(x, C)[0] ** 3).sum(), (X,)),
    "distortion": (lambda x: vq.kmeans(x, C)[1], (X,)),
    "kmeans2": (lambda x: (vq.kmeans2(x, C, minit="matrix")[0] ** 3).sum(), (X,)),
    "whiten": (lambda x: (vq.whiten(x) ** 3).sum(), (X,)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives(name):
    f, args = FUNCTIONS[name]
    check_gradient(f, *args)
