"""Second derivatives of products one of whose factors is small: polynomials, exact to the last
digits."""

from __future__ import annotations

import math

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.programs import store

V = np.array([0.3, 1.0, -0.6, 0.2])
PRODUCTS = {
    "prod": np.prod,
    "nanprod": np.nanprod,
    "cumprod": lambda x: np.cumprod(x)[-1],
    "nancumprod": lambda x: np.nancumprod(x)[-1],
    "of products": lambda x: np.prod(np.prod(np.reshape(x, (2, 2)), axis=0)),
}


@pytest.mark.parametrize("is_fast", [True, False])
@pytest.mark.parametrize("small", [1e-20, 1e-12, 1e-3, 0.5])
@pytest.mark.parametrize("name", PRODUCTS)
def test_against_a_product_of_numbers(name, small, is_fast):
    f, x = PRODUCTS[name], np.array([small, 1.0, 2.0, 3.0])
    before, store.is_enabled[0] = store.is_enabled[0], is_fast
    try:
        found = ad.hvp(f, x, V)
        twice = ad.pushforward(lambda x: ad.pushforward(f, (x,), (V,))[1], (x,), (V,))[1]
    finally:
        store.is_enabled[0] = before
    expected = ad.hvp(lambda x: math.prod([x[0], x[1], x[2], x[3]]), x, V)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_allclose(twice, expected @ V, rtol=1e-10)
