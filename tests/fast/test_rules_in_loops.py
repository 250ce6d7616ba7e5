"""Rules that are called, or inlined, of what a loop carries: its cotangent goes through them."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.programs import store as tier
from tests.fast.agreeing import Agreement, generic_tier
from tests.fast.test_agree import demand, of_tables, weighted
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


# ---- every rule, in a loop -----------------------------------------------------------------------


def until_a_break(g):
    def f(x, *rest):
        t, total = x, 0.0
        for k in range(70):
            if k > 2:
                break
            total = total + g(t, *rest)
            t = t * 1.01
        return total

    return f


def in_some_iterations(g):
    def f(x, *rest):
        t, total = x, 0.0
        for k in range(70):
            if k % 20 == 1:
                total = total + g(t, *rest)
            elif k > 45:
                t = t * (1.0 + 1e-3 * total)
        return total + np.sum(t)

    return f


def in_what_is_returned(g):
    def f(x, *rest):
        t, u, k = x, x * 1.001, 0
        while k < 70:
            if k == 3:
                return g(u, *rest) + np.sum(t)
            k += 1
            t, u = u, t * 1.002
        return 0.0

    return f


@pytest.mark.parametrize(
    ("loop", "covered"),
    [(until_a_break, 60), (in_some_iterations, 60), (in_what_is_returned, 60)],
)
def test_the_tables_of_rules(loop, covered):
    found, rng = Agreement(), np.random.default_rng(0)
    for number, (place, f, (args, kwargs, _)) in enumerate(of_tables()):
        if number % 9 or not args or type(args[0]) not in (float, np.ndarray):
            continue
        if np.asarray(args[0]).dtype.kind != "f" or str(getattr(f, "__module__", "")).startswith(
            "adjoint."
        ):
            continue  # what is the library's own, users do not call
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                y = f(*copy.deepcopy(args), **kwargs)
                weights = 1.5 if np.ndim(y) == 0 else rng.standard_normal(np.shape(y))
                g = loop(weighted(f, kwargs, weights))
                float(g(*copy.deepcopy(args)))
        except (TypeError, ValueError, np.linalg.LinAlgError):
            continue  # not one real number, or nothing at the points of the loop
        name = f"{place}: {getattr(f, '__name__', f)}{[np.shape(x) for x in args]}{kwargs}"
        found.compare(name, lambda g=g, args=args: (g, *copy.deepcopy(args)))
    demand(found, covered)
