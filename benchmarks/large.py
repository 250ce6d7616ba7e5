"""Arrays of ten thousand elements in the generic tier, beside autograd: speed and peak memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.harness import Line, show
from benchmarks.peers import beside_autograd

__all__ = ["run"]

VECTORS = (
    "product_and_sum",
    "chain_of_functions",
    "polynomial",
    "log_sum_exp",
    "variance",
    "finite_differences",
    "cumulative",
    "gather",
    "selected",
    "diffusion",
)
MATRICES = ("matrix_product", "layer", "softmax_rows", "laplacian")


def run() -> Iterator[Line]:
    """All lines of this module."""
    yield from show("10,000 elements: gradient", beside_autograd("large_arrays", _programs, 1.1))


def _programs() -> Iterator[tuple[str, object]]:
    rng = np.random.default_rng(11)
    for name in VECTORS:
        yield name, rng.normal(size=10_000)
    for name in MATRICES:
        yield name, rng.normal(size=(100, 100))
    yield "broadcast_table", rng.normal(size=100)
