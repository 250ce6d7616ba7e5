"""Floating-point errors of what writes: all is written when NumPy raises them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import adjoint as ad


def power(v, o):
    v **= np.array([2.0, 1e6])


def quotient(v, o):
    v /= np.array([2.0, 0.0])


def by_method(v, o):
    v.__itruediv__(np.array([2.0, 0.0]))


def total(v, o):
    v += np.array([2.0, 1.7e308])
    v += np.array([1.0, 1.7e308])


def with_itself(v, o):
    v[1] = 1.7e308
    v += v


def by_a_number(v, o):
    v[1] = 1e300
    v *= 1e200


def through_a_view(v, o):
    w = v[:]
    w *= np.array([2.0, 1e308])
    w *= np.array([2.0, 1e308])


def onto_itself(v, o):
    v[1] = -1.0
    np.sqrt(v, out=v)


def elsewhere(v, o):
    np.log(np.array([1.0, -1.0]) * v, out=o)


def accumulated(v, o):
    np.divide.accumulate(v * np.array([1.0, 0.0]), out=o)


def where(v, o):
    np.divide(v, np.array([2.0, 0.0]), out=o, where=[True, True])


def product(v, o):
    np.matmul(np.array([[1.0, 0.0], [0.0, 1e308]]), v * np.array([1.0, 1e308]), out=o)


def into_both(v, o):
    np.divmod(v, np.array([2.0, 0.0]), o, np.zeros(2))


def into_one(v, o):
    np.divmod(v, np.array([2.0, 0.0]), o)


def beside_itself(v, o):
    v *= 1e200 * v[::-1] / v[::-1]
    v *= v[::-1]  # NumPy writes that at the end, which it does not reach


def beside_its_output(v, o):
    np.multiply(v[:1], [1.0, 1e308], out=o)
    np.multiply(o[:1], [2.0, 1e308], out=o)


def product_onto_itself(v, o):
    a = np.array([[v[0], 1e200], [1e200, v[1]]])
    try:
        np.matmul(a, a, out=a)
    finally:
        o[:] = a[0, 0]


def accumulated_onto_itself(v, o):
    v[1] = 1e308
    np.multiply.accumulate(v, out=v)


WRITES = [
    beside_itself, beside_its_output, product_onto_itself, accumulated_onto_itself,
    power, quotient, by_method, total, with_itself, by_a_number, through_a_view, onto_itself,
    elsewhere, accumulated, where, product, into_both, into_one,
]  # fmt: skip


def raising(write, v, o):
    with np.errstate(all="raise"):
        write(v, o)


def warning(write, v, o):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        write(v, o)


@pytest.mark.parametrize("ways", [raising, warning])
@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("tier", ["fast", "generic"])
def test_what_was_written_is_there(write, ways, tier):
    def f(v):
        v, o = v * 1.0, np.ones(2)
        try:
            ways(write, v, o)
        except (FloatingPointError, RuntimeWarning):
            return v[0] * 1.5 + o[0] * v[0]
        return 0.0

    x, step = np.array([3.0, 4.0]), 1e-6
    slope = [(f(x + step * e) - f(x - step * e)) / (2 * step) for e in np.eye(2)]
    assert slope[0] != 0.0
    value, gradient = ad.value_and_grad(f, tier=tier)(x)
    assert value == f(x)
    np.testing.assert_allclose(gradient, slope, rtol=1e-6, atol=1e-6)
    _, back = ad.pullback(f, x)
    np.testing.assert_array_equal(back(1.0)[1], gradient)
    np.testing.assert_array_equal(back(1.0)[1], gradient)
    value, moved = ad.pushforward(f, (x,), (np.ones(2),))
    assert (value, moved) == (f(x), pytest.approx(sum(slope), rel=1e-6))


def test_an_error_that_gets_out_leaves_what_was_written():
    def f(v):
        with np.errstate(divide="raise"):
            v /= np.array([2.0, 0.0])

    x = np.array([3.0, 4.0])
    with pytest.raises(FloatingPointError):
        ad.gradient(f, x)
    np.testing.assert_array_equal(x, [1.5, np.inf])


def test_what_is_refused_before_it_writes():
    def f(v):
        try:
            v += np.ones(3)
        except ValueError:
            pass
        return v[0] ** 2

    assert ad.gradient(f, np.array([3.0, 4.0]))[0].tolist() == [6.0, 0.0]
