"""Statistics of samples of `scipy.stats` in programs of all kinds."""

from __future__ import annotations

import numpy as np
import pytest
import scipy
from scipy import stats

import adjoint as ad
from tests.fast.second_order import check_programs

RNG = np.random.default_rng(0)
X, M = RNG.normal(size=24) + 2.0, RNG.normal(size=(4, 6))
W = np.linspace(0.5, 2.0, 24)

FUNCTIONS = {
    "skew": (lambda x: stats.skew(x * x), X),
    "kurtosis": (lambda x: stats.kurtosis(x * x, bias=False), X),
    "of rows": (lambda x: (stats.skew(x * x, axis=1) ** 2).sum(), M),
    "of columns": (lambda x: (stats.kurtosis(x * x) ** 2).sum(), M),
    "of all": (lambda x: stats.skew(x * x, axis=None), M),
    "sem": (lambda x: stats.sem(x * x) ** 2, X),
    "moment": (lambda x: stats.moment(x * x, 3), X),
    "zscore": (lambda x: (stats.zscore(x * x) ** 3).sum(), X),
    "variation": (lambda x: stats.variation(x * x), X),
    "gmean": (lambda x: stats.gmean(x * x), X),
    "hmean": (lambda x: stats.hmean(x * x), X),
    "pmean": (lambda x: stats.pmean(x * x, 3), X),
    "entropy": (lambda x: stats.entropy(x * x, W), X),
}

if np.lib.NumpyVersion(scipy.__version__) < "1.18.0":  # later ones count by arrays of shapes
    FUNCTIONS["trim_mean"] = (lambda x: stats.trim_mean(x * x, 0.1) ** 2, X)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_programs(name):
    f, x = FUNCTIONS[name]
    check_programs(f, x, 1e-5)
    assert ad.withgradient(f, x)[0] == pytest.approx(f(x), rel=1e-11)


@pytest.mark.skipif(not hasattr(np, "vecdot"), reason="since NumPy 2")
@pytest.mark.parametrize("axis", [-1, 0])
def test_products_of_vectors(axis):
    a = RNG.normal(size=(4, 6))
    check_programs(lambda x: (np.vecdot(x * x, a, axis=axis) ** 2).sum(), RNG.normal(size=(4, 6)))
