"""Ordinary functions of NumPy arrays are programs, and right in all modes."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.build.modes import GRADIENT
from adjoint.fast.programs import store as tier
from adjoint.fast.programs.tangents import along_of
from adjoint.runtime.entries import basics
from tests.fast.agreeing import generic_tier
from tests.fast.ordinary_numpy import CASES
from tests.structures import difference, mapped

STEP = 1e-6
SECOND = {"single_precision"}
"""Functions of less than double precision."""


def fresh(name):
    f, args = CASES[name]
    return f, mapped(args)


def directions(args, seed):
    rng = np.random.default_rng(seed)
    return tuple(
        rng.normal(size=x.shape) if isinstance(x, np.ndarray) and x.dtype.kind == "f" else None
        for x in args
    )


def moved(args, dots, step):
    pairs = zip(args, dots, strict=True)
    return tuple(x if dot is None else x + step * dot for x, dot in pairs)


def along(bars, dots):
    pairs = zip(bars, dots, strict=True)
    return sum(float(np.sum(bar * dot)) for bar, dot in pairs if dot is not None)


@pytest.mark.parametrize("name", CASES)
def test_first_derivatives(name):
    f, args = fresh(name)
    basics.load()
    tier.forget()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = tier.run(f, args, GRADIENT)
        kept = tier.known(f, GRADIENT)
        assert found is not tier.MISS, kept and [x.reason for x in kept.refused.values()]
        again = tier.run(f, fresh(name)[1], GRADIENT)
        value, bars = found
        with generic_tier():
            expected = tuple(ad.withgradient(f, *fresh(name)[1]))
    tolerance = 1e-5 if name in SECOND else 1e-9
    assert not difference(again, found)
    assert not difference(value, expected[0], rtol=tolerance)
    assert not difference(bars, expected[1], rtol=tolerance)
    dots = directions(args, 1)
    if name not in SECOND:
        up, down = (f(*moved(args, dots, s)) for s in (STEP, -STEP))
        slope = (up - down) / (2 * STEP)
        assert along(bars, dots) == pytest.approx(slope, rel=1e-5, abs=1e-6)
    value, back = ad.pullback(f, *fresh(name)[1])
    for y_bar in (1.0, -2.5):
        for bar, dot, pulled in zip(bars, dots, tuple(back(y_bar))[-len(args) :], strict=True):
            assert dot is None or not difference(pulled, bar * y_bar, rtol=tolerance)


@pytest.mark.parametrize("name", CASES)
def test_tangents_and_second_derivatives(name):
    f, args = fresh(name)
    dots = directions(args, 2)
    tier.forget()
    with generic_tier():
        expected = ad.withgradient(f, *args)
    places = tuple(i for i, dot in enumerate(dots) if dot is not None)
    rest = tuple(0.0 if dot is None else dot for dot in dots)
    _, y_dot = ad.pushforward(f, args, rest)
    for kind in ("pushforward", "hvp"):
        assert along_of(kind, f, args, {}, places) is not None, kind
    tolerance = 1e-4 if name in SECOND else 1e-9
    assert float(y_dot) == pytest.approx(along(expected[1], dots), rel=tolerance, abs=tolerance)
    if name in SECOND:
        return

    def of_arrays(arrays):
        return f(*arrays, *args[len(places) :])

    assert places == (*range(len(places)),)
    found = ad.hvp(of_arrays, args[: len(places)], dots[: len(places)])
    with generic_tier():
        ups, downs = (
            ad.gradient(of_arrays, moved(args, dots, s)[: len(places)])[0] for s in (STEP, -STEP)
        )
    for one, up, down in zip(found, ups, downs, strict=True):
        assert one == pytest.approx((up - down) / (2 * STEP), rel=1e-4, abs=1e-5)
