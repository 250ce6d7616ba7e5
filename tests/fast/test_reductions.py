"""Reductions along axes, and what is made of their results: in the fast tier as in the generic."""

import functools
import itertools

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.programs import store as tier
from tests.structures import difference

X = np.array([[0.3, -1.2, 2.0, 0.7], [1.1, 0.4, -0.6, -2.1], [0.9, 1.3, 0.2, -0.8]])
ROWS = np.array([0.5, -1.0, 2.0])

REDUCTIONS = [np.sum, np.mean, np.max, np.min]
AXES = [None, 0, 1, -1, (0, 1)]
OUTER = {
    "sum": lambda y: y.sum(),
    "twice": lambda y: (y * y).sum() + y.sum(),
    "number": lambda y: 3.0 * y.sum(),
    "item": lambda y: y.ravel()[0],
    "max": lambda y: y.max(),
    "mean": lambda y: np.mean(y) ** 2,
    "part": lambda y: y[..., :2].sum(),
}


@pytest.mark.parametrize("outer", OUTER)
@pytest.mark.parametrize("reduce", REDUCTIONS, ids=lambda f: f.__name__)
def test_results_that_are_reduced_again(reduce, outer):
    finish = OUTER[outer]
    for axis, keepdims in itertools.product(AXES, (False, True)):
        if not keepdims and axis in (None, (0, 1)):
            continue  # a number

        def f(x, axis=axis, keepdims=keepdims):
            return finish(reduce(x, axis=axis, keepdims=keepdims))

        tier.forget()
        found = ad.gradient(f, X)
        expected = ad.grad(f, tier="generic")(X)
        assert not difference(found[0], expected, rtol=1e-12), (axis, keepdims)
        assert ad.tier(f, X).tier == "fast", (axis, keepdims, ad.tier(f, X))


OPTIONS = {
    "comparison": lambda x, k: np.sum(x, axis=1, keepdims=k > 0),
    "method": lambda x, k: x.max(axis=1, keepdims=bool(k)),
    "mean": lambda x, k: np.mean(x, 1, keepdims=not k),
    "inside": lambda x, k: x.sum(1, keepdims=k in (1, 2)),
    "of a number": lambda x, k: np.min(x, axis=1, keepdims=bool(x[0, 0] * 4 > k)),
    "value": lambda x, k: np.std(x, axis=1, keepdims=k == 1),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_options_that_are_not_known(name):
    """They decide what shape a result has."""
    reduce = OPTIONS[name]

    def f(x, k):
        return (reduce(x, k) * ROWS).sum()

    for k in (0, 1, 2, 0):
        found, expected = ad.gradient(f, X, k)[0], ad.grad(f, tier="generic")(X, k)
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        direction = np.cos(X)
        central = (f(X + 1e-6 * direction, k) - f(X - 1e-6 * direction, k)) / 2e-6
        np.testing.assert_allclose((found * direction).sum(), central, rtol=1e-6)


def test_nothing_to_reduce():
    def f(x, items):
        try:
            return functools.reduce(lambda a, b: a * b, items)
        except TypeError:
            return x * 3

    for items in ([], iter(()), (), np.array([])):
        assert ad.gradient(lambda x, items=items: f(x, items), 2.0) == (3.0,)
