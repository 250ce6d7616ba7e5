"""A gradient of a specialised program beside that of the generic tier and finite differences."""

from __future__ import annotations

import numpy as np

import adjoint as ad
from adjoint.fast.build.modes import GRADIENT
from adjoint.fast.programs import store as tier
from adjoint.runtime.entries import basics
from tests.structures import difference

STEP = 1e-6


def generic(f, args):
    """Value and gradient by the generic tier."""
    before, tier.is_enabled[0] = tier.is_enabled[0], False
    try:
        return tuple(ad.withgradient(f, *args))
    finally:
        tier.is_enabled[0] = before


def agrees(f, *args):
    """Require that `f` is specialised, and that its value and gradient are right."""
    basics.load()
    found = tier.run(f, args, GRADIENT)
    assert found is not tier.MISS, _reasons(f)
    value, bars = found
    expected_value, expected = generic(f, args)
    assert not difference(value, expected_value, rtol=1e-13)
    assert type(value) is type(expected_value)
    assert not difference(bars, expected, rtol=1e-11), (bars, expected)
    for i, (x, bar) in enumerate(zip(args, bars, strict=True)):
        _check_differences(f, args, i, x, bar)


def refused(f, *args):
    """Require that `f` is left to the generic tier; why it is."""
    basics.load()
    assert tier.run(f, args, GRADIENT) is tier.MISS
    return _reasons(f)


def _reasons(f):
    kept = tier.known(f, GRADIENT)
    return [refused.reason for refused in kept.refused.values()] if kept else "no owner"


def _check_differences(f, args, i, x, bar):
    if not isinstance(x, float | list | np.ndarray):
        return
    flat = np.atleast_1d(np.array(x, float))
    given = np.reshape(np.array(bar, float), flat.shape)
    for place in np.ndindex(flat.shape):
        values = []
        for step in (STEP, -STEP):
            moved = flat.copy()
            moved[place] += step
            values.append(f(*args[:i], _like(moved, x), *args[i + 1 :]))
        slope = (values[0] - values[1]) / (2 * STEP)
        assert abs(slope - given[place]) <= 1e-5 * max(1.0, abs(slope)), (i, place)


def _like(moved, x):
    if isinstance(x, float):
        return float(moved[0])
    return moved.tolist() if isinstance(x, list) else moved
