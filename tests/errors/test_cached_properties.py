"""``functools.cached_property`` computed while code in C asks for a hash: what it stores has no
derivative, and nothing else of the object is lost."""

from functools import cached_property

import numpy as np
import pytest

import adjoint as ad
from adjoint.errors import MutationError, NoDerivativeError

X = np.array([0.5, 1.5, 2.5])


class Key:
    def __init__(self, x):
        self.x, self.done = x, False

    def __eq__(self, other):
        return self is other


class Product(Key):
    @cached_property
    def held(self):
        return self.x * 3.0

    def __hash__(self):
        return len(self.held)

    def use(self):
        return self.held.sum()


class Same(Key):
    @cached_property
    def held(self):
        return self.x

    def __hash__(self):
        return len(self.held)

    def use(self):
        return (self.held * self.x).sum()


class Written(Same):
    def __hash__(self):
        if not self.done:
            self.held[0], self.done = 5.0, True
        return 1


class Entered(Key):
    @cached_property
    def held(self):
        return [self.x, {"a": self.x[0] * 2.0}]

    def __hash__(self):
        if not self.done:
            self.held[1]["b"], self.done = self.held[1]["a"] * self.x[1], True
        return 1

    def use(self):
        entries = self.held[1]
        return entries["a"] * entries["b"] + self.held[0].sum()


class Number(Key):
    @cached_property
    def held(self):
        return self.x[1] * self.x[2]

    def __hash__(self):
        return int(self.held * 0)

    def use(self):
        return self.held * self.x[0]


class Chained(Key):
    @cached_property
    def first(self):
        return [self.x[0]]

    @cached_property
    def held(self):
        self.first.append(self.x[1] * 2.0)
        return self.first

    def __hash__(self):
        return len(self.held)

    def use(self):
        return self.held[0] * self.held[1] + self.first[1]


class Renewed(Same):
    @cached_property
    def held(self):
        self.x = self.x * 2.0
        return self.x

    def __hash__(self):
        return len(self.held)


MODES = {
    "generic": lambda f: ad.grad(f, tier="generic")(X),
    "fast": lambda f: ad.grad(f)(X),
    "forward": lambda f: np.array([ad.jvp(f, (X,), (e,))[1] for e in np.eye(3)]),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", [Product, Same, Number, Chained, Renewed, Written, Entered])
@pytest.mark.parametrize("is_before", [True, False])
def test_right_or_refused(kind, mode, is_before):
    def f(x):
        key = kind(x * 1.0)
        if is_before:
            key.use() if kind is not Entered else key.held
        return {key: 2.0}[key] * key.use() * x[0]

    h = 1e-6
    expected = [(f(X + h * e) - f(X - h * e)) / (2 * h) for e in np.eye(3)]
    writes = kind in (Written, Entered)
    try:
        found = MODES[mode](f)
    except (NoDerivativeError, MutationError):
        assert writes or not is_before, "what was computed by differentiated code is known"
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-6)
