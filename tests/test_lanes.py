"""The short ways of arithmetic and of arrays: zeros that stay zeros, written memory, poison."""

import ctypes
import math
import pickle
import weakref
from types import SimpleNamespace

import numpy as np
import pytest

import adjoint as ad
from adjoint.rulekit.lanes import lane
from adjoint.runtime.operators.arithmetic import alike, is_plain
from tests.support import check_reverse

A = np.array([0.9, -0.8, 0.7])
B = np.array([1.1, 0.4, -0.3])
SCALE, TABLE, COUNTER = 2.0, np.array([1.5, 0.5, -2.0]), 0.5


def selected(part):
    """A cotangent of zero for the elements in which something is infinite."""
    return lambda *args: np.sum(np.where(np.array([True, False, True]), part(*args), 0.0))


INFINITE = [
    (lambda a, b: a * b, A, np.array([1.0, np.inf, 2.0])),
    (lambda a, b: b * a, A, np.array([1.0, np.nan, 2.0])),
    (lambda a, b: a / b, A, np.array([1.0, 0.0, 2.0])),
    (lambda a, b: b / a, np.array([1.0, 0.0, 2.0]), B),
    (lambda a, b: b * a**2, np.array([1.0, np.inf, 2.0]), B),
    (lambda a, b: a[0] * b, A, np.array([1.0, np.inf, 2.0])),
    (lambda a, b: b / a[0], A, np.array([1.0, np.inf, 2.0])),
    (lambda a, b: a * b * 2.0, A, np.array([1.0, np.inf, 2.0])),
    (lambda a, b: a * INFINITE_TABLE + b, A, B),
    (lambda a, b: multiplied(a, b), A, np.array([1.0, np.inf, 2.0])),
    (lambda a, b: a[:1] * b, A, np.array([1.0, np.inf, 2.0])),
    (lambda a, b: np.log(b) + a, A, np.array([1.0, 0.0, 2.0])),
]


def multiplied(a, b):
    y = a * 1.0
    y *= b
    return y


INFINITE_TABLE = np.array([1.0, np.inf, 2.0])


@pytest.mark.parametrize("case", INFINITE)
def test_zeros_stay_zeros(case):
    f, a, b = case
    with np.errstate(all="ignore"):
        bars = ad.gradient(selected(f), a, b)
    for bar in bars:
        assert np.all(np.isfinite(bar)) and bar[1] == 0


def test_zero_of_a_number_stays_zero():
    assert ad.gradient(lambda x, y: (x * y) * 0.0 + x, 3.0, np.inf) == (1.0, 0.0)
    assert ad.gradient(lambda x: 0.0 * (x**0.5) + x, 0.0) == (1.0,)
    back = ad.pullback(lambda x, y: x / y, np.float64(1.0), np.float64(0.5))[1]
    assert back(0.0)[1:] == (0.0, 0.0)


OPERATIONS = [
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: a * b,
    lambda a, b: a / b,
    lambda a, b: -a + 2 * b - 3.0,
    lambda a, b: (a - 1) * 0.5 / 2 + (1.0 - b) / 4.0,
    lambda a, b: a * a * b**2,
    lambda a, b: a[1] * b + b * a[2] - b / a[0],
    lambda a, b: TABLE * a - b * TABLE + (TABLE - a) / TABLE,
    lambda a, b: SCALE * a + b / SCALE,
    lambda a, b: np.maximum(a, b) + np.minimum(a, TABLE) + np.maximum(TABLE, b),
    lambda a, b: np.dot(a, b) * np.dot(a, TABLE) + (a @ TABLE) * a,
    lambda a, b: np.array([a[0], b[1], a[2] * b[0]]),
    lambda a, b: np.cumsum(a) * b + (np.cumsum(a * b) ** 2).cumsum(),
    lambda a, b: a[:2].sum(keepdims=True) + b[1:] * a[:-1],
    lambda a, b: np.sum(np.stack([a, b]), axis=0) * np.mean(b, keepdims=True),
    lambda a, b: np.sum(a * b) * a - a.sum() * b / a.dot(b),
    lambda a, b: (a[:1] + b) * (a - b[1:2]) - a[2:] * b[:1] * a,
    lambda a, b: np.sum(a[:, None] - b[None, :] * a[:, None] + (a[:, None] + b), axis=1),
    lambda a, b: np.exp(a) + np.expm1(b) + np.log(a + 3) + np.log1p(b + 2) + np.sqrt(a + 2),
    lambda a, b: np.sin(a) + np.cos(b) + np.tan(a * b) + np.arctan(a) + np.square(b),
    lambda a, b: np.sinh(a) * np.cosh(b) - np.tanh(a + b),
    lambda a, b: np.minimum(a, b) * np.maximum(a, a) + np.maximum(a, 0) - np.minimum(0.5, b),
    lambda a, b: in_place(a * 1.0, b),
]


def in_place(y, b):
    """Every in-place operator, on an owner and on views, with an array, a view and a number."""
    y += b
    y -= b[::-1] * 0.5
    y *= b
    y[1:] *= b[:-1]
    y[:2] -= b[1:]
    y *= b[0]
    y /= b[1] + 2.0
    y *= 1.5
    y[1:] = b[:2]
    y[:2] *= y[0]
    y[2:] = b[0] * 3.0
    return y


@pytest.mark.parametrize("f", OPERATIONS)
def test_by_differences(f):
    check_reverse(lambda a, b: np.sum(f(a, b) * np.array([1.0, -2.0, 0.5])[: f(a, b).size]), A, B)


@pytest.mark.parametrize("f", OPERATIONS)
def test_after_writes_of_what_was_used(f):
    """What is written later, or before, keeps its cotangent in memory."""

    def g(a, b):
        a, b = a * 1.0, b * 1.0
        y = f(a, b)
        a[1] = b[0] * 2.0
        b += a
        y = y + f(a, b) if y.shape == (3,) else y * np.sum(f(a, b))
        b[1:] -= 0.5 * a[:-1]
        y *= 0.5
        return np.sum(y * f(a, b)[: y.size])

    check_reverse(g, A, B)


@pytest.mark.parametrize("f", OPERATIONS)
def test_results_that_are_written(f):
    def g(a, b):
        y = f(a, b)
        z = y * 2.0
        y[0] = a[0] * b[0]
        y[1:] += z[1:]
        y -= 0.25
        return np.sum(y * z)

    check_reverse(g, A, B)


def test_numbers_in_every_mixture():
    def f(x, y, z):
        u = -(x**2) + y**3 - z**-1 + x / y - 2 / x + y / 4 + abs(z) - (-y)
        return u * max(x, y) - min(x, 0.5) * max(x, x) + SCALE * x - x * SCALE + SCALE / x

    check_reverse(f, 1.3, 0.7, -0.4)
    check_reverse(f, np.float64(1.3), 0.7, np.float64(-0.4))
    check_reverse(f, 1.3, np.float64(0.7), -0.4)
    check_reverse(lambda n, x: n * x + x / n - n**2, 3, 0.7)

    def g(x, y):
        u = math.sin(x) + math.cos(y) * math.exp(x) - math.log(y) / math.sqrt(y) + math.tanh(x * y)
        v = math.tan(x) - math.atan(y) + math.sinh(x) * math.cosh(y) - math.expm1(x) * math.log1p(y)
        return u * np.sin(x) - v * np.exp(-y) + np.sqrt(y) * np.log(y) + np.square(x) * abs(-x)

    check_reverse(g, 0.6, 1.3)
    check_reverse(g, np.float64(0.6), 1.3)
    check_reverse(g, 0.6, np.float64(1.3))
    check_reverse(lambda n: math.sin(n) * math.exp(n / 2) + np.tanh(n), 2)


def assigns(x):
    global COUNTER
    COUNTER = COUNTER * x
    return COUNTER * x + x * COUNTER - COUNTER + x / COUNTER + x**COUNTER + np.maximum(COUNTER, x)


def test_a_global_that_is_assigned_has_a_derivative():
    def value(x):
        c = 0.5 * x
        return c * x + x * c - c + x / c + x**c + np.maximum(c, x)

    global COUNTER
    expected = ad.gradient(value, 1.7)[0]
    COUNTER = 0.5
    assert ad.gradient(assigns, 1.7)[0] == pytest.approx(expected, rel=1e-12)
    COUNTER = 0.5


BUFFER = np.zeros(3)


def writes(x):
    BUFFER[:] = x * 2.0
    return np.sum(x * BUFFER + BUFFER * x + np.dot(BUFFER, x) + BUFFER @ x)


def test_a_global_array_that_is_written_has_a_derivative():
    check_reverse(writes, A)


opaque = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(abs)
"""A function of C that nobody knows."""


def test_poison_passes():
    without_rule = pytest.importorskip("scipy.special._ufuncs")._cospi  # of nobody's interest
    for f in (
        lambda a: without_rule(a * 3.0 - a / 2 + a[0] * a)[1],
        lambda a: without_rule(-a + a * a * TABLE)[1],
        lambda a: without_rule(np.array([a[0], a[1]]))[1],
        lambda a: without_rule(float(a[0]) ** 2 + abs(a[1])),
    ):
        with pytest.raises(ad.AdjointError, match="_cospi"):
            ad.gradient(f, A)

    def written(a):
        y = a * 2.0
        y[0] = 1.0
        y += a
        return without_rule(y * 3.0)[1]

    with pytest.raises(ad.AdjointError, match="_cospi"):
        ad.gradient(written, A)


def test_a_rule_registered_later_replaces_the_lane():
    def cube(x, /):
        return x**3

    ufunc = np.frompyfunc(cube, 1, 1)

    @lane(ufunc, 1)
    def short(record, slot, x):
        raise AssertionError("the lane of the rule before")

    @ad.rrule.register(ufunc)
    def _(x, /):
        return cube(x), lambda y_bar: (None, 3 * x**2 * y_bar)

    np.testing.assert_allclose(ad.gradient(lambda a: np.sum(ufunc(a)), A)[0], 3 * A**2)


@pytest.mark.parametrize("f", [np.maximum, np.minimum])
def test_ties_of_few_elements_are_those_of_many(f):
    a = np.array([1.0, 0.0, -0.0, 2.0, np.nan, np.inf, np.inf, 1.0])
    b = np.array([1.0, -0.0, 0.0, 3.0, np.nan, np.inf, 1.0, np.nan])
    for n in (3, 4, 5, 6, 7, 8):
        few = ad.gradient(lambda a, b: np.sum(f(a, b)), a[:n], b[:n])
        many = ad.gradient(lambda a, b: np.sum(f(a, b)), np.tile(a[:n], 40), np.tile(b[:n], 40))
        for small, large in zip(few, many, strict=True):
            np.testing.assert_array_equal(np.tile(small, 40), large)


def test_arrays_that_were_pickled_go_the_short_ways():
    a, b = pickle.loads(pickle.dumps((A, B)))
    assert a.dtype is not A.dtype
    memory = SimpleNamespace(written={})
    assert is_plain(memory, a) and alike(memory, a, B)

    def f(a, b):
        y = np.sin(a * b) + a[1:2] * b**2
        y[0] = 0.5
        y += a / b
        return np.maximum(y, a) @ b + np.dot(a, b)

    for own, pickled in zip(ad.gradient(f, A, B), ad.gradient(f, a, b), strict=True):
        np.testing.assert_array_equal(own, pickled)


def test_intermediate_arrays_are_not_kept():
    kept = []

    def look(y):
        kept.append(weakref.ref(y))

    ad.non_differentiable(look)

    def f(x):
        for _ in range(5):
            y = x * 0.5 + 1.0
            look(y)
            x = np.roll(y, 1) - 0.25 * y
        return np.sum(x)

    y, back = ad.pullback(f, np.ones(1000))
    assert sum(ref() is not None for ref in kept) == 0
    np.testing.assert_allclose(back(1.0)[1], 0.375**5 * np.ones(1000))
