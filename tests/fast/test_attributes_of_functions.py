"""Attributes of functions: names, those that are set, and those that `functools.wraps` copies."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import adjoint as ad
from tests.fast.agreement import refused
from tests.fast.second_order import check_programs

X = np.array([0.7, 1.3])


def doubled(f):
    @functools.wraps(f)
    def inner(v):
        return f(v) * 2

    return inner


def counted(log):
    def decorate(f):
        @functools.wraps(f)
        def inner(v):
            log.append((f.__name__, f(v)))
            inner.calls += 1
            return log[-1][1]

        inner.calls = 0
        return inner

    return decorate


def scaled(v):
    return v * 3


scaled.scale = 2.5


def of_decorated(x):
    log = []

    @counted(log)
    def square(v):
        return v * v

    @counted(log)
    def fourth(v):
        return square(v) ** 2

    total = fourth(x[0]) + square(x[1]) * square.calls + fourth.calls * len(fourth.__name__)
    return total + max(log, key=lambda one: one[1])[1] * len(log[-1][0])


def of_wrapped(x):
    def by_name(v):
        return v

    g, h = doubled(scaled), doubled(doubled(by_name))
    by_name.later = 4.0
    total = g.scale * g(x[0]) * len(g.__name__) + h.__wrapped__(x[1]) ** 2
    if hasattr(h, "later") or not hasattr(h, "__wrapped__"):
        total += 10 * x[0]
    return total * len(h.__qualname__.rpartition(".")[2])


def of_plain(x):
    def power(v):
        return v**3

    names = {f.__name__: f for f in (power, scaled, lambda v: v * v)}
    names["power"].__name__ = "cube"
    return names["<lambda>"](x[0]) * names["scaled"](x[1]) + power(x[0]) * len(power.__name__)


@pytest.mark.parametrize("f", [of_decorated, of_wrapped, of_plain])
def test_programs(f):
    check_programs(f, X)
    assert ad.withgradient(f, X).value == pytest.approx(f(X), rel=1e-14)


def test_of_a_function_of_c():
    assert refused(lambda x: doubled(abs)(x) * len(doubled(abs).__name__), 1.5)
