"""Shapes of arrays that are assigned, which newer versions of NumPy warn of."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from tests.levels import check_forward, check_tape
from tests.support import Sample, check_sample

X = np.array([0.3, 0.8, 1.4, -0.6])


def of_a_result(x):
    y = x * x
    v = y[:2]
    before = y.sum()
    y.shape = (2, 2)
    between = y[0] * x[:2]
    y[1] *= x[0]
    y.shape = 4
    y.shape = (4, 1)
    v[0] *= 3
    return before * np.sum(between) * np.sum(y * y)


def of_the_argument(x):
    before = x.sum()
    x.shape = (2, 2)
    x[0] *= 2
    return np.sum(x[0] * x[1]) * before


def of_a_view(x):
    y = x.copy()
    v = y[:]
    v.shape = (2, 2)
    v[0, 1] = x[3] ** 2
    s = (v @ v).sum()
    v.shape = -1
    return s * v[1] * y[1]


@pytest.mark.parametrize("f", [of_a_result, of_the_argument, of_a_view])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_assigned(f):
    check_sample(Sample(f, (X,)))
    check_forward(Sample(f, (X,)))


@pytest.mark.parametrize("f", [of_a_result, of_a_view])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_where_operations_are_kept(f):
    check_tape(Sample(f, (X,)))
    _, push = ad.linearize(f, X)
    (bar,) = ad.gradient(f, X)
    for dot in (X, np.ones(4), X):
        np.testing.assert_allclose(push(dot), bar @ dot)
    hessian = ad.hessian(f, X)
    np.testing.assert_allclose(hessian, ad.jacobian_reverse(ad.grad(f), X), rtol=1e-9)
    np.testing.assert_allclose(hessian, hessian.T, rtol=1e-9)
