"""Objects of libraries in programs: what happens with them is left to the generic tier."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime

import adjoint as ad
from adjoint.fast.programs import store
from tests.fast import library_objects as user
from tests.fast.agreeing import generic_tier

X = np.array([0.3, 0.9, 0.55, 1.4, 0.8, 0.62])
ALL = [
    user.of_a_series,
    user.of_columns,
    user.with_one_from_outside,
    user.in_place,
    user.item_by_item,
    user.row_by_row,
    user.in_a_branch,
    user.chosen_by_length,
    user.in_a_loop,
    user.out_and_in_again,
    user.of_two_tables,
    user.of_groups,
    user.with_a_function,
    user.of_lengths,
    user.of_scaled_rows,
    user.with_a_dict,
    user.of_a_mask,
    user.written_in_a_branch,
    user.changed_in_a_loop,
]
LEFT = [
    user.written_while_held,
    user.written_through_an_object,
    user.shown_and_written,
    user.list_written_while_held,
]


@pytest.fixture(autouse=True)
def _none_kept():
    store.forget()


@pytest.mark.parametrize("f", ALL, ids=lambda f: f.__name__)
def test_gradients(f):
    y, (bar,) = ad.withgradient(f, X)
    assert ad.tier(f, X).tier == "fast", ad.tier(f, X)
    np.testing.assert_allclose(y, f(X))
    np.testing.assert_allclose(bar, approx_fprime(X, f, 1e-7), rtol=1e-4, atol=1e-5)
    with generic_tier():
        np.testing.assert_allclose(bar, ad.gradient(f, X)[0], rtol=1e-12)
    np.testing.assert_allclose(
        ad.gradient(f, X * 1.1)[0], approx_fprime(X * 1.1, f, 1e-7), rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize("f", ALL, ids=lambda f: f.__name__)
def test_second_derivatives_and_tangents(f):
    v = np.cos(np.arange(6.0))
    y, y_dot = ad.pushforward(f, (X,), (v,))
    product = ad.hvp(f, X, v)
    with generic_tier():
        again, dot = ad.pushforward(f, (X,), (v,))
        found = ad.hvp(f, X, v)
    np.testing.assert_allclose((y, y_dot), (again, dot), rtol=1e-12)
    np.testing.assert_allclose(product, found, rtol=1e-10, atol=1e-12)
    h = 1e-6
    step = (ad.gradient(f, X + h * v)[0] - ad.gradient(f, X - h * v)[0]) / (2 * h)
    np.testing.assert_allclose(product, step, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("f", LEFT, ids=lambda f: f.__name__)
def test_writes_that_are_left_to_the_generic_tier(f):
    (bar,) = ad.gradient(f, X)
    assert ad.tier(f, X).tier == "generic"
    np.testing.assert_allclose(bar, approx_fprime(X, f, 1e-7), rtol=1e-4, atol=1e-5)
