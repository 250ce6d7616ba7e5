"""What a program prints: once, in order, and as if the function itself had run."""

from __future__ import annotations

import contextlib
import io
import time

import numpy as np
import pytest

import adjoint as ad
from tests.fast.agreeing import generic_tier

POINT = np.array([0.7, 1.3, -0.6])
V = np.array([0.3, -0.2, 0.5])


def printed(run):
    with contextlib.redirect_stdout(io.StringIO()) as text:
        found = run()
    return found, text.getvalue()


def report(a, total):
    print(f"sum {total:.3f}", "of", len(a), sep="|", end=";\n")


def numbers(a):
    total = np.sum(a * a)
    print("begin", a[0], total, True, None)
    report(a, total)
    print("%s and %5.2f" % ("text", total), repr(total), str(a.shape) + "!")
    print()
    return total * a[1]


def arrays_that_are_written_later(a):
    y = a * 2.0
    print(y, [y[0], 1.0], (a, "x"))
    y[0] = 9.0 * a[1]
    print("y = {} {z}".format(y, z=y[0]))  # noqa: UP032
    return np.sum(y * y)


def in_an_unrolled_loop(a):
    total = 0.0
    for k, x in enumerate((a[0], a[1])):
        total = total + x * x
        print(k, total, flush=True)
    return total


def of_plain_numbers(a):
    x = float(a[0])
    y = x * 3 if x > 0.5 else x
    print(x, y, 2 * int(x), abs(-x))
    return y * x


FAST = [numbers, arrays_that_are_written_later, in_an_unrolled_loop, of_plain_numbers]


def in_a_branch(a):
    if a[0] > 0.5:
        print("large", a[0])
    return a[0] ** 2


def in_a_loop(a):
    total = 0.0
    for x in a:
        total = total + x * x
        print(total)
    return total


def before_an_exception(a):
    print("before", a[0])
    try:
        y = 1.0 / int(a[0])
    except ZeroDivisionError:
        y = a[1]
    print("after", y)
    return y * a[0]


def around_a_derivative(a):
    def inner(x):
        print("inside", x)
        return x**3

    print("around")
    (slope,) = ad.gradient(inner, a[0])
    return slope * a[1]


ALL = [*FAST, in_a_branch, in_a_loop, before_an_exception, around_a_derivative]


@pytest.mark.parametrize("f", FAST, ids=lambda f: f.__name__)
def test_prints_in_programs(f):
    printed(lambda: ad.gradient(f, POINT))
    assert printed(lambda: ad.tier(f, POINT))[0].tier == "fast"


@pytest.mark.parametrize("f", ALL, ids=lambda f: f.__name__)
def test_what_is_printed(f):
    _, expected = printed(lambda: f(POINT.copy()))
    for _ in range(3):
        (slope,), text = printed(lambda: ad.gradient(f, POINT))
        assert text == expected
        value, text = printed(lambda: ad.withgradient(f, POINT)[0])
        assert text == expected
        (y, back), text = printed(lambda: ad.pullback(f, POINT))
        assert text == expected
        assert printed(lambda: back(1.0))[1] == ""
        with generic_tier():
            (wanted,), _ = printed(lambda: ad.gradient(f, POINT))
        np.testing.assert_allclose(slope, wanted, rtol=1e-12)
        for run in (
            lambda: ad.pushforward(f, (POINT,), (V,)),
            lambda: ad.hvp(f, POINT, V),
        ):
            found, text = printed(run)
            with generic_tier():
                wanted, plain = printed(run)
            assert text == plain
            np.testing.assert_allclose(found, wanted, rtol=1e-9)


def test_other_points():
    ad.gradient(lambda a: a @ a, POINT)
    for scale in (1.0, 2.0, -1.0):
        x = POINT * scale
        assert printed(lambda: ad.gradient(numbers, x))[1] == printed(lambda: numbers(x))[1]


def test_a_clock():
    def timed(a):
        begin = time.perf_counter()
        y = np.sum(a * a)
        taken = time.perf_counter() - begin
        return y if taken >= 0.0 else y * 0.0

    assert ad.gradient(timed, POINT)[0].tolist() == (2 * POINT).tolist()
    assert ad.tier(timed, POINT).tier == "fast"


def test_text_of_a_list_that_a_branch_may_have_extended():
    def f(x, xs):
        if x > 0.5:
            xs.extend([x, x])
        return len(repr(xs)) * 0.0 + sum(xs) * x

    for x in (0.7, 0.2):
        found = ad.grad(f)(x, [0.1, 0.2, 0.3])
        with generic_tier():
            assert found == ad.grad(f)(x, [0.1, 0.2, 0.3])
