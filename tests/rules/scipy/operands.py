"""Operands of the special functions: over a range, in every shape and precision."""

from __future__ import annotations

import itertools

import numpy as np

from tests.rules.harness import case, reals

EXACT = {"rtol": 1e-7}
"""Five-point differences of functions that are accurate to a few units in the last place."""


def points(*values):
    """Single numbers: where the formula changes, near poles and zeros, far out."""
    return [case(value, tolerances=EXACT) for value in values]


def real(low=-2.0, high=2.0, *more):
    """Operands of a real function of one variable, in this interval, and single points."""

    def some(*shape, dtype=float):
        return reals(*shape, low=low, high=high, dtype=dtype)

    x = float(some(1)[0])
    arrays = [
        np.float64(x),
        np.float32(x),
        np.array(x),
        some(3),
        some(2, 3).T,
        some(2, 2, 2)[:, ::-1],
        some(0),
        some(2, 2).tolist(),
        (x, x),
    ]
    return [
        case(x, tolerances=EXACT),
        *(case(a, tolerances=EXACT) for a in arrays),
        case(some(3, dtype="f4")),
        *points(*more),
    ]


def holomorphic(low=-2.0, high=2.0, *more):
    """Also complex ones, with this real part."""
    z = reals(2, 2, low=low, high=high) + 1j * reals(2, 2, seed=1)
    return [
        *real(low, high, *more),
        case(complex(z[0, 0]), tolerances=EXACT),
        case(z, tolerances=EXACT),
        case(z[0].astype("c8")),
    ]


def ranges(*bounds, dtype=float, tolerances=EXACT):
    """Operands of a function of several real variables, in these intervals: shapes that broadcast.

    A bound that is no pair is held: an order, as it is.
    """

    def some(shapes):
        return [
            reals(*shape, low=b[0], high=b[1], seed=i, dtype=dtype) if isinstance(b, tuple) else b
            for i, (b, shape) in enumerate(zip(bounds, shapes))
        ]

    n = len(bounds)
    scalars = [a[0].item() if isinstance(a, np.ndarray) else a for a in some([(1,)] * n)]
    shapes = itertools.cycle([(3,), (2, 3), (2, 1)])
    return [
        case(*scalars, tolerances=tolerances),
        case(*some([(3,)] * n), tolerances=tolerances),
        case(*some([next(shapes) for _ in range(n)]), tolerances=tolerances),
        case(*some([(0, 3)] * n), tolerances=tolerances),
    ]
