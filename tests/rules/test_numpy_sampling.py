"""Random numbers: what a draw with given bits gives, as a function of the parameters."""

import numpy as np
import pytest

import adjoint as ad
import adjoint.rules.numpy  # noqa: F401
import adjoint.testing
from adjoint.rulekit.registry import frule, lookup, rrule
from adjoint.testing import check_gradient
from tests.rules.harness import case, reals, table
from tests.support import check_reverse

SOURCES = [np.random.default_rng, np.random.RandomState]

# Two calls never give the same numbers, so that differences are taken below; here there are none.
CASES = {}
DRAWS = {
    "normal": (0.3, 1.2),
    "laplace": (0.3, 1.2),
    "logistic": (0.3, 1.2),
    "gumbel": (0.3, 1.2),
    "uniform": (0.3, 1.2),
    "exponential": (2.0,),
    "rayleigh": (1.3,),
    "lognormal": (0.3, 0.7),
    "weibull": (1.7,),
    "power": (1.4,),
    "pareto": (2.2,),
    "triangular": (-0.5, 0.4, 1.9),
}
BY_REJECTION = {
    "gamma": (2.0,),
    "standard_gamma": (2.0,),
    "beta": (1.0, 2.0),
    "dirichlet": ([1.0, 2.0],),
    "chisquare": (3.0,),
    "standard_t": (3.0,),
    "f": (3.0, 4.0),
    "noncentral_chisquare": (3.0, 1.0),
    "noncentral_f": (3.0, 4.0, 1.0),
    "wald": (1.0, 2.0),
    "vonmises": (0.3, 1.0),
    "multivariate_normal": ([0.3, 0.4], np.eye(2)),
}
for _name, _parameters in (DRAWS | BY_REJECTION).items():
    _options = {"size": 0}
    if _name == "multivariate_normal":
        _options["check_valid"] = "ignore"
    CASES[np.random.Generator, _name] = [case(np.random.default_rng(0), *_parameters, **_options)]
    CASES[np.random.RandomState, _name] = [case(np.random.RandomState(0), *_parameters, **_options)]
    CASES[getattr(np.random, _name)] = [case(*_parameters, **_options)]
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


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("name", DRAWS)
def test_draws_as_functions_of_their_parameters(name, source):
    parameters = DRAWS[name]

    def f(*parameters):
        return np.sum(getattr(source(3), name)(*parameters, size=7) ** 2)

    check_reverse(f, *parameters, rtol=1e-6)
    key, y = (type(source(3)), name), getattr(source(3), name)(*parameters, 7)
    for i in range(len(parameters)):
        dots = [None] * (len(parameters) + 2)
        dots[i + 1] = 1.0
        _, y_dot = frule(key, tuple(dots), source(3), *parameters, 7)
        _, back = rrule(key, source(3), *parameters, 7)
        assert np.sum(y * y_dot) == pytest.approx(back(y)[i + 2])


@pytest.mark.parametrize("name", ["exponential", "weibull", "triangular"])
def test_parameters_broadcast(name):
    parameters = [reals(3, low=p + 0.01, high=p + 0.1, seed=i) for i, p in enumerate(DRAWS[name])]

    def f(*parameters):
        return np.sum(getattr(np.random.default_rng(3), name)(*parameters, size=(2, 3)) ** 2)

    check_reverse(f, *parameters, rtol=1e-6)


@pytest.mark.parametrize("name", BY_REJECTION)
def test_draws_by_rejection_are_refused_in_what_decides(name):
    parameters = BY_REJECTION[name]
    draw = getattr(np.random.default_rng(0), name)
    with pytest.raises(ad.AdjointError, match=f"a derivative of '{name}' in "):
        ad.gradient(lambda *p: np.sum(draw(*p)), *parameters)
    assert ad.gradient(lambda x: x * np.sum(draw(*parameters, 3)), 2.0) != (0.0,)
    key = (np.random.Generator, name)
    with pytest.raises(ad.AdjointError):
        dots = (None, *(np.ones(np.shape(p)) for p in parameters), None)
        frule(key, dots, np.random.default_rng(0), *parameters, 2)


def test_what_scales_or_moves_a_draw_by_rejection():
    def f(scale, mu, mean):
        rng = np.random.default_rng(5)
        return (
            rng.gamma(2.0, scale=scale, size=3).sum()
            + rng.vonmises(mu, 2.0)
            + np.sum(rng.multivariate_normal(mean, np.eye(2), size=3, method="cholesky") ** 2)
        )

    check_reverse(f, 1.5, 0.3, np.array([0.4, -0.2]))


def test_tangents_of_chosen_elements():
    x, x_dot = reals(5, 3), reals(5, 3, seed=1)

    def pushed(draw, x, x_dot):
        return ad.pushforward(draw, (x,), (x_dot,))

    for source in SOURCES:
        y, y_dot = pushed(lambda x: source(3).permutation(x), x, x_dot)  # noqa: B023
        np.testing.assert_array_equal(y, source(3).permutation(x))
        np.testing.assert_array_equal(y_dot, source(3).permutation(x_dot))
    row, row_dot = x[:, 0], x_dot[:, 0]
    y, y_dot = pushed(lambda row: np.random.RandomState(3).choice(row, 4), row, row_dot)
    np.testing.assert_array_equal(y_dot, np.random.RandomState(3).choice(row_dot, 4))
    y, y_dot = pushed(lambda x: np.random.default_rng(3).choice(x, 2, axis=1), x, x_dot)
    np.testing.assert_array_equal(y_dot, np.random.default_rng(3).choice(x_dot, 2, axis=1))


def test_without_spread():
    rng = np.random.default_rng(0)
    y, back = rrule((np.random.Generator, "normal"), rng, 2.0, 0.0)
    assert y == 2.0 and back(1.0) == (None, None, 1.0, 0.0)


@pytest.mark.parametrize("x", [reals(7), reals(5, 3), reals(1), reals(4, 2, 3)])
@pytest.mark.parametrize("seed", range(5))
def test_permutation(x, seed):
    for source in SOURCES:
        y, back = ad.pullback(lambda x: source(seed).permutation(x), x)  # noqa: B023
        np.testing.assert_array_equal(y, source(seed).permutation(x))
        # where the elements are all different, the cotangent must go where they came from
        np.testing.assert_array_equal(back(y)[1], x)
    y, back = ad.pullback(lambda x: np.random.default_rng(seed).permutation(x, axis=-1), x)
    np.testing.assert_array_equal(y, np.random.default_rng(seed).permutation(x, axis=-1))
    np.testing.assert_array_equal(back(y)[1], x)


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
    y, back = ad.pullback(lambda x: np.random.default_rng(4).choice(x, **keywords), x)
    np.testing.assert_array_equal(y, np.random.default_rng(4).choice(x, **keywords))
    y_bar = np.random.default_rng(1).normal(size=np.shape(y))
    x_bar = back(y_bar)[1]
    assert x_bar.shape == x.shape
    moved = np.random.default_rng(4).choice(x * x, **keywords)
    np.testing.assert_allclose(np.sum(x_bar * x * x), np.sum(y_bar * moved))


def test_choice_of_the_older_generators():
    x, y_bar = reals(7), reals(5, seed=1)
    y, back = ad.pullback(lambda x: np.random.RandomState(4).choice(x, 5), x)
    np.testing.assert_array_equal(y, np.random.RandomState(4).choice(x, 5))
    state = np.random.get_state()  # noqa: NPY002
    z, of_module = ad.pullback(lambda x: np.random.choice(x, 5, p=np.full(7, 1 / 7)), x)  # noqa: NPY002
    np.random.set_state(state)  # noqa: NPY002
    np.testing.assert_array_equal(z, np.random.choice(x, 5, p=np.full(7, 1 / 7)))  # noqa: NPY002
    assert back(y_bar)[1] @ x == pytest.approx(y_bar @ y)
    assert of_module(y_bar)[1] @ x == pytest.approx(y_bar @ z)


def test_what_is_drawn_of_a_length_is_constant():
    for name in ("choice", "permutation"):
        for source in SOURCES:
            y, back = ad.pullback(lambda n: getattr(source(0), name)(n), 5)  # noqa: B023
            np.testing.assert_array_equal(y, getattr(source(0), name)(5))
            assert not back(np.ones(np.shape(y)))[1]


PROBABLE = {
    "elements": lambda rng, v, p: rng.choice(v, size=4, p=p),
    "by position": lambda rng, v, p: rng.choice(v, 4, True, p),
    "probabilities in a list": lambda rng, v, p: rng.choice(v, p=[p[0], p[1], p[2]]) * v,
    "constants": lambda rng, v, p: rng.choice(np.arange(3.0), 4, p=p) * v[0],
    "positions": lambda rng, v, p: rng.choice(3, 4, p=p) * v[1],
    "names": lambda rng, v, p: v * len(rng.choice(["a", "bb", "ccc"], p=p)),
}


@pytest.mark.parametrize("source", [*SOURCES, lambda seed: np.random])
@pytest.mark.parametrize("name", PROBABLE)
def test_probabilities_decide_and_do_not_move(name, source):
    def value(v):
        np.random.seed(2)  # noqa: NPY002
        return PROBABLE[name](source(2), v, v**2 / np.sum(v**2))

    check_gradient(value, np.array([0.3, 0.7, 1.2]))


def test_probabilities_of_columns_do_not_move():
    def value(v):
        rng = np.random.default_rng(2)
        return rng.choice(np.outer(v, v[:2]), 4, p=v[:2] / np.sum(v[:2]), axis=1)

    check_gradient(value, np.array([0.3, 0.7, 1.2]))


def test_what_writes_in_place_is_not_constant():
    for name in ("permuted", "shuffle"):
        assert not lookup((np.random.Generator, name)).inactive
    assert lookup((np.random.Generator, "integers")).inactive
