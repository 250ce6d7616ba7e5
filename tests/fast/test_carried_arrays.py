"""Buffers that change places in a loop and are written to."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.programs import store
from adjoint.runtime.results import with_zeros
from tests.structures import difference


def wave(u0, c, n):
    a = u0.copy()
    b = u0 * 1.0
    d = np.zeros_like(u0)
    for _ in range(n):
        d[1:-1] = 2 * b[1:-1] - a[1:-1] + c * (b[2:] - 2 * b[1:-1] + b[:-2])
        a, b, d = b, d, a
    return (b**2).sum()


def with_while(u0, c, n):
    a = u0.copy()
    b = a.copy()
    d = np.empty(len(u0))
    d[:] = 0
    i = 0
    while i < n:
        d[1:-1] = 2 * b[1:-1] - a[1:-1] + c * (b[2:] - 2 * b[1:-1] + b[:-2])
        d[0] = d[1]
        t = a
        a = b
        b = d
        d = t
        i += 1
    return (b**2).sum() + d.sum() * a[1]


def one_array_twice(u0, c, n):
    a = u0.copy()
    b = a
    d = np.zeros_like(u0)
    for _ in range(n):
        d[1:-1] = 2 * b[1:-1] - a[1:-1] * c
        a, b, d = b, d, a
    return (b**2).sum()


def read_by_another_name(u0, c, n):
    a = u0.copy()
    first = a
    b = u0.copy()
    d = np.zeros_like(u0)
    for _ in range(n):
        d[1:-1] = 2 * b[1:-1] - a[1:-1] * c
        a, b, d = b, d, a
    return (b**2).sum() + first.sum()


def an_argument(u0, c, n):
    a = u0
    b = u0.copy()
    for _ in range(n):
        b[1:-1] = a[1:-1] * c * b[2:]
        a, b = b, a
    return (b**2).sum()


def a_view_of_one(u0, c, n):
    a = u0 * 2
    b = u0.copy()
    v = a[1:]
    for _ in range(n):
        b[1:-1] = a[1:-1] * c * b[2:]
        a, b = b, a
    return (b**2).sum() + v.sum()


def another_length(u0, c, n):
    a = u0 * 2
    b = u0.copy()
    v = a[1:]
    for _ in range(n):
        b[1:-1] = a[1:-1] * c * b[2:]
        b, v = a, b
    return (b**2).sum() + v.sum()


def in_a_loop(u0, c, n):
    t = 0.0
    for k in range(3):
        a = u0 * k
        b = u0.copy()
        for _ in range(n):
            b[1:-1] = a[1:-1] * c * b[2:]
            a, b = b, a
        t = t + (b**2).sum()
    return t


def in_branches(u0, c, n):
    a = u0 * 2
    b = u0.copy()
    for i in range(n):
        if u0[i] > 1.5:
            b[1:-1] = a[1:-1] * c * b[2:]
        else:
            b[0] = c
        a, b = b, a
    return (b**2).sum()


def element_by_element(u0, c, n):
    a = u0 * 2
    b = u0.copy()
    for i in range(n):
        for j in range(len(a) - 1):
            b[j] = a[j] * c * b[j + 1]
        a, b = b, a
    return (b**2).sum() + a[1]


U = np.array([1.0, 2.0, 0.5, 3.0, 1.7])


def derivatives(f, n):
    y, back = ad.pullback(f, U.copy(), 0.3, n)
    bars = [
        [with_zeros(x, bar) for x, bar in zip((U, 0.3, n), back(s)[1:], strict=True)]
        for s in (1.0, 2.0)
    ]
    return (
        ad.withgradient(f, U.copy(), 0.3, n),
        (y, bars),
        ad.pushforward(f, (U.copy(), 0.3, n), (np.ones(5), 1.0, None)),
        ad.hvp(lambda u: f(u, 0.3, n), U.copy(), np.ones(5)),
    )


COVERED = [wave, with_while, in_a_loop, in_branches, element_by_element]
SHOWN = [one_array_twice, read_by_another_name, an_argument, a_view_of_one, another_length]


@pytest.mark.parametrize("n", [0, 1, 4])
@pytest.mark.parametrize("f", [*COVERED, *SHOWN])
def test_derivatives_agree(f, n):
    found = derivatives(f, n)
    store.is_enabled[0] = False
    try:
        expected = derivatives(f, n)
    finally:
        store.is_enabled[0] = True
    assert not difference(found, expected, rtol=1e-10)
    h = 1e-6
    ones = np.ones(5)
    slope = (f(U + h * ones, 0.3 + h, n) - f(U - h * ones, 0.3 - h, n)) / (2 * h)
    assert abs(slope - found[2][1]) <= 1e-6 * max(1.0, abs(slope))


@pytest.mark.parametrize("f", COVERED)
def test_programs(f):
    assert ad.tier(f, U.copy(), 0.3, 4).tier == "fast"


@pytest.mark.parametrize("f", SHOWN)
def test_writes_that_show_elsewhere_are_generic(f):
    assert ad.tier(f, U.copy(), 0.3, 4).tier == "generic"
