"""Generators of random numbers that a function makes, and NumPy's global one: draws of all kinds in
programs, at parameters that carry derivatives and of lengths that follow from arguments."""

# ruff: noqa: NPY002

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from tests.fast.agreeing import generic_tier
from tests.fast.second_order import check_programs

RNG = np.random.default_rng(0)
X, V, M = np.array([0.3, 1.2]), RNG.normal(size=12), RNG.normal(size=(5, 4))


def states(x):
    z = np.random.RandomState(0).randn(20)
    return ((x[0] + x[1] * z) ** 2).mean()


def a_path(x, kind):
    rng, s = kind(0), 1.0
    for _ in range(10):
        s = s * np.exp((x[0] - x[1] ** 2 / 2) * 0.01 + x[1] * 0.1 * rng.normal())
    return s


def batches(v, kind):
    rng, total = kind(3), 0.0
    for _ in range(2):
        order = rng.permutation(len(v))
        for start in range(0, len(v), 4):
            total = total + np.sum(v[order[start : start + 4]]) ** 2 * (start + 1)
    return total


def of_lists(v, kind):
    rng = kind(1)
    signs, steps = (
        rng.choice([-1, 1], size=(3, 4)),
        rng.choice((0.1, 0.2, 0.5), 4, p=[0.2, 0.3, 0.5]),
    )
    y = rng.choice([v[0], v[1] ** 2], 4) * rng.permutation([1, 2, 4, 8])
    return ((signs @ (v[:4] * steps * y)) ** 2).sum() * rng.choice([0.5, 0.25])


def shuffled(v, kind):
    rng, places, y = kind(0), np.arange(len(v)), v * v
    rng.shuffle(places)
    rng.shuffle(y)
    return (v[places][:5] ** 2 * y[2:7]).sum()


def bootstrap(v, kind):
    rng = kind(1)
    means = [rng.choice(v, size=len(v)).mean() ** 2 for _ in range(4)]
    return sum(means) + (v[rng.choice(len(v), size=4, replace=False)] ** 3).sum()


def dropped(v, kind):
    rng = kind(2)
    kept = rng.binomial(1, 0.5, size=v.shape)
    noise = rng.uniform(-1.0, 1.0, size=v.shape)
    return (v * v * kept + noise * v).sum() ** 2


OF_KIND = {
    "normal": (lambda x, kind: (kind(0).normal(x[0], x[1], 20) ** 4).mean(), X),
    "named": (lambda x, kind: (kind(0).normal(loc=x[0], scale=x[1], size=(4, 5)) ** 4).mean(), X),
    "of arrays": (lambda x, kind: (kind(0).normal(x, 1.0) ** 4).mean(), V),
    "scales": (lambda x, kind: (kind(0).normal(x, np.abs(x), size=(3, 12)) ** 4).mean(), V),
    "of one": (lambda x, kind: kind(0).normal(x[0], x[1]) ** 4 + kind(1).uniform(x[0], x[1]), X),
    "uniform": (lambda x, kind: (kind(0).uniform(x[0], x[1], 20) ** 4).mean(), X),
    "exponential": (lambda x, kind: (kind(0).exponential(x[1], 20) ** 2).sum(), X),
    "gamma": (lambda x, kind: (kind(0).gamma(2.0, x[1], 20) ** 2).sum(), X),
    "lognormal": (lambda x, kind: kind(0).lognormal(x[0], x[1], 20).sum(), X),
    "poisson": (lambda x, kind: (kind(0).poisson(3.0, 12) * x).sum() ** 2, V),
    "rows": (lambda x, kind: (kind(0).permutation(x)[:2] ** 2).sum(), M),
    "path": (a_path, X),
    "batches": (batches, V),
    "shuffled": (shuffled, V),
    "bootstrap": (bootstrap, V),
    "of lists": (of_lists, V),
    "dropped": (dropped, V),
}


@pytest.mark.parametrize("kind", [np.random.default_rng, np.random.RandomState])
@pytest.mark.parametrize("name", OF_KIND)
def test_programs(name, kind):
    f, x = OF_KIND[name]
    check_programs(lambda x: f(x, kind), x, 1e-5)
    assert ad.withgradient(f, x, kind)[0] == pytest.approx(f(x, kind), rel=1e-14)


def test_the_older_names():
    check_programs(states, X)
    check_programs(lambda x: (np.random.RandomState(0).rand(3, 4) * x[0]).sum() ** 2 * x[1], X)
    check_programs(lambda v: (v[np.random.RandomState(0).randint(0, len(v), 5)] ** 2).sum(), V)
    check_programs(lambda v: (v[np.random.default_rng(0).integers(0, len(v), 5)] ** 2).sum(), V)


# ---- generators that outlive the call ------------------------------------------------------------

SOURCE = np.random.RandomState(3)


def of_all(v):
    np.random.seed(4)
    z = np.random.randn(len(v)) + np.random.normal(v[0], 2.0, v.shape)
    return (v[np.random.permutation(len(v))] * z * np.random.rand()).sum()


def of_one(v):
    z = SOURCE.standard_normal(v.shape) + SOURCE.normal(v[0], 2.0)
    return (v[SOURCE.permutation(len(v))] * z * SOURCE.rand()).sum()


def with_a_warning(v):
    return of_one(v) + of_all(v) + np.log(v[0] - 100.0)


def outcome(f):
    np.random.seed(1)
    SOURCE.seed(2)
    found = f()
    return found, [str(source.get_state()) for source in (SOURCE, np.random)]


@pytest.mark.parametrize("f", [of_all, of_one, with_a_warning])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_states(f):
    with generic_tier():
        (value, bars), expected = outcome(lambda: ad.withgradient(f, V))
    assert outcome(lambda: f(V))[1] == expected
    for _ in range(2):
        found, states = outcome(lambda: ad.withgradient(f, V))
        assert states == expected
        np.testing.assert_allclose(found.value, value, rtol=1e-13)
        np.testing.assert_allclose(found.gradient[0], bars[0], rtol=1e-12)
    if f is not with_a_warning:
        assert ad.tier(f, V).tier == "fast"


def test_parameters_without_a_derivative():
    """Draws by rejection have none in the shape: the generic tier says so."""
    with pytest.raises(ad.NoDerivativeError, match="rejection"):
        ad.gradient(lambda x: np.random.default_rng(0).gamma(x, 1.0, 5).sum(), 2.0)
    with pytest.raises(ValueError, match="scale < 0"):
        ad.gradient(lambda x: np.random.default_rng(0).normal(0.0, x, 5).sum(), -2.0)
