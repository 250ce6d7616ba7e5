"""Zeros where no path leads from an argument to the result, or only one of slope zero: no tier has
to tell them apart, so that programs need not be left for either."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.build.modes import GRADIENT
from adjoint.fast.programs import store as tier
from adjoint.runtime.entries import basics
from adjoint.testing import check_gradient
from tests.fast.agreeing import Agreement, generic_tier
from tests.fast.agreement import generic
from tests.fast.leaving import arguments, leaving
from tests.structures import difference


def in_one_branch(x, y):
    z = x * x
    if z > 1.0:
        return z * y
    return 3.0 * y


def overwritten(x, y, n):
    for i in range(n):
        x = y * i
    return x * y


def loops_in_branches(a, c, n):
    s = c
    if c > 0:
        for _ in range(n):
            s = s + a / c
    else:
        for i in range(n):
            s = s - a / c * i
    return s


def greatest(x, y):
    return max(x * x, y + 1.0)


def sometimes(x, y, n):
    s = x
    for i in range(n):
        if i % 3 == 2:
            s = s * y
        else:
            s = s + 1.0
    return s


def nested(x, y, n):
    s = 1.0
    for i in range(n):
        for _ in range(i - 1):
            s = s * x
        if i > 2:
            s = 2.0 * y
    return s


def kept(xs):
    squares = [x * x for x in xs if x > 0.0]
    return sum(squares)


def only_counted(xs):
    return 2.0 * len([x for x in xs if x > 0.0]) + xs[0]


def first_of_them(xs):
    squares = [x * x for x in xs if x > 0.0]
    return 2.0 * squares[0]


def chosen(x, y, n):
    z = y * 2.0 if n > 1 else x * 3.0
    w = z * z
    return w + 1.0


def written(a, b, n):
    y = np.zeros(3)
    y[0] = a
    if n > 1:
        y[1] = b * b
    return y[1] * 2.0


def after_a_branch(a, b, c, n):
    p, s = 0.2, 0.0
    for v in (a, b, c):
        p = v * s
        if n > 1:
            for w in (a, b):
                p = w * s
                s *= p
    return p


def perhaps_twice(x, a, b, c):
    held = [a, b, 1.0]
    for v in held:
        p = v * held[1]
        if x > p:
            c += held[0] + p
        held[1] *= c
    return p


def left_early(x, a, b):
    s = 0.0
    for _ in range(2):
        p = a
        for v in (a, b):
            p = v * s
            s += b
            if x < 0.3:
                return s
        if p > 7.0:
            return p
    return b


CALLS = [
    *[(after_a_branch, (0.5, 1.2, 1.4, n)) for n in (0, 2)],
    *[(perhaps_twice, (x, 1.7, 0.5, 0.9)) for x in (-1.0, 0.9, 5.0)],
    *[(left_early, (x, a, 0.5)) for x in (0.0, 1.0) for a in (0.1, 9.0)],
    (in_one_branch, (2.0, 3.0)),
    (in_one_branch, (0.5, 3.0)),
    (overwritten, (2.0, 3.0, 0)),
    (overwritten, (2.0, 3.0, 2)),
    (loops_in_branches, (2.0, 3.0, 0)),
    (loops_in_branches, (2.0, 3.0, 2)),
    (loops_in_branches, (2.0, -3.0, 2)),
    (greatest, (2.0, 1.0)),
    (greatest, (1.0, 2.0)),
    (greatest, (1.0, 0.0)),
    (sometimes, (2.0, 3.0, 2)),
    (sometimes, (2.0, 3.0, 5)),
    (sometimes, (0.0, 0.0, 6)),
    *[(nested, (2.0, 3.0, n)) for n in range(6)],
    (kept, ([1.0, -2.0, 3.0],)),
    (only_counted, ([1.0, -2.0, 3.0],)),
    (chosen, (2.0, 3.0, 1)),
    (chosen, (2.0, 3.0, 2)),
    (chosen, (0.0, 3.0, 1)),
    (written, (2.0, 3.0, 1)),
    (written, (2.0, 3.0, 2)),
]


def chain_in_a_list(x):
    y, k = [0.0] * len(x), [0.0] * len(x)
    for i in range(1, len(x)):
        k[i] = x[i] * y[i - 1]
        y[i] = y[i - 1] + 0.1 * k[i] + (1.0 if i == 3 else 0.0)
    return y[-1]


def products_with_zeros(x, y):
    k = [0.0] * len(x)
    for i in range(1, len(x)):
        k[i] = x[i] * y[i - 1]
    return sum(k)


def chain_in_an_array(x):
    k = np.zeros(len(x))
    k[0] = x[0]
    for i in range(1, len(x)):
        k[i] = x[i] * k[i - 1]
    return k[-1] + k[1]


def at_rest(x, y):
    k = np.zeros(len(x))
    for i in range(1, len(x)):
        k[i] = x[i] * y[i - 1]
    return k.sum() * y[0]


def steps(y, c, n):
    k = np.zeros(4)
    for _ in range(n):
        k[0] = c[0] * y
        for j in range(1, 4):
            k[j] = c[j] * (y + 0.05 * k[j - 1])
        y = y + 0.1 * (k[0] + 2 * k[1] + 2 * k[2] + k[3]) / 6
    return y


def steps_of_a_system(state, c, n):
    y, k = [state[0], state[1]], [0.0, 0.0]
    for _ in range(n):
        for i in range(2):
            k[i] = c[i] * y[i - 1]
        y[0] += 0.1 * k[0]
        y[1] -= 0.1 * k[1]
    return y[0]


XS = [1.0 + 0.01 * i for i in range(20)]
COEFFICIENTS = np.array([1.0, 2.0, 0.0, 0.5])

CALLS += [
    (chain_in_a_list, (XS,)),
    (chain_in_a_list, (np.array(XS),)),
    (products_with_zeros, (XS, [0.0, 1.0] * 10)),
    (chain_in_an_array, (XS,)),
    (chain_in_an_array, (np.array(XS),)),
    (at_rest, (np.array(XS), np.zeros(20))),
    (at_rest, (XS, np.array(XS))),
    *[(steps, (y, COEFFICIENTS, n)) for y in (1.0, 0.0) for n in (0, 3)],
    (steps, (1.0, COEFFICIENTS.tolist(), 3)),
    *[(steps_of_a_system, ([a, 0.0], [1.0, b], 5)) for a in (1.0, 0.0) for b in (1.0, 0.0)],
    (first_of_them, ([1.0, -2.0, 3.0],)),
    (first_of_them, ([1.0, -2.0, -3.0],)),
]


@pytest.mark.parametrize(("f", "args"), CALLS, ids=lambda x: getattr(x, "__name__", repr(x)[:20]))
def test_zeros_do_not_leave_a_program(f, args):
    basics.load()
    tier.forget()
    found = tier.run(f, args, GRADIENT)
    assert found is not tier.MISS, [r.reason for r in tier.known(f, GRADIENT).refused.values()]
    assert not difference(found, generic(f, args), rtol=1e-12), (found, generic(f, args))
    agreement = Agreement()
    agreement.compare(f.__name__, lambda: (f, *copy.deepcopy(args)), y_bar=1.0)
    assert agreement.covered == 1, agreement.generic
    assert not agreement.problems


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (chain_in_an_array, (np.array(XS),)),
        (steps, (0.7, COEFFICIENTS, 3)),
        (steps_of_a_system, ([1.0, 0.0], [1.0, 0.5], 5)),
        (products_with_zeros, (XS, [0.0, 1.0] * 10)),
    ],
)
def test_chains_are_right(f, args):
    if isinstance(args[-1], int):
        n = args[-1]
        check_gradient(lambda *given: f(*given, n), *args[:-1])
    else:
        check_gradient(f, *args)


def test_loops_that_are_left_early():
    found = Agreement()
    for seed in range(80):
        f = leaving(seed)
        for point in (2 * seed, 2 * seed + 1):
            found.compare(f"{seed}, {point}", lambda f=f, point=point: (f, *arguments(point)))
    assert not found.problems
    assert found.covered >= 100, (found.covered, found.generic.most_common(20))


def test_items_that_an_index_does_not_choose():
    def f(x, z, n):
        items = [x, z, 2.0]
        return items[n - 3] * items[n - 2]

    for n in (1, 2, 4):
        found = ad.gradient(f, 1.3, 0.7, n)
        with generic_tier():
            assert found == ad.gradient(f, 1.3, 0.7, n)
        assert 0.0 in found[:2]


@pytest.mark.parametrize("f", [lambda x: max(x, 0.5), lambda x: min(x, 0.5), lambda x: max(0.5, x)])
def test_extrema_of_nan(f):
    found = ad.gradient(f, float("nan"))
    with generic_tier():
        assert found == ad.gradient(f, float("nan"))


# ---- cotangents of zero --------------------------------------------------------------------------


NO_SLOPE = {
    "copysign": lambda a, b: math.copysign(a, b),
    "floor": lambda a, b: math.floor(a) * 0.5 + b,
    "round": lambda a, b: round(a, 1) + b,
    "sign": lambda a, b: np.sign(a) + b,
    "floor division": lambda a, b: (a // 2) + b,
    "max": max,
    "min": min,
    "max of three": lambda a, b: max(a, b, 0.1),
    "min of a list": lambda a, b: min([b, a]),
}


@pytest.mark.parametrize("kind", [float, np.float64, np.float32])
@pytest.mark.parametrize("name", NO_SLOPE)
def test_what_has_no_slope(name, kind):
    """Also where a cotangent of zero comes back."""
    g = NO_SLOPE[name]
    for factor in (2.0, 0.0):

        def f(a, b, factor=factor):
            return g(a, b) * factor

        args = kind(1.3), kind(2.4)
        bars = ad.gradient(f, *args)
        _, expected = generic(f, args)
        assert list(map(type, bars)) == list(map(type, expected)) == [kind, kind]
        np.testing.assert_equal(bars, expected)


@pytest.mark.parametrize("bar", [1.0, 0.0, float("inf")])
def test_a_zero_beside_an_infinite_slope_stays_zero(bar):
    """What a branch or `np.where` has not chosen contributes nothing."""

    def f(x, v):
        y = np.sqrt(x) if x > 0.0 else 2.0 * x
        return y + np.where(v > 0.0, np.sqrt(v), v).sum() + max(np.sqrt(x), 1.0) * 2.0

    _, back = ad.pullback(f, 0.0, np.array([0.0, 4.0]))
    _, x_bar, v_bar = back(bar)
    with generic_tier():
        _, generic_back = ad.pullback(f, 0.0, np.array([0.0, 4.0]))
    expected = generic_back(bar)
    np.testing.assert_array_equal(x_bar, expected[1])
    np.testing.assert_array_equal(v_bar, expected[2])
    np.testing.assert_array_equal(v_bar, [bar, 0.25 * bar])
    assert x_bar == 2.0 * bar


@pytest.mark.parametrize("kind", ["f8", "f4"])
@pytest.mark.parametrize("f", [max, min])
@pytest.mark.parametrize("place", range(3))
def test_the_greatest_of_three_numbers_is_nan(f, kind, place):
    x = np.array([0.4, 1.0, 1.0], kind)
    x[place] = np.nan

    def best(x):
        return f(x[0], x[1], x[2]) * 1.0

    _, back = ad.pullback(best, x)
    found = back(1.5)[1]
    with generic_tier():
        _, back = ad.pullback(best, x)
        np.testing.assert_array_equal(found, back(1.5)[1])


# ---- careful programs ----------------------------------------------------------------------------


def distances(x):
    d = np.sqrt((x[:, None] - x[None, :]) ** 2)
    d[d > 0] = 1.0 / d[d > 0]
    return np.sum(np.triu(d, 1))


def chosen_roots(x):
    return np.sum(np.where(x > 1.0, np.sqrt(x - 1.0 + (x <= 1.0) * (1.0 - x)), x * x))


def roots_in_a_loop(x):
    s = x * 0.0
    for i in range(3):
        s = s + np.where(x > i, np.maximum(x - i, 0.0) ** 0.5, 0.0)
    return np.sum(s * s * x)


def written_over(x):
    y = np.cbrt(x[1:] - x[:-1])
    y[2] = 0.0
    return np.sum(y * x[1:])


def weighted_by_a_column(x):
    columns = np.sqrt(x[:, None] * np.ones(3))
    return np.sum(columns * (x[:, None] > 0) * np.array([1.0, 2.0, 3.0]))


def positive_parts(x):
    """Where the variance is cut off at zero, the infinite slope of the root counts for nothing."""
    v = x
    for _ in range(2):
        v = v + 0.5 * (1.0 - np.maximum(v, 0.0)) - 0.75 * np.sqrt(np.maximum(v, 0.0))
    roots = np.fmax(x, 0.0) ** 0.5 + np.sqrt(1.0 - np.minimum(x, 1.0))
    return np.sum(v * v + roots * x[::-1]) + np.sqrt(np.maximum(x[0], 0.0)) * x[2]


SINGULAR = [
    (distances, np.array([1.0, 2.5, 4.0])),
    (chosen_roots, np.array([0.5, 1.0, 2.0])),
    (roots_in_a_loop, np.array([0.5, 1.0, 2.5])),
    (written_over, np.array([0.5, 1.0, 2.5, 2.5])),
    (weighted_by_a_column, np.array([0.0, 2.0])),
    (positive_parts, np.array([-1.0, 0.5, 2.0])),
]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("f", "x"), SINGULAR, ids=lambda x: getattr(x, "__name__", None))
def test_zeros_beside_infinite_slopes_do_not_leave_a_program(f, x, dtype):
    basics.load()
    tier.forget()
    x = x.astype(dtype)
    for _ in range(3):
        found = tier.run(f, (x,), GRADIENT)
        assert found is not tier.MISS
        assert not difference(found, generic(f, (x,)), rtol=1e-12 if dtype is np.float64 else 1e-5)
    (entry,) = tier.known(f, GRADIENT).entries
    assert "begin_ignoring()" in entry.source
    agreement = Agreement()
    agreement.compare(f.__name__, lambda: (f, x.copy()), y_bar=dtype(1.0))
    assert not agreement.problems
    assert ad.tier(f, x).tier == "fast"


@pytest.mark.parametrize(("f", "x"), SINGULAR[:3], ids=lambda x: getattr(x, "__name__", None))
def test_careful_programs_beside_differences_and_other_modes(f, x):
    if f is not distances:  # at kinks differences tell nothing
        x = x + np.array([0.0, 0.25, 0.0])
    check_gradient(f, x)
    v = np.array([0.3, -0.2, 0.5])
    y, along = ad.pushforward(f, (x,), (v,))
    (bar,) = ad.gradient(f, x)
    assert y == f(x)
    np.testing.assert_allclose(along, bar @ v, rtol=1e-12)
    found = ad.hvp(f, x, v)
    with generic_tier():
        np.testing.assert_allclose(found, ad.hvp(f, x, v), rtol=1e-10)


def test_infinite_gradients_are_those_of_the_generic_tier():
    def f(x):
        return np.sum(np.sqrt(x))

    for x in (np.array([0.0, 1.0]), np.array([1.0, 4.0]), np.array([0.0, 0.0])):
        found = ad.gradient(f, x)
        with generic_tier():
            np.testing.assert_equal(found, ad.gradient(f, x))


def test_warnings_of_the_function_stay():
    def f(x):
        return np.sum(np.where(x > 0, 1.0 / x, 0.0) * np.sqrt(x))

    x = np.array([0.0, 4.0])
    for _ in range(2):
        with pytest.warns(RuntimeWarning, match="divide by zero") as warned:
            (bar,) = ad.gradient(f, x)
        assert len(warned) == 1
        np.testing.assert_allclose(bar, [0.0, -1 / 16])
    (entry,) = tier.known(f, GRADIENT).entries
    assert not entry.failures.is_infinite
