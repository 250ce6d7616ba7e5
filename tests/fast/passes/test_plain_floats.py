"""Numbers of Python in place of NumPy's: the same bits, classes and warnings."""

import math
import warnings

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.build.modes import GRADIENT
from adjoint.fast.programs import store

X, W = np.array([1.3, 0.4]), np.array([0.6, -0.7])


def orbit(x, w):
    for _ in range(6):
        w = w - 0.1 * x / np.sqrt(np.sum(x * x)) ** 3
        x = x + 0.1 * w
    return np.sum(w * w) / 2 - 1 / np.sqrt(np.sum(x * x))


def falling(x, w):
    n = 0
    while x[1] > 0 and n < 40:
        x, w = x + 0.1 * w, w - np.array([0.0, 0.1])
        n += 1
    return (x[0] - x[1] * w[0] / w[1]) ** 2 + abs(w[0])


def early(x, w):
    for i in range(50):
        x = x * 0.9 + w * 0.01
        if np.sum(x * x) < 1.0:
            return x[0] * i + x[1]
    return x[1]


def nested(x, w):
    t = 0.0
    for i in range(3):
        y = x
        for _ in range(4):
            y = y * w + 0.1 * x / np.sqrt(1 + np.sum(y * y))
        t = t + np.sum(y) * i
    return t


def of_others(x, w):
    s = 0.0
    for _ in range(4):
        y = np.exp(-x * x) + w
        s = s + np.max(y) / (1 + y[0] * y[1])
        x = np.where(x > 0.3, x * 0.9, x + 0.1)
    return s + np.tanh(x[0]) * x[1]


def written(x, w):
    a = np.zeros(3)
    for i in range(3):
        a[i] = x[0] * i + w[1]
        a[i] *= x[1]
        a[i] -= a[i - 1] / (1 + w[0] ** 2)
    return a[0] + a[1] * a[2]


def stencil(x, w):
    u = np.array([x[0], w[0], x[1], w[1], 0.5])
    for _ in range(3):
        for i in range(1, len(u) - 1):
            u[i] = u[i] + 0.2 * (u[i - 1] - 2.0 * u[i] + u[i + 1]) / (1.0 + u[i] * u[i])
    return np.sum(u * u)


def skipping(x, w):
    u = np.outer(x, w)
    total = 0.0
    for i in range(2):
        if u[i, 0] > 0.5:
            continue
        y = u[i, 1] * u[i, 0] + w[i]
        if y < -5.0:
            break
        total += y * y / (2.0 + y)
    return total


def force(x, w):
    g = ad.gradient(lambda q: np.sum(1 / np.sqrt(np.sum((q - w) ** 2))) + q[0] * q[1], x)[0]
    return np.sum(g * g)


FUNCTIONS = [orbit, falling, early, nested, of_others, written, stencil, skipping, force]


def plainly(f, *args):
    """The source of the program that takes a call."""
    return str(ad.code(f, *args))


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_derivatives_of_every_kind(f):
    value, slopes = ad.withgradient(f, X, W)
    assert (value, type(value)) == (f(X, W), type(f(X, W)))
    expected = ad.value_and_grad(f, (0, 1), tier="generic")(X, W)[1]
    for slope, other in zip(slopes, expected, strict=True):
        np.testing.assert_allclose(slope, other, rtol=1e-13, atol=1e-15)
    y, y_dot = ad.pushforward(f, (X, W), (W, X))
    assert (y, type(y), type(y_dot)) == (value, np.float64, np.float64)
    assert y_dot == pytest.approx(slopes[0] @ W + slopes[1] @ X, rel=1e-12)
    y, back = ad.pullback(f, X, W)
    for factor in (1.0, -2.0):
        np.testing.assert_allclose(back(factor)[1], factor * slopes[0], rtol=1e-13)
    step = 1e-6
    ends = (ad.gradient(f, X + s * W, W)[0] for s in (step, -step))
    moved = np.subtract(*ends) / (2 * step)
    assert ad.hvp(lambda x: f(x, W), X, W) == pytest.approx(moved, rel=1e-5, abs=1e-6)
    assert ad.hessian(lambda x: f(x, W), X) @ W == pytest.approx(moved, rel=1e-5, abs=1e-6)


def test_a_loop_computes_with_numbers_of_python():
    source = plainly(orbit, X, W)
    assert " = math.sqrt" in source and " = np.sqrt" not in source and "x.item(0)" in source
    assert "numpy_float" not in source and "python_float" not in source
    assert "python_float" not in plainly(stencil, X, W)  # nor what lies on a tape on a tape


def squared_often(x, w):
    for _ in range(4):
        x = x * x
    return x[0] / (1.0 + x[1]) + w[0]


def absorbed(x, w):
    y = x * 1e160
    z = y * y
    return 1.0 / (1.0 + z[0]) + (1.0 if z[1] > 3 else 2.0) * w[1]


def divided(x, w):
    y = x / w
    return np.sqrt(y[0]) + y[1] / x[1]


def unused(x, w):
    y = x * x
    y[0] + y[1]
    return w[0] * x[1] * w[1]


def filled(x, w):
    u = np.zeros(3)
    for i in range(2):
        u[i] = x[i] * 1e200 * x[i]
    return np.sum(u[1:]) * w[0] + w[1]


POINTS = [
    [1.0, 2.0],
    [0.0, 0.0],
    [1e200, 1e-200],
    [1e154, 1.1e154],
    [-3.0, 0.5],
    [-0.0, 1.0],
    [np.inf, 1.0],
    [np.nan, 2.0],
    [5e-324, 1.0],
]


@pytest.mark.parametrize(
    "f", [squared_often, absorbed, divided, unused, filled], ids=lambda f: f.__name__
)
@pytest.mark.parametrize("point", POINTS, ids=str)
def test_warnings_and_numbers_are_those_of_numpy(f, point):
    x, w = np.array(point), np.array([0.5, 3.0])

    def found(tier):
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            value, slopes = ad.value_and_grad(f, (0, 1), tier=tier)(x, w)
        return value, slopes, sorted(str(one.message) for one in warned)

    value, slopes, warned = found("generic")
    for _ in range(3):
        again = found(None)
        np.testing.assert_equal(again[0], value)
        np.testing.assert_allclose(again[1], slopes, rtol=1e-14)
        assert again[2] == warned


def test_a_program_that_meets_infinities_gets_numbers_of_numpy():
    def f(x, most):
        total = 0.0
        for _ in range(3):
            total = total + np.sum(x * x)
            if (most - x)[0] > 1.0:
                total = total + x[0] * x[1]
        return total

    most = np.array([np.inf, 1.0])
    expected = ad.grad(f, tier="generic")(X, most)
    assert "x.item(0)" in plainly(f, X, np.array([2.0, 1.0]))
    for _ in range(3):
        np.testing.assert_allclose(ad.gradient(f, X, most)[0], expected, rtol=1e-14)
    kept = store.known(f, GRADIENT)
    assert not kept.is_plain and "item" not in plainly(f, X, most)
    assert ad.tier(f, X, most).tier == "fast"


def test_infinite_constants():
    def least(x):
        found = np.inf
        for i in range(4):
            y = x * i - 1.0
            found = min(found, np.sum(y * y))
        return found

    assert ad.gradient(least, X)[0] == pytest.approx(ad.grad(least, tier="generic")(X))
    assert ad.tier(least, X).tier == "fast"


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_number_whose_class_depends_on_the_iterations(count):
    kept = []

    def f(x, n):
        s = 0.5
        for _ in range(n):
            s = s + x[0] * x[1] / (1 + x[0])
        kept.append(s)
        return s * x[0]

    kept.clear()
    f(X, count)
    plain = kept.pop()
    ad.gradient(f, X, count)
    assert (type(kept[-1]), float(kept[-1])) == (type(plain), float(plain))


def test_what_is_stored_outside_is_of_numpy():
    class Log:
        last = None

    log = Log()

    def f(x):
        y = x * x - 0.5
        log.last = y[0] * y[1] / (2.0 + y[0])
        return y[0] * 3.0 + y[1] / math.pi

    f(X)
    plain = log.last
    log.last = None
    ad.gradient(f, X)
    assert type(log.last) is np.float64 and log.last == plain


def test_underflows_that_are_reported():
    """Python reports no underflow: so the generic tier takes a call where NumPy has to."""

    def f(x):
        total = 0.0
        for i in range(4):
            y = x[0] * (1.0 + 0.1 * i)
            total = total * 0.9 + y**2 + y * x[1]
        return total

    x = np.array([1e-200, 1.5])
    value, (slope,) = ad.withgradient(f, x)
    calls = (
        lambda: ad.gradient(f, x),
        lambda: ad.pullback(f, x),
        lambda: ad.pushforward(f, (x,), (x,)),
        lambda: ad.hvp(f, x, x),
    )
    for _ in range(2):
        for call in calls:
            call()
            with np.errstate(under="raise"), pytest.raises(FloatingPointError):
                call()
    assert ad.withgradient(f, x)[0] == value and (ad.gradient(f, x)[0] == slope).all()
