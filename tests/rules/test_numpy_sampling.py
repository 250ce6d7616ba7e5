"""Random numbers: what a draw with given bits gives, as a function of location and scale."""

import numpy as np
import pytest

import adjoint.rules.numpy  # noqa: F401
from adjoint.differences import slope
from adjoint.rules.registry import lookup, rrule
from tests.rules.harness import reals, table

SOURCES = [np.random.default_rng, np.random.RandomState]

# Two calls never give the same numbers, so that differences are taken below; here there are none.
CASES = {
    (np.random.Generator, "normal"): [(np.random.default_rng(0), 0.5, 1.5, 0)],
    (np.random.Generator, "uniform"): [(np.random.default_rng(0), 0.5, 1.5, 0)],
    (np.random.RandomState, "normal"): [(np.random.RandomState(0), 0.5, 1.5, 0)],
    (np.random.RandomState, "uniform"): [(np.random.RandomState(0), 0.5, 1.5, 0)],
    np.random.normal: [(0.5, 1.5, 0)],
    np.random.uniform: [(0.5, 1.5, 0)],
}
test_rule = table(CASES)


@pytest.mark.parametrize("name", ["normal", "uniform"])
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("first, second", [(0.5, 1.5), (reals(3), reals(2, 3, low=2.5, high=3.0))])
def test_draws_move_with_location_and_scale(source, name, first, second):
    size = (2, 3)
    rng = source(7)
    y, back = rrule((type(rng), name), rng, first, second, size)
    np.testing.assert_array_equal(y, getattr(source(7), name)(first, second, size))
    y_bar = reals(*size, seed=3)
    _, rng_bar, first_bar, second_bar, size_bar = back(y_bar)
    assert rng_bar is None and size_bar is None
    for bar, x, draw in [
        (first_bar, first, lambda t: getattr(source(7), name)(first + t, second, size)),
        (second_bar, second, lambda t: getattr(source(7), name)(first, second + t, size)),
    ]:
        assert np.shape(bar) == np.shape(x)
        expected, _ = slope(lambda t: float(np.sum(draw(t) * y_bar)), 1.0)
        np.testing.assert_allclose(np.sum(bar), expected, rtol=1e-9)


@pytest.mark.parametrize("f", [np.random.normal, np.random.uniform])
def test_functions_of_the_global_generator(f):
    state = np.random.get_state()  # noqa: NPY002
    y, back = rrule(f, 1.0, 3.0)
    np.random.set_state(state)  # noqa: NPY002
    assert y == f(1.0, 3.0)
    _, first_bar, second_bar = back(1.0)
    share = (y - 1.0) / (3.0 if f is np.random.normal else 2.0)
    expected = (1.0, share) if f is np.random.normal else (1 - share, share)
    np.testing.assert_allclose((first_bar, second_bar), expected)


def test_without_spread():
    rng = np.random.default_rng(0)
    y, back = rrule((np.random.Generator, "normal"), rng, 2.0, 0.0)
    assert y == 2.0 and back(1.0) == (None, None, 1.0, 0.0)


def test_what_moves_elements_is_not_constant():
    for name in ("permutation", "permuted", "shuffle", "choice"):
        assert lookup((np.random.Generator, name)) is None
    assert lookup((np.random.Generator, "integers")).inactive
