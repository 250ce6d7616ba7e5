"""Rows of a sparse matrix that share a product, and the columns of its entries."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

Indices = np.ndarray[Any, np.dtype[np.intp]]


def colours(supports: Iterable[Indices], n: int) -> list[int]:
    """Return a colour for each row, such that rows of one colour have no column in common.

    Parameters
    ----------
    supports
        The columns of the entries of each row.
    n
        The number of columns.
    """
    used: list[np.ndarray[Any, Any]] = []
    found = []
    for support in supports:
        colour = next((i for i, mask in enumerate(used) if not mask[support].any()), len(used))
        if colour == len(used):
            used.append(np.zeros(n, bool))
        used[colour][support] = True
        found.append(colour)
    return found


def detected(
    product: Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]], m: int, n: int
) -> list[Indices]:
    """Return the columns of the entries of each row of a matrix that is known by products.

    Rows are multiplied in blocks, with random weights, so that entries do not cancel. Blocks with
    entries are halved until each is one row. Blocks without common columns share a product, so a
    matrix of few colours takes few products.

    Parameters
    ----------
    product
        The product of a vector of length `m` and the matrix.
    m, n
        The numbers of rows and columns.
    """
    rng = np.random.default_rng(0)
    blocks = [(0, m, np.arange(n))] if m else []
    fresh = True
    while fresh or any(stop - start > 1 for start, stop, _ in blocks):
        done = [] if fresh else [block for block in blocks if block[1] - block[0] == 1]
        open_ones = blocks if fresh else [block for block in blocks if block[1] - block[0] > 1]
        halves = open_ones if fresh else [half for block in open_ones for half in _halved(block)]
        blocks, fresh = done + _refined(product, halves, m, n, rng), False
    rows = [np.zeros(0, np.intp)] * m
    for start, _, support in blocks:
        rows[start] = support
    return rows


def _halved(block: tuple[int, int, Indices]) -> list[tuple[int, int, Indices]]:
    start, stop, support = block
    middle = (start + stop) // 2
    return [(start, middle, support), (middle, stop, support)]


def _refined(
    product: Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]],
    blocks: list[tuple[int, int, Indices]],
    m: int,
    n: int,
    rng: np.random.Generator,
) -> list[tuple[int, int, Indices]]:
    """Return the blocks that have entries, each with the columns of its entries."""
    by_colour: dict[int, list[tuple[int, int, Indices]]] = {}
    for block, colour in zip(blocks, colours([b[2] for b in blocks], n), strict=True):
        by_colour.setdefault(colour, []).append(block)
    found = []
    for group in by_colour.values():
        weights = np.zeros(m)
        for start, stop, _ in group:
            weights[start:stop] = rng.uniform(1.0, 2.0, stop - start)
            weights[start:stop] *= rng.choice([-1.0, 1.0], stop - start)
        row = product(weights)
        for start, stop, support in group:
            touched = support[row[support] != 0]  # NaN is an entry
            if touched.size:
                found.append((start, stop, touched))
    return found
