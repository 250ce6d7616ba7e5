"""Small arrays held as numbers: what is computed, and in which programs."""

import warnings

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.build.modes import GRADIENT
from adjoint.fast.programs import store as tier
from tests.structures import difference

A = np.array([[1.2, -0.3], [0.4, 0.8]])


def euler(x, v):
    for i in range(5):
        force = -x / np.sqrt(np.sum(x**2)) ** 3
        x = x + 0.1 * v
        v = v + 0.1 * force
    return np.sum(x * v)


def until_close(x, v):
    while np.sqrt(np.sum((x - v) ** 2)) > 1e-3:
        x = x - 0.3 * (x - v)
    return np.sum(x) * v[0]


def descent(x, v):
    for _ in range(4):
        x = x - 0.1 * ad.gradient(lambda y: np.sum(np.sin(y) * v) + np.sum(y**2), x)[0]
    return np.dot(x, v)


def directions(x, v):
    def f(y):
        return np.sum(np.exp(y) * v)

    for _ in range(3):
        x = x - 0.1 * np.array([ad.pushforward(f, (x,), (d,))[1] for d in np.eye(len(x))])
    return np.sum(x)


def branches(x, v):
    for i in range(6):
        if x[0] > v[1]:
            x = x * np.array([0.5, 0.9])
        elif i > 4:
            break
        else:
            x, v = v - x, 2 * v
    return np.sum(x / v)


def norms(x, v):
    total = 0.0
    for i in range(3):
        x = x / np.linalg.norm(x) + v
        total = total + np.linalg.norm(x - i)
    return total


def products(x, v):
    for _ in range(3):
        x = x * np.dot(x, v) + v * (x @ v) - x.dot(x) * v
    return np.sum(x)


def writes(x, v):
    y = np.zeros(2)
    for i in range(3):
        y += x * v
        y[0] *= 1.5
        x = x - 0.1 * y
    return np.sum(x * y)


def written_view(x, v):
    y = x * v
    part = y[:1]
    for _ in range(3):
        part += 1.0
        x = x + 0.5 * y
    return np.sum(x * x)


def parts(x, v):
    for _ in range(3):
        x = np.concatenate([x[1:], x[:1] * v[0]])
        x = np.stack([x[-1], x[0] + v[1]]) + x[::-1]
        w = np.concatenate([x, v[:1]])
        x = x + w[1:] * w[0]
    return x[0] - x[1] ** 2


def matrices(x, v):
    m = np.array([x, v])
    for _ in range(3):
        m = m * 0.5 + m.copy()[::-1] * np.array([1.0, -2.0])
    return np.sum(m[0] * m[1]) + m[1, 0]


def functions(x, v):
    for _ in range(2):
        x = np.tanh(x) + np.exp(-v) * np.sqrt(np.abs(x) + 1.0)
        x = np.maximum(x, 0.3 * v) + np.cos(x) ** 3 + (x * x + 1.0) ** -0.5 + 2.0**x
    return np.sum(x)


def constants(x, v):
    y = np.ones(2) * 2
    for _ in range(3):
        y = y + np.zeros_like(x) - x * np.full(2, 0.5) + np.eye(2)[0]
    return np.sum(y * v)


def numbers(x, v):
    w, n = float(x[0]), 3
    for k in range(3):
        x = x * w + n - np.array([k, 1.5 * w]) / (k + 1)
    return np.sum(x * v)


def products_of_matrices(x, v):
    for _ in range(4):
        x = np.tanh(A @ x + v)
    return np.sum(x**2)


def integers(x, v):
    q = np.array([1, 2])
    while np.sum((q - x) ** 2) > 1e-4:
        q = q - 0.5 * (q - x)
    return np.sum(q**2 * v)


def unassigned(x, v):
    for i in range(3):
        if i == 0:
            y = x
        y = y * v + x
    return np.sum(y)


def names(x, v):
    y = x
    for _ in range(3):
        z = y
        y = z + 0.1 * v
        x = z * y
    return np.sum(x + z)


def mean(x, v):
    for _ in range(3):
        x = (x - np.mean(x)) * v + x.sum() / len(x)
    return x.mean()


def thirds(x, v):
    for _ in range(3):
        x = x + 0.1 * v**3 - 0.2 * x**1.5
    return np.sum(x)


def several(x, v):
    def f(y):
        return ad.gradient(lambda z: np.sum(z**3 * y), y)[0] @ v

    for _ in range(2):
        x = x - 0.01 * ad.gradient(f, x)[0]
    return np.sum(x)


def straight(x, v):
    u, w = x - v, x + 2 * v
    return 1 / np.sqrt(np.sum(u**2)) + 1 / np.sqrt(np.sum(w**2)) + np.dot(u, w)


def oscillator(y, k):
    dy = np.zeros(2)
    dy[0] = y[1]
    dy[1] = -k * np.sin(y[0])
    return dy


def filled(x, v):
    for _ in range(4):
        k1 = oscillator(x, v[0])
        x = x + 0.1 * oscillator(x + 0.05 * k1, v[1])
    return np.sum(x**2)


def filled_in_parts(x, v):
    for _ in range(3):
        y = np.empty(3)
        y[:] = 0.5
        y[1:] = x * v
        y[::2] += x
        y *= 2.0
        y -= np.array([0.1, x[0], 0.3])
        y /= 3
        y[-1] = y[0] * y.sum()
        x = x + y[:2] * y[1:]
    return np.sum(x)


def filled_in_a_branch(x, v):
    for _ in range(3):
        y = x * 2
        y[0] = v[1]
        if y[1] > 1:
            y[1] = v[0]
        x = x + y
    return np.sum(x * v)


def filled_after_a_view(x, v):
    for _ in range(3):
        y = x * 2
        part = y[1:]
        held = [y]
        y[1] = v[0]
        y[0] += y[1]
        x = x * 0.1 + part + held[0]
    return np.sum(x * v)


def filled_through_a_view(x, v):
    for _ in range(3):
        y = x * 2
        y[0] = v[0]
        part = y[1:]
        part += v[1]
        x = x * 0.1 + y
    return np.sum(x * v)


def filled_after_a_name(x, v):
    z = x * 3
    for i in range(3):
        y = x * 2
        z = y if i == 1 else z
        y[1] = v[0] * i
        x = x * 0.1 + y * z
    return np.sum(x * v + z)


def filled_by_itself(x, v):
    for _ in range(3):
        y = x.copy()
        y += y
        y[0] = y[1] * v[0]
        y *= y
        x = y * 0.5
    return np.sum(x)


def filled_with_integers(x, v):
    for i in range(3):
        q = np.zeros(2, int)
        q[0] = i + 1
        q[1] += 3
        y = np.array([1, 2])
        y[1] = i
        w = np.zeros(2)
        w[:] = q
        x = x * 0.5 + q * v + w / (y + 1)
    return np.sum(x)


def clipped(x, v):
    y = np.zeros(2)
    np.clip(x, -1.5, 1, out=y)
    z = np.clip(v, 0, 1)
    return np.sum((y - z) ** 2) + np.sqrt(np.sum((y + z) ** 2)) + np.sum(y**3 + v)


FUNCTIONS = (
    filled,
    filled_in_parts,
    filled_in_a_branch,
    filled_after_a_view,
    filled_through_a_view,
    filled_after_a_name,
    filled_by_itself,
    filled_with_integers,
    clipped,
    euler,
    until_close,
    descent,
    directions,
    branches,
    norms,
    products,
    writes,
    written_view,
    parts,
    matrices,
    functions,
    constants,
    numbers,
    products_of_matrices,
    integers,
    unassigned,
    names,
    mean,
    thirds,
    several,
    straight,
)
X, V = np.array([1.1, 0.7]), np.array([0.6, 1.3])


def results(f, x, v):
    """Value and derivatives in all modes."""
    dots = np.array([0.3, -0.7]), np.array([0.2, 0.5])
    return (
        ad.withgradient(f, x, v),
        ad.pushforward(f, (x, v), dots),
        ad.hvp(lambda x: f(x, v), x, dots[0]),
        ad.pullback(f, x, v)[1](0.7),
    )


@pytest.fixture
def is_generic():
    def run(f, *args):
        before, tier.is_enabled[0] = tier.is_enabled[0], False
        try:
            return f(*args)
        finally:
            tier.is_enabled[0] = before

    return run


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_is_as_in_the_generic_tier(f, is_generic):
    before = X.copy(), V.copy()
    found, expected = results(f, X, V), is_generic(results, f, X, V)
    assert not difference(found, expected, rtol=1e-11), (found, expected)
    assert type(found[0][0]) is type(f(X, V))
    np.testing.assert_equal((X, V), before)
    is_covered = tier.run(f, (X, V), GRADIENT) is not tier.MISS
    assert is_covered is (f is not filled_after_a_name)


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_values_are_those_of_numpy(f):
    value, slopes = ad.withgradient(f, X, V)
    np.testing.assert_allclose(value, f(X, V), rtol=1e-14)
    for slope, move in zip(slopes, (lambda h: (X + h, V), lambda h: (X, V + h)), strict=True):
        steps = 1e-6 * np.eye(2)
        differences = [(f(*move(h)) - f(*move(-h))) / 2e-6 for h in steps]
        np.testing.assert_allclose(slope, differences, rtol=2e-5, atol=1e-6)


# ---- what is kept --------------------------------------------------------------------------------


def in_loop(x, v):
    for _ in range(10):
        x = x - 0.1 * (x * v)
    return np.sum(x)


def handed_on(x, v):
    for _ in range(10):
        x = np.cumsum(x * v) - v
    return np.sum(x)


def test_a_loop_has_no_small_arrays():
    loop = str(ad.code(in_loop, X, V)).partition("for _ in")[2].partition("# return")[0]
    assert "sum" not in loop and "np." not in loop and "[" not in loop


@pytest.mark.parametrize("f", [handed_on, writes], ids=lambda f: f.__name__)
def test_arrays_that_are_needed_as_a_whole_stay(f):
    assert "np.array([" not in str(ad.code(f, X, V))


def test_lengths_are_guarded(is_generic):
    for n in (2, 3, 4, 5, 2, 9, 1):
        x, v = np.linspace(0.5, 1.5, n), np.linspace(1.0, 0.7, n)
        found = ad.withgradient(in_loop, x, v)
        expected = is_generic(ad.withgradient, in_loop, x, v)
        assert not difference(found, expected, rtol=1e-12)


def test_many_lengths_have_one_program(is_generic):
    tier.forget()
    for m, n in np.ndindex(5, 5):
        x, v = np.linspace(0.5, 1.5, m + 2), np.linspace(1.0, 0.7, n + 2)

        def f(x, v):
            for _ in range(10):
                x, v = x - 0.1 * x * x, v - 0.1 * np.sum(x) * v
            return np.sum(x) + np.sum(v)

        found, expected = ad.withgradient(f, x, v), is_generic(ad.withgradient, f, x, v)
        assert not difference(found, expected, rtol=1e-12)
    kept = tier.known(f, GRADIENT)
    assert not kept.refused and 1 <= len(kept.entries) < tier.MOST_KINDS


def test_precisions_stay():
    x, v = X.astype(np.float32), V.astype(np.float32)
    assert ad.gradient(in_loop, x, v)[0].dtype == np.float32
    assert ".sum()" in str(ad.code(in_loop, x, v))


def final_state(x, v):
    n = 0
    while x[0] > 2.0:
        x, n = x * v, n + 1
    return x


def own_state(x, v):
    y = x.copy()
    for _ in range(5):
        y = y * v + np.sin(y)
    return y


def test_results_are_arrays_of_the_caller_s_or_new_ones():
    big = np.array([9.0, 1.0])
    for x in (X, big):
        y, back = ad.pullback(final_state, x, V)
        assert (y is x) == (final_state(x, V) is x)
        np.testing.assert_array_equal(y, final_state(x, V))
    y, back = ad.pullback(own_state, X, V)
    assert type(y) is np.ndarray and not np.shares_memory(y, X)
    np.testing.assert_array_equal(y, own_state(X, V))
    np.testing.assert_allclose(back(V)[1], ad.jacobian(lambda x: own_state(x, V), X).T @ V)


def twice(x, v):
    for _ in range(5):
        x = x * v + 1.0
    return x, x


def test_one_array_in_two_results_stays_one():
    (a, b), _ = ad.pullback(twice, X, V)
    assert a is b


# ---- what NumPy warns of -------------------------------------------------------------------------


def divided(x, v):
    for _ in range(3):
        x = x / v
    return np.sum(np.arctan(x))


def overflowing(x, v):
    for _ in range(3):
        x = x * 1e100 + v
    return np.sum(1 / x)


def roots(x, v):
    for _ in range(3):
        x = np.sqrt(x) + np.log(v)
    return np.sum(x)


def differences(x, v):
    for _ in range(3):
        x = x - v
    return np.sum(x)


POINTS = (
    (np.array([1.0, 0.0]), np.array([0.0, 2.0])),
    (np.array([0.0, 1.0]), np.array([0.0, 1.0])),
    (np.array([-1.0, 3.0]), np.array([0.5, -1.0])),
    (np.array([np.inf, 1.0]), np.array([np.inf, 1.0])),
    (np.array([np.nan, 1.0]), np.array([2.0, 1.0])),
    (np.array([1e300, 1e-300]), np.array([1e-300, 1e300])),
    (np.array([-0.0, 0.0]), np.array([1.0, -1.0])),
)


@pytest.mark.parametrize("f", [divided, overflowing, roots, differences, norms, euler, functions])
@pytest.mark.parametrize("point", POINTS)
def test_warnings_and_infinities_are_those_of_numpy(f, point, is_generic):
    ad.gradient(f, X, V)  # makes the program

    def outcome():
        with (
            warnings.catch_warnings(record=True) as caught,
            np.errstate(all="warn", under="ignore"),
        ):
            warnings.simplefilter("always")
            try:
                found = ad.withgradient(f, *point)
            except Exception as error:
                found = type(error).__name__
        return found, {str(one.message) for one in caught}

    found, messages = outcome()
    expected, expected_messages = is_generic(outcome)
    assert not difference(found, expected, rtol=1e-12), (found, expected)
    assert messages == expected_messages


def test_zeros_beside_infinite_slopes_stay_zero():
    def f(x, v):
        for _ in range(3):
            x = np.sqrt(x) * v
        return np.sum(x * np.array([1.0, 0.0]))

    x = np.array([1.5, 0.0])
    for _ in range(3):
        slopes = ad.gradient(f, x, V)
        assert slopes[0][1] == 0.0 and np.isfinite(slopes[0][0])


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_sums_have_the_bits_of_numpy(n):
    def f(x, y):
        for _ in range(2):
            x = (x * 1.1 + y) ** 2 - np.sum(x) * x.dot(y) * np.sum(x * y)
        return np.sum(x), np.dot(x, x), np.linalg.norm(x)

    def sign(x, y):
        for _ in range(3):
            x = -np.abs(x * y)
        return np.arctan2(np.sum(x), y[0] - 2)

    rng = np.random.default_rng(n)
    for _ in range(20):
        x, y = rng.normal(size=(2, n))
        found, _ = ad.pullback(f, x, y)
        np.testing.assert_allclose(found, f(x, y), rtol=1e-15)
    zeros, ones = np.zeros(n), np.ones(n)
    assert ad.withgradient(sign, zeros, ones)[0] == sign(zeros, ones)
