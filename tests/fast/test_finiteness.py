"""Gradients that are not finite in the fast tier: what looks at few numbers misses none."""

import warnings

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.entry_code import entry_source as entry
from adjoint.fast.entry_code import inputs
from adjoint.fast.programs import store as tier

BAD = (np.nan, np.inf, -np.inf)


def network(weights, x, y):
    W1, b1, W2, b2, W3 = weights
    h = np.tanh(x @ W1 + b1)
    h = np.maximum(h @ W2 + b2, 0)
    return np.sum((h @ W3 - y) ** 2) / len(x)


def without_biases(weights, x, y):
    W1, _, W2, _, W3 = weights
    return np.sum(np.tanh(np.tanh(x @ W1) @ W2) @ W3 * y)


def tied(weights, x, y):
    W1, b1, W2, b2, W3 = weights
    h = np.tanh(x @ W1 + b1)
    for _ in range(3):
        h = np.tanh(h @ W2 + b2)
    return np.sum(h @ W3 * y) + np.sum(W2.T @ W2)


def overwriting(weights, x, y):
    W1, b1, W2, b2, W3 = weights
    h = x @ W1 + b1
    h += b1 * 0.5
    h = h @ W2
    h += b2
    h[:, 0] *= 2.0
    return np.sum(h @ W3 * y)


def products(weights, x, y):
    W1, b1, W2, b2, W3 = weights
    z = (x @ W1 + b1) * np.sum(W2) + x.sum(axis=0) @ W1 - b2
    return np.sum(z @ W3 / (1 + y**2))


NETWORKS = [network, without_biases, tied, overwriting, products]


def weights_and_data(rng, dtype, n=1):
    """Small ones, which are looked at, and large ones, which are seen by others."""
    shapes = [(5 * n, 4 * n), (4 * n,), (4 * n, 4 * n), (4 * n,), (4 * n, 3)]
    weights = [rng.normal(size=shape).astype(dtype) for shape in shapes]
    x, y = rng.normal(size=(6, 5 * n)), rng.normal(size=(6, 3))
    return weights, x.astype(dtype), y.astype(dtype)


def both_tiers(f, weights, x, y):
    found = []
    for name in ("fast", "generic"):
        with np.errstate(all="ignore"):
            found.append(ad.value_and_grad(f, tier=name)(weights, x, y))
    return found


@pytest.fixture(params=[True, False])
def flags(request, monkeypatch):
    """Where a library multiplies matrices in threads, NumPy does not see that it met NaN."""
    if not request.param:
        names = {"begin_raising": _ignoring, "end_raising": lambda errors: errors.__exit__()}
        monkeypatch.setattr(inputs, "BEGIN_RAISING", "begin_raising()")
        monkeypatch.setattr(inputs, "NAMES_OF_RAISING", names)
        tier.forget()
    yield
    tier.forget()


def _ignoring():
    errors = np.errstate(all="ignore")
    errors.__enter__()
    return errors


@pytest.mark.usefixtures("flags")
@pytest.mark.parametrize("f", NETWORKS)
@pytest.mark.parametrize(("dtype", "n"), [(np.float64, 1), (np.float32, 1), (np.float64, 32)])
def test_one_number_that_is_not_finite_is_never_missed(f, dtype, n):
    rng = np.random.default_rng(3)
    weights, x, y = weights_and_data(rng, dtype, n)
    assert_alike(f, weights, x, y)
    for array in (*weights, x, y):
        for bad in BAD:
            at = tuple(rng.integers(0, array.shape))
            kept = array[at]
            array[at] = bad
            assert_alike(f, weights, x, y)
            array[at] = kept


@pytest.mark.parametrize("f", NETWORKS)
@pytest.mark.parametrize("size", [1e18, 1e30, 1e160])
def test_numbers_whose_squares_or_products_overflow(f, size):
    rng = np.random.default_rng(4)
    weights, x, y = weights_and_data(rng, np.float64 if size > 1e38 else np.float32)
    for array in (*weights, x, y):
        array *= size
        assert_alike(f, weights, x, y)
        array /= size


def assert_alike(f, weights, x, y):
    (value, bars), (expected, expected_bars) = both_tiers(f, weights, x, y)
    np.testing.assert_allclose(value, expected, rtol=1e-5)
    for bar, other, weight in zip(bars, expected_bars, weights, strict=True):
        scale = np.max(np.abs(other), initial=0.0, where=np.isfinite(other))
        np.testing.assert_allclose(bar, other, rtol=1e-4, atol=1e-4 * scale)
        assert bar.dtype == weight.dtype


@pytest.mark.parametrize("f", NETWORKS)
def test_finite_gradients_take_the_fast_tier(f):
    weights, x, y = weights_and_data(np.random.default_rng(5), np.float64)
    ad.value_and_grad(f)(weights, x, y)
    assert "fast" in str(ad.tier(f, weights, x, y)).splitlines()[0]


@pytest.mark.parametrize("n", [3, 100, 100_000])
def test_squares_that_overflow_are_no_reason_against_it(n):
    def f(x):
        return np.sum(1e200 * x)

    x = np.ones(n)
    assert "fast" in str(ad.tier(f, x)).splitlines()[0]
    np.testing.assert_array_equal(ad.gradient(f, x)[0], np.full(n, 1e200))


@pytest.mark.parametrize("n", [1, 32])
def test_few_numbers_are_looked_at(n):
    weights, x, y = weights_and_data(np.random.default_rng(6), np.float64, n)
    tier.forget()
    ad.value_and_grad(network)(weights, x, y)
    [made] = [e for kept in tier._kept.values() for e in kept.entries]
    assert ("smaller_square" in made.failures.bound["run"].__code__.co_names) == (n > 1)


def test_what_shows_the_factors_of_a_product_shows_it(monkeypatch):
    """The cotangent of V is made from all that the one of W is made from."""

    def layers(V, W, x):
        return np.sum((np.tanh(x @ V) @ W) ** 2)

    texts = []

    def noted(*args):
        found = source(*args)
        texts.append(found[0]["run"])
        return found

    source = entry.entry_source
    monkeypatch.setattr(entry, "entry_source", noted)
    V, W, x = (np.random.default_rng(2).normal(size=shape) for shape in ((3, 4), (4, 2), (5, 3)))
    ad.gradient(layers, V, W, x)
    [text] = texts
    assert ("vdot(bars[0]" in text, "vdot(bars[1]" in text) == (True, False)


def squares(x, y):
    return np.sum(x * x)


def powers(x, y):
    return np.sum((x - y) ** 2)


def quotients(x, y):
    return np.sum(x * x) + np.sum(1 / x)


def distances(x, y):
    return np.mean((2.0 * x - y) ** 2)


def overwritten_factor(x, y):
    h = x + 0.0
    total = np.sum(h * y)
    h -= y
    return total + np.sum(h * x)


def sums_from_infinity(x, y):
    return np.sum(x * x * np.sum(y, initial=np.inf))


@pytest.mark.parametrize("f", [squares, powers, quotients, distances, overwritten_factor])
def test_a_value_that_is_tested_proves_cotangents(f):
    x, y = np.array([3.0, -1.0, 2.0]), np.array([1.0, 0.5, -2.0])
    for array in (x, y):
        for bad in (*BAD, 0.0, 1e160, 1e308):
            for i in range(3):
                kept, array[i] = array[i], bad
                assert_alike(lambda both, _, y: f(both[0], y), [x], None, y)
                array[i] = kept


def test_a_sum_that_begins_with_infinity_proves_nothing():
    x, y = np.array([0.0, -1.0, 2.0]), np.array([1.0, 0.5, -2.0])
    assert_alike(lambda both, _, y: sums_from_infinity(both[0], y), [x], None, y)


@pytest.mark.parametrize(("f", "is_enough"), [(squares, True), (powers, True), (quotients, False)])
def test_where_the_value_is_enough(f, is_enough):
    x, y = np.array([3.0, -1.0, 2.0]), np.array([1.0, 0.5, -2.0])
    tier.forget()
    ad.grad(f)(x, y)
    [made] = [e for kept in tier._kept.values() for e in kept.entries]
    assert ("vdot" not in made.failures.bound["run"].__code__.co_names) == is_enough


@pytest.mark.parametrize("size", [1e160, 1e300])
def test_the_look_warns_of_nothing(size):
    """Of cotangents that are finite, though their squares are not."""

    def f(x, a):
        return np.sum(x * size) - a * size

    x = np.array([2.0, -1.0])
    for _ in range(12):
        with warnings.catch_warnings(), np.errstate(over="raise", invalid="raise"):
            warnings.simplefilter("error")
            bar, a_bar = ad.gradient(f, x, 2.0)
        np.testing.assert_array_equal(bar, [size, size])
        assert a_bar == -size
    assert str(ad.tier(f, x, 2.0)).splitlines()[0].endswith("f: fast tier")


@pytest.mark.parametrize("tier", ["fast", "generic"])
@pytest.mark.parametrize("n", [3, 40, 2000])
def test_users_who_ask_for_errors_get_none_of_ours(n, tier):
    x = np.ones(n)
    with warnings.catch_warnings(), np.errstate(over="raise", invalid="raise"):
        warnings.simplefilter("error")
        bar = ad.grad(lambda x: np.sum(x * 1e160), tier=tier)(x)
    np.testing.assert_array_equal(bar, np.full(n, 1e160))
