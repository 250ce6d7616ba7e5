"""Functions of `functools` in terms of others: definitions that programs inline."""

from __future__ import annotations

import functools

import numpy as np

from adjoint.fast.evaluate.callees.numpy_definitions import definition


@definition(functools.reduce)
def _reduce(f, xs, *initial):
    if initial:
        total, others = initial[0], xs
    elif isinstance(xs, list | tuple | np.ndarray):
        total, others = xs[0], xs[1:]
    else:
        others = iter(xs)
        total = next(others)
    for x in others:
        total = f(total, x)
    return total
