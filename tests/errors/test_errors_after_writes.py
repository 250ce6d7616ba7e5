"""Floating-point errors of what writes: all is written, or nothing, when NumPy raises them, so that
programs which go on afterwards are refused."""

from __future__ import annotations

import functools
import warnings

import numpy as np
import pytest

import adjoint as ad
from adjoint.errors import MutationError


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
    elsewhere, accumulated, where, into_both, into_one,
]  # fmt: skip


def raising(write, v, o):
    with np.errstate(all="raise"):
        write(v, o)


def warning(write, v, o):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        write(v, o)


def catching(kind, write, ways, v):
    v, o = v * 1.0, np.ones(2)
    try:
        ways(write, v, o)
    except kind:
        return v[0] * 1.5 + o[0] * v[0]
    return 0.0


@pytest.mark.parametrize("ways", [raising, warning])
@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("kind", [(FloatingPointError, RuntimeWarning), Exception])
def test_it_is_refused(kind, write, ways):
    x = np.array([3.0, 4.0])
    f = functools.partial(catching, kind, write, ways)
    assert f(x) != 0.0
    for run in (
        ad.grad(f),
        ad.grad(f, tier="generic"),
        lambda x: ad.hessian(f, x),
        lambda x: ad.pushforward(f, (x,), (np.ones(2),)),
    ):
        with pytest.raises(MutationError, match="that writes into an array raises an error"):
            run(x)


def test_what_is_written_afterwards_has_its_derivative():
    def f(v):
        v = v * 1.0
        try:
            with np.errstate(divide="raise"):
                quotient = v / np.array([2.0, 0.0])
            v[...] = quotient
        except FloatingPointError:
            return v[0] ** 2
        return 0.0

    assert ad.gradient(f, np.array([3.0, 4.0]))[0].tolist() == [6.0, 0.0]


def test_what_is_refused_before_it_writes():
    def f(v):
        try:
            v += np.ones(3)
        except ValueError:
            pass
        return v[0] ** 2

    assert ad.gradient(f, np.array([3.0, 4.0]))[0].tolist() == [6.0, 0.0]
