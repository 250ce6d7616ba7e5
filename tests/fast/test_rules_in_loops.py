"""Rules that are called, or inlined, of what a loop carries: its cotangent goes through them."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast import tier
from tests.fast.agreeing import generic_tier
from tests.structures import difference

FUNCTIONS = {
    "sum": np.sum,
    "mean": np.mean,
    "max": np.max,
    "prod": np.prod,
    "std": np.std,
    "norm": np.linalg.norm,
    "median": np.median,
    "cumsum": np.cumsum,
    "clip": lambda t: np.clip(t, 0.0, 5.0),
    "sum of an array": lambda t: np.array([np.sum(t), 2.0]).sum(),
}


def left_by_break(x, g):
    t, total = x, 0.0
    for k in range(100):
        if k > 3:
            break
        total = total + np.sum(g(t))
        t = t * x
    return total


def as_long_as(x, g):
    t, total = x, 0.0
    while total < 2.0:
        total = total + np.sum(np.abs(g(t))) + 0.5
        t = t * x
    return total


def in_some(x, g):
    t, total = x, 0.0
    for k in range(100):
        if k % 30 == 1:
            continue
        if k < 70:
            total = total + np.sum(g(t)) * 0.1
        t = t * x
    return total


def returned(x, g):
    t, u = x, x * x
    for k in range(100):
        u, t = t, u * x
        if k == 5:
            return np.sum(g(t))
    return np.sum(g(u))


@pytest.mark.parametrize("loop", [left_by_break, as_long_as, in_some, returned])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_both_tiers_agree(loop, name):
    g = FUNCTIONS[name]
    for x in (0.6, np.float64(0.6), np.array([0.6, 0.3, 0.8])):

        def f(x):
            return loop(x, g)

        tier.forget()
        found = ad.withgradient(f, x)
        with generic_tier():
            expected = ad.withgradient(f, x)
        assert not difference(tuple(found), tuple(expected), rtol=1e-9)
