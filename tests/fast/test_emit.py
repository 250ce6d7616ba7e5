"""Source that is easily written wrong: each function in both tiers."""

import numpy as np
import pytest

import adjoint as ad
from tests.fast.agreeing import Agreement


def statements_in_the_test(x):
    """The test takes a line of its own, and the loop is left in both ways."""
    s = 0.0
    for k in range(4):
        a = x
        while (t := a - 0.1 * k) * t > 1.0:
            a *= 0.5
            if k == 0 and a < 1.5:
                break
        else:
            s += 10 * a
        s += a
    return s


def line_search(x, y):
    def bound(t):
        return y * t if t > 0.2 else y

    def step():
        t, n = 1.0, 0
        while (x - t) * (x - t) > bound(t) and n < 10:
            t *= 0.7
            n += 1
            if n == 6:
                return t * x
        else:
            return t * t * y
        return x

    return step() * x + step()


def counted(x, n):
    s = 0.0
    for i in range(n):
        s = s + x * (i + 1)
    return s


def counted_arrays(x, n):
    s = np.zeros(3)
    for i in range(n):
        s = s + x * (i + 1)
    return s.sum()


def counted_twice(x, y, n):
    s = y
    for i in range(n):
        for j in range(i):
            s = s + x * (j + 1) * i
    return s


def tuples_of_one(u, x):
    s = 0.0
    for (a,) in zip(u, strict=True):
        if a:
            s = s + x * (a + 1)
    return s


def tuples_of_one_read(u):
    s = 0.0
    for (a,) in zip(u, strict=True):
        s = s + np.sin(a)
    return s


def indexed_by_nothing(u):
    return (np.where(u > 0.0, u, 1.0)[()] * u).sum()


def chosen_in_a_loop(x, y, n):
    s = 0.0
    for _ in range(n):
        x = x * 0.9
        s = s + np.where(x > y, x, y)
    return s


U = np.array([0.31, 0.0, 0.77] * 8)


@pytest.mark.parametrize(
    ("f", "args"),
    [
        *[(statements_in_the_test, (x,)) for x in (5.0, 2.0, 1.1, 0.3)],
        *[(line_search, xy) for xy in [(2.0, 0.1), (2.0, 1.0), (1.2, 0.3), (0.9, 0.5), (3.0, 8.0)]],
        *[(counted, (2.5, n)) for n in range(3)],
        *[(counted_arrays, (np.ones(3), n)) for n in range(2)],
        *[(counted_twice, (1.0, 2.0, n)) for n in range(4)],
        (tuples_of_one, (U, 2.0)),
        (tuples_of_one_read, (U,)),
        (indexed_by_nothing, (U,)),
        (chosen_in_a_loop, (2.3, 1.7, 3)),
        (chosen_in_a_loop, (np.float32(2.3), np.float32(1.7), 3)),
    ],
)
def test_both_tiers(f, args):
    found = Agreement()
    found.compare(f.__name__, lambda: (f, *args))
    assert found.covered == 1, found.generic
    assert not found.problems
    for bar, x in zip(ad.gradient(f, *args), args, strict=True):
        assert type(bar) is (float if type(x) is int else type(x))


def named_back(x, y):
    back = x < 1.0
    s = x * y
    for _ in range(3):
        s = np.sin(s) * y
        if back:
            s = s * x
    return s * np.ones(2)


def named_as_the_cotangent(x, y_bar):
    return x * y_bar, x * x * y_bar


def named_as_all_is(forward, gradient, y, back, tape=2.0, steps=3.0, reached=1.5):
    y_bar = forward * gradient + back * tape
    for _ in range(3):
        tape = tape * y + steps
        if tape > reached:
            y_bar = y_bar * back
    return y_bar, tape * gradient


@pytest.mark.parametrize(
    ("f", "args", "y_bar"),
    [
        (named_back, (0.7, 1.3), np.array([0.4, -1.0])),
        (named_back, (1.7, 1.3), np.array([0.4, -1.0])),
        (named_as_the_cotangent, (np.array([1.0, 2.0, 3.0]), np.array([3.0, 5.0, 7.0])), None),
        (named_as_all_is, (0.5, 1.1, 0.9, 1.2, 0.3, 0.4, 0.5), (2.0, -0.5)),
    ],
)
def test_names_that_generated_code_has_too(f, args, y_bar):
    found = Agreement()
    if y_bar is None:
        y_bar = tuple(0.5 * np.ones(3) * (i + 1) for i in range(2))
    found.compare(f.__name__, lambda: (f, *args), y_bar=y_bar)
    assert found.covered == 1, found.generic
    assert not found.problems
