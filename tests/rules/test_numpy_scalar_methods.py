"""Methods and attributes of NumPy's numbers, which are those of arrays, in every mode."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad

METHODS = {
    "sum": lambda v: v.sum() * v,
    "mean and max": lambda v: v.mean() + v.max() * v,
    "prod": lambda v: v.prod() * v,
    "cumsum": lambda v: (v * v).cumsum()[0],
    "astype": lambda v: v.astype(float) * v,
    "copy": lambda v: v.copy() * v,
    "T": lambda v: v.T * v,
    "squeeze": lambda v: v.squeeze() * v,
    "repeat": lambda v: (v * v).repeat(2).sum(),
    "reshape": lambda v: (v * v).reshape(1)[0],
    "clip": lambda v: v.clip(0.0, 5.0) * v,
    "of a product": lambda v: (v * 2.0).sum() * v,
    "item": lambda v: v.item() * v,
}


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_every_mode(name, kind):
    f, x = METHODS[name], kind(0.625)
    step = 2.0**-20
    slope = (f(np.float64(x + step)) - f(np.float64(x - step))) / (2 * step)
    rel = 1e-6 if kind is np.float32 else 1e-8
    value, (bar,) = ad.withgradient(f, x)
    assert value == f(x) and type(value) is type(f(x))
    assert bar == pytest.approx(slope, rel=rel) and type(bar) is kind
    for tangent in (1.0, kind(1.0)):
        value, dot = ad.pushforward(f, (x,), (tangent,))
        assert value == f(x)
        assert dot == pytest.approx(slope, rel=rel)
    second = (f(np.float64(x + 2**-10)) - 2 * f(np.float64(x)) + f(np.float64(x - 2**-10))) * 2**20
    assert ad.grad(ad.grad(f))(np.float64(x)) == pytest.approx(second, rel=1e-4, abs=1e-4)
