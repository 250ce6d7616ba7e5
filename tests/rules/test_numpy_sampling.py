"""Random numbers: what a draw with given bits gives, as a function of location and scale."""

import numpy as np
import pytest

import adjoint.rules.numpy  # noqa: F401
from adjoint.rules.registry import frule, lookup, rrule
from tests.rules.harness import reals, table

SOURCES = [np.random.default_rng, np.random.RandomState]

# Two calls never give the same numbers, so that differences are taken below; here there are none.
CASES = {
    (np.random.Generator, "normal"): [(np.random.default_rng(0), 0.5, 1.5, 0)],
    (np.random.Generator, "uniform"): [(np.random.default_rng(0), 0.5, 1.5, 0)],
    (np.random.RandomState, "normal"): [(np.random.RandomState(0), 0.5, 1.5, 0)],
    (np.random.RandomState, "uniform"): [(np.random.RandomState(0), 0.5, 1.5, 0)],
    (np.random.Generator, "permutation"): [(np.random.default_rng(0), np.zeros(0))],
    (np.random.RandomState, "permutation"): [(np.random.RandomState(0), np.zeros(0))],
    (np.random.Generator, "choice"): [(np.random.default_rng(0), np.ones(1), 0)],
    (np.random.RandomState, "choice"): [(np.random.RandomState(0), np.ones(1), 0)],
    np.random.choice: [(np.ones(1), 0)],
    np.random.permutation: [(np.zeros(0),)],
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
        expected = np.sum((draw(0.5) - draw(-0.5)) * y_bar)  # linear, so the step may be large
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


@pytest.mark.parametrize("name", ["normal", "uniform"])
@pytest.mark.parametrize("source", SOURCES)
def test_draws_move_with_their_tangents(source, name):
    first, second, size = reals(3), reals(2, 3, low=2.5, high=3.0), (2, 3)
    first_dot, second_dot = reals(3, seed=5), reals(2, 3, seed=6)
    key = (type(source(7)), name)
    draw = getattr(source(7), name)(first, second, size)
    for dots in [(first_dot, second_dot), (first_dot, None), (None, second_dot)]:
        y, y_dot = frule(key, (None, *dots, None), source(7), first, second, size)
        moved = [x if dot is None else x + dot for x, dot in zip((first, second), dots)]
        np.testing.assert_array_equal(y, draw)
        np.testing.assert_allclose(y_dot, getattr(source(7), name)(*moved, size) - draw)


def test_tangents_of_chosen_elements():
    x, x_dot = reals(5, 3), reals(5, 3, seed=1)
    for source in SOURCES:
        key = (type(source(3)), "permutation")
        y, y_dot = frule(key, (None, x_dot), source(3), x)
        np.testing.assert_array_equal(y, source(3).permutation(x))
        np.testing.assert_array_equal(y_dot, source(3).permutation(x_dot))
    key, (row, row_dot) = (np.random.RandomState, "choice"), (x[:, 0], x_dot[:, 0])
    y, y_dot = frule(key, (None, row_dot, None), np.random.RandomState(3), row, 4)
    np.testing.assert_array_equal(y_dot, np.random.RandomState(3).choice(row_dot, 4))
    key = (np.random.Generator, "choice")
    y, y_dot = frule(key, (None, x_dot, None), np.random.default_rng(3), x, 2, axis=1)
    np.testing.assert_array_equal(y_dot, np.random.default_rng(3).choice(x_dot, 2, axis=1))


def test_without_spread():
    rng = np.random.default_rng(0)
    y, back = rrule((np.random.Generator, "normal"), rng, 2.0, 0.0)
    assert y == 2.0 and back(1.0) == (None, None, 1.0, 0.0)


@pytest.mark.parametrize("x", [reals(7), reals(5, 3), reals(1), reals(4, 2, 3)])
@pytest.mark.parametrize("seed", range(5))
def test_permutation(x, seed):
    for source in SOURCES:
        rng = source(seed)
        y, back = rrule((type(rng), "permutation"), rng, x)
        np.testing.assert_array_equal(y, source(seed).permutation(x))
        # where the elements are all different, the cotangent must go where they came from
        np.testing.assert_array_equal(back(y)[2], x)
    y, back = rrule((np.random.Generator, "permutation"), np.random.default_rng(seed), x, axis=-1)
    np.testing.assert_array_equal(y, np.random.default_rng(seed).permutation(x, axis=-1))
    np.testing.assert_array_equal(back(y)[2], x)


@pytest.mark.parametrize(
    "x, keywords",
    [
        (reals(7), {}),
        (reals(7), {"size": 5}),
        (reals(7), {"size": (2, 3), "replace": False}),
        (reals(4, 3), {"size": 2, "axis": 1}),
        (reals(4, 3, 2), {"size": (5, 2), "axis": 1}),
        (reals(3), {"size": 4, "p": [0.2, 0.3, 0.5]}),
        (reals(6), {"size": 3, "replace": False, "shuffle": False}),
    ],
)
def test_choice(x, keywords):
    y, back = rrule((np.random.Generator, "choice"), np.random.default_rng(4), x, **keywords)
    np.testing.assert_array_equal(y, np.random.default_rng(4).choice(x, **keywords))
    y_bar = np.random.default_rng(1).normal(size=np.shape(y))
    x_bar = back(y_bar)[2]
    assert x_bar.shape == x.shape
    moved = np.random.default_rng(4).choice(x * x, **keywords)
    np.testing.assert_allclose(np.sum(x_bar * x * x), np.sum(y_bar * moved))


def test_choice_of_the_older_generators():
    x, y_bar = reals(7), reals(5, seed=1)
    y, back = rrule((np.random.RandomState, "choice"), np.random.RandomState(4), x, 5)
    np.testing.assert_array_equal(y, np.random.RandomState(4).choice(x, 5))
    state = np.random.get_state()  # noqa: NPY002
    z, of_module = rrule(np.random.choice, x, 5, p=np.full(7, 1 / 7))
    np.random.set_state(state)  # noqa: NPY002
    np.testing.assert_array_equal(z, np.random.choice(x, 5, p=np.full(7, 1 / 7)))  # noqa: NPY002
    assert back(y_bar)[2] @ x == pytest.approx(y_bar @ y)
    assert of_module(y_bar)[1] @ x == pytest.approx(y_bar @ z)


def test_choice_of_a_length_is_declined():
    assert rrule((np.random.Generator, "choice"), np.random.default_rng(0), 5) is None


def test_what_writes_in_place_is_not_constant():
    for name in ("permuted", "shuffle"):
        assert not lookup((np.random.Generator, name)).inactive
    assert lookup((np.random.Generator, "integers")).inactive
