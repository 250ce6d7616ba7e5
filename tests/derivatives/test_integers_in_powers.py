"""Second derivatives of powers in integer exponents, which are real like any argument."""

from __future__ import annotations

import operator

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.programs import store
from tests.structures import difference


@pytest.fixture(params=["fast", "generic"], autouse=True)
def _tier(request):
    before, store.is_enabled[0] = store.is_enabled[0], request.param == "fast"
    yield
    store.is_enabled[0] = before


@pytest.mark.parametrize("n", [0, 1, 2, 3, -1])
@pytest.mark.parametrize("power", [operator.pow, np.power, pow, lambda x, n: x ** (n + 0)])
def test_as_in_floats(power, n):
    assert (
        difference(ad.hessian(power, 2.1, n), ad.hessian(power, 2.1, float(n)), rtol=1e-12) is None
    )
    slope = ad.grad(power)
    by_n = (slope(2.1, n + 1e-5) - slope(2.1, n - 1e-5)) / 2e-5
    for found in (
        ad.pushforward(slope, (2.1, n), (0.0, 1.0))[1],
        ad.grad(lambda x, n: slope(x, n), 1)(2.1, n),
    ):
        np.testing.assert_allclose(found, by_n, rtol=1e-8)


def test_of_arrays():
    x = np.array([2.1, 0.5])
    found = ad.grad(lambda n: np.sum(ad.grad(lambda x: np.sum(x**n))(x)))(2)
    np.testing.assert_allclose(found, np.sum(x + 2 * x * np.log(x)), rtol=1e-12)
