"""`numpy.random`: what is drawn is held constant; what is made of a draw is not."""

# ruff: noqa: NPY002

from __future__ import annotations

import numpy as np

from tests.census.entries import Section, methods_of, public, via
from tests.rules.harness import reals

V, X = reals(6), reals(3, 4)


def drawn(draw, *args):
    """An example in which the same numbers are drawn at each call."""
    return via(lambda *xs: draw(np.random.default_rng(0), *xs), *args)


def seeded(draw, *args):
    """The same for the functions of the module, which share a state."""

    def f(*xs):
        np.random.seed(0)
        return draw(*xs)

    return via(f, *args)


def shuffled(source, x):
    y = x * 1.0
    source.shuffle(y)
    return y


GENERATOR = {
    "choice": drawn(lambda g, x: g.choice(x, 4), V),
    "normal": drawn(lambda g, a, b: g.normal(a, b, 3), 0.5, 1.5),
    "permutation": drawn(lambda g, x: g.permutation(x), X),
    "permuted": drawn(lambda g, x: g.permuted(x, axis=1), X),
    "shuffle": drawn(shuffled, V),
    "uniform": drawn(lambda g, a, b: g.uniform(a, b, 3), 0.5, 1.5),
}
FUNCTIONS = {
    "choice": seeded(lambda x: np.random.choice(x, 4), V),
    "normal": seeded(lambda a, b: np.random.normal(a, b, 3), 0.5, 1.5),
    "permutation": seeded(lambda x: np.random.permutation(x), X),
    "shuffle": seeded(lambda x: shuffled(np.random, x), V),
    "uniform": seeded(lambda a, b: np.random.uniform(a, b, 3), 0.5, 1.5),
}
SECTIONS = [
    Section("numpy.random.Generator", methods_of(np.random.Generator), GENERATOR),
    Section(
        "numpy.random",
        public(np.random),
        FUNCTIONS,
        {"a source of random bits": "BitGenerator"},
    ),
]
