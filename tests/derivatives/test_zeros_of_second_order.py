"""Second derivatives that are zero have the classes and the precision of the point."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.programs import store

ONE, TWO = np.float32(1.0), np.float32(2.0)
FUNCTIONS = {
    "linear": lambda x: 2 * x[0] + x[1],
    "constant": lambda x: 3.0,
    "one of two": lambda x: x[0] ** 2,
}
OPERATORS = {
    "hvp": lambda f, x: ad.hvp(f, x, [ONE, ONE]),
    "hvp with doubles": lambda f, x: ad.hvp(f, x, [1.0, 0.5]),
    "hvp with nothing": lambda f, x: ad.hvp(f, x, None),
    "vhp": lambda f, x: ad.vhp(f, x, [ONE, ONE]),
    "hessian": lambda f, x: [part for row in ad.hessian(f, x) for part in row],
    "hessian_diagonal": ad.hessian_diagonal,
}


@pytest.mark.parametrize("is_fast", [True, False])
@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_single_precision_in_a_list(function, operator, is_fast, monkeypatch):
    monkeypatch.setattr(store, "is_enabled", [is_fast])
    found = OPERATORS[operator](FUNCTIONS[function], [ONE, TWO])
    assert {type(part) for part in found} == {np.float32}
    if function != "one of two":
        assert all(part == 0.0 for part in found)


def test_arrays_in_single_precision(monkeypatch):
    for is_fast in (True, False):
        monkeypatch.setattr(store, "is_enabled", [is_fast])
        (found,) = ad.hessian_diagonal(lambda x: np.sum(x[0]), [np.ones(3, np.float32)])
        assert found.dtype == np.float32 and found.tolist() == [0.0, 0.0, 0.0]
        assert type(ad.hessian_diagonal(lambda x: 2 * x, 1.0)) is float


def test_second_derivatives_through_an_extremum_of_many_elements():
    def f(x):
        v = x * x.max()
        return np.tanh(v).sum() * v[0]

    x, step = np.linspace(-1.0, 1.0, 1500), 1e-5 * np.ones(1500)
    difference = (ad.gradient(f, x + step)[0] - ad.gradient(f, x - step)[0]) / 2e-5
    before, store.is_enabled[0] = store.is_enabled[0], False
    try:
        found = ad.hvp(f, x, np.ones(1500))
    finally:
        store.is_enabled[0] = before
    np.testing.assert_allclose(found, difference, rtol=1e-6, atol=1e-6)
