"""`np.vectorize` and its kin."""

import math

import numpy as np
import pytest

import adjoint as ad
from adjoint.testing import check_gradient
from tests.support import Sample, check_sample

X = np.array([0.3, 0.8, 1.4, -0.6])
M = np.array([[0.3, -0.8, 1.4], [0.9, 0.2, -0.5], [0.6, 0.1, 0.4]])


def branchy(v):
    return math.sin(v) if v > 0.5 else v * v


def branches(m):
    return np.vectorize(branchy)(m).sum()


def broadcast(m):
    f = np.vectorize(lambda a, b, c=1.0: a * b + c)
    return np.sum(f(m, m[0]) * f(m[:, :1], 2.0, c=m))


def two_results(m):
    s, c = np.vectorize(lambda v: (v * v, v + 1))(m)
    return np.sum(s * c)


def typed(m):
    f = np.vectorize(branchy, otypes=[float], cache=True)
    return np.sum(f(m)) + f(m[:0]).sum()


def excluded(m):
    f = np.vectorize(lambda v, coefficients: sum(c * v for c in coefficients), excluded={1})
    return f(m[0], list(m[1])).sum()


def with_signature(m):
    f = np.vectorize(lambda row, v: row * v + row[0], signature="(n),()->(n)")
    return np.sum(f(m, m[0]) ** 2)


class Scaled:
    def __init__(self, factor):
        self.factor = factor

    @np.vectorize
    def times(self, v):
        return self.factor * v


def method_of_an_object(m):
    scaled = Scaled(m[0, 0])
    return np.sum(Scaled.times(scaled, m) ** 2)


def of_scalar(m):
    return np.vectorize(branchy)(m[0, 1]) * 2.0


def decorated(m):
    @np.vectorize
    def f(v):
        return v * m[0, 0]

    return np.sum(f(m))


def rounds_to_integers(m):
    """The first result decides on the type."""
    return np.sum(np.vectorize(lambda v: 1 if v == m[0, 0] else v)(m) * m)


def along_axis(m):
    return np.sum(np.apply_along_axis(lambda row, k: np.outer(row, row) * k, 1, m, 2.0))


def over_axes(m):
    return np.sum(np.apply_over_axes(np.sum, m * m, [0, 1]))


def piecewise(m):
    y = np.piecewise(m, [m < 0, m > 0.5], [lambda v: v * v, 3.0, np.sin])
    return np.sum(y * m)


def from_iterator(m):
    return np.sum(np.fromiter((v * v for v in m[0]), float) ** 2)


def from_function(m):
    return np.sum(np.fromfunction(lambda i, j: m * i + j, (3, 3)))


@pytest.mark.parametrize(
    "f",
    [
        branches, broadcast, two_results, typed, excluded, with_signature, method_of_an_object,
        of_scalar, decorated, rounds_to_integers, along_axis, over_axes, piecewise, from_iterator,
        from_function,
    ],
)  # fmt: skip
def test_as_numpy_does(f):
    check_sample(Sample(f, (M,)))


def test_calls_as_often_as_numpy():
    def calls(differentiate, **options):
        seen = []

        def f(x):
            return np.vectorize(lambda v: (seen.append(type(v)), v * v)[1], **options)(x).sum()

        ad.pullback(f, X) if differentiate else f(X)
        return seen

    for options in ({}, {"cache": True}, {"otypes": "d"}):
        assert calls(True, **options) == calls(False, **options)


def multiplied(x):
    y = x * 1.0
    np.frompyfunc(lambda a, b: a * b, 2, 1).at(y, [0, 2], x[1])
    return (y**2).sum()


def noted(x):
    notes = []
    np.frompyfunc(lambda v: notes.append(v * x[0]) or v, 1, 1)(np.array([1.0, 2.0]))
    return sum(notes)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.frompyfunc(math.sin, 1, 1)(x).sum() ** 2,
        lambda x: np.frompyfunc(lambda a, b: a * b, 2, 1).outer(x, x)[0, 1],
        multiplied,
    ],
)
def test_ufuncs_made_of_functions_are_refused(f):
    for mode in (ad.gradient, lambda f, x: ad.pushforward(f, (x,), (x,)), ad.hessian):
        with pytest.raises(ad.NoDerivativeError):
            mode(f, X)


def test_ufuncs_made_of_functions_that_store_are_refused():
    for mode in (ad.gradient, lambda f, x: ad.pushforward(f, (x,), (x,)), ad.hessian):
        with pytest.raises(ad.MutationError, match="may store something"):
            mode(noted, X)


@pytest.mark.parametrize(
    "f",
    [
        lambda g, x: g.reduce(x),
        lambda g, x: g.reduce(x, initial=x[0]),
        lambda g, x: g.accumulate(x)[-1],
    ],
)
def test_methods_of_ufuncs_of_objects(f):
    product = np.frompyfunc(lambda a, b: a * b, 2, 1)
    y = ad.pullback(lambda x: f(product, x), X)[0]
    assert y == f(product, X) and type(y) is type(f(product, X))
    with pytest.raises(ad.NoDerivativeError):
        ad.gradient(lambda x: f(product, x), X)


OBJECTS = {
    "lists": (lambda a: [a, a * a], lambda m: m[0, 0][1] * m[2, 1][0]),
    "tuples of one": (lambda a: (a * a,), lambda m: m[1, 1][0]),
    "arrays": (lambda a: np.array([a, a * a, 1.0]), lambda m: m[0, 2][1] * m[1, 0][0]),
    "dicts": (lambda a: {"square": a * a}, lambda m: m[2, 2]["square"]),
    "numbers": (lambda a: a * a, lambda m: m[1, 0] * m[2, 0]),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_objects_are_elements_whatever_they_hold(name):
    made, read = OBJECTS[name]

    def f(x):
        m = np.vectorize(made, otypes=[object])(x)
        assert m.dtype == object and m.shape == x.shape
        return read(m)

    assert ad.pullback(f, M)[0] == f(M)
    check_gradient(f, M)
    x_dot, step = np.cos(M), 1e-6
    expected = (f(M + step * x_dot) - f(M - step * x_dot)) / (2 * step)
    assert ad.pushforward(f, (M,), (x_dot,))[1] == pytest.approx(expected)
    slope = ad.pushforward(lambda x: ad.pushforward(f, (x,), (x_dot,))[1], (M,), (x_dot,))[1]
    second = (f(M + 1e-4 * x_dot) - 2 * f(M) + f(M - 1e-4 * x_dot)) / 1e-8
    assert slope == pytest.approx(second, rel=1e-5, abs=1e-6)


def test_objects_beside_numbers():
    def f(x):
        held, squares = np.vectorize(lambda a: ([a], a * a), otypes=[object, float])(x)
        return squares * len(held)

    check_gradient(f, X)
