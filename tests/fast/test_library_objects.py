"""Objects of libraries in programs: what happens with them is left to the generic tier."""

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import approx_fprime
from sklearn import metrics

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
]
LEFT = [
    user.written_while_held,
    user.written_through_an_object,
    user.shown_and_written,
    user.list_written_while_held,
    user.changed_in_a_loop,
    user.joined_and_written,
    user.of_no_time,
    user.with_a_function_that_stores,
    user.kept_outside,
    user.written_outside,
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
def test_what_is_left_to_the_generic_tier(f):
    (bar,) = ad.gradient(f, X)
    assert ad.tier(f, X).tier == "generic"
    np.testing.assert_allclose(bar, approx_fprime(X, f, 1e-7), rtol=1e-4, atol=1e-5)


def test_effects_happen_once_for_each_call():
    for _ in range(3):
        user.CALLED.clear()
        ad.gradient(user.with_a_function_that_stores, X)
        assert len(user.CALLED) == len(X)
        user.KEPT.clear()
        ad.gradient(user.kept_outside, X)
        assert len(user.KEPT) == 1
    assert type(user.TABLE["a"]) is type(user.SCALE)


def test_generators_of_random_numbers_are_left_alone():
    np.random.seed(3)  # noqa: NPY002
    expected = user.drawn(X)
    np.random.seed(3)  # noqa: NPY002
    assert ad.withgradient(user.drawn, X).value == expected


def test_programs_read_objects_from_outside_in_each_call():
    before = ad.gradient(user.with_one_from_outside, X)[0]
    user.SCALE.iloc[2] *= 2.0
    try:
        after = ad.gradient(user.with_one_from_outside, X)[0]
        assert ad.tier(user.with_one_from_outside, X).tier == "fast"
        with generic_tier():
            again = ad.gradient(user.with_one_from_outside, X)[0]
    finally:
        user.SCALE.iloc[2] /= 2.0
    np.testing.assert_allclose(after, again, rtol=1e-12)
    assert not np.allclose(before, after)


def test_names_of_other_functions_of_libraries():
    user.metric = metrics.mean_squared_error
    first = ad.gradient(user.of_a_metric, X)[0]
    user.metric = metrics.mean_absolute_error
    second = ad.gradient(user.of_a_metric, X)[0]
    np.testing.assert_allclose(first, 2 * (X - X[::-1]) / 6 * 2, rtol=1e-12)
    np.testing.assert_allclose(second, np.sign(X - X[::-1]) / 6 * 2, rtol=1e-12)


def _statistic(test):
    def of(x, test=test):
        return test(x, np.sin(x[::-1])).statistic

    return of


def test_functions_of_libraries_with_one_code():
    """The decorator of these functions gives all of them the same code."""
    for test in (stats.ttest_rel, stats.f_oneway, stats.bartlett, stats.ttest_ind):
        f = _statistic(test)
        y, (bar,) = ad.withgradient(f, X)
        np.testing.assert_allclose(y, f(X), rtol=1e-12)
        np.testing.assert_allclose(bar, approx_fprime(X, f, 1e-7), rtol=1e-4, atol=1e-5)
