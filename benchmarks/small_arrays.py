"""Operations on arrays of three one by one, and programs on small arrays beside autograd, in the
generic tier."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from benchmarks.harness import Line, show
from benchmarks.peers import beside_autograd
from benchmarks.programs import array_operations
from benchmarks.scalar import operations

__all__ = ["run"]


def run() -> Iterator[Line]:
    """All lines of this module."""
    point = [0.9, 0.8, 0.7]
    title = "operations on arrays of 3: forward + reverse of one, over the plain loop"
    yield from show(title, operations(array_operations, point, 3.0))
    title = "programs on small arrays: gradient"
    yield from show(title, beside_autograd("small_arrays", _programs, 2))


def _programs() -> Iterator[tuple[str, object]]:
    rng = np.random.default_rng(5)
    yield "rosenbrock", rng.normal(size=10)
    yield "rosenbrock_by_elements", rng.normal(size=10)
    yield "precession", rng.normal(size=3)
    yield "softmax_regression", rng.normal(size=(3, 3))
    yield "recurrent_network", 0.3 * rng.normal(size=(4, 7))
    yield "gaussian_mixture", rng.normal(size=(4, 3))
    yield "springs", rng.normal(size=(5, 3))
    sizes = (2, 16, 16, 2)
    yield (
        "moons_mlp",
        [
            (0.5 * rng.normal(size=(m, n)), 0.1 * rng.normal(size=n))
            for m, n in itertools.pairwise(sizes)
        ],
    )
