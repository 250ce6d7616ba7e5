"""Functions and arrays of packages that differentiate themselves are refused, at once, by an error
that says what to do: of a stand-in for JAX, and of JAX where that is there."""

from __future__ import annotations

import importlib.util
import sys
import types
from typing import Any

import numpy as np
import pytest

import adjoint as ad

TEXT = """
class Array:
    def __init__(self, value):
        self._value = value

    def sum(self):
        return Array(self._value.sum())

    def __float__(self):
        return float(self._value)


class Compiled:
    def __init__(self, f):
        self.f = f

    def __call__(self, x):
        return Array(self.f(x))


def sin(x):
    import numpy
    return Array(numpy.sin(x))


def jit(f):
    return Compiled(f)


def grad(f):
    def derivative(x):
        return f(x)
    return derivative
"""


@pytest.fixture(params=["stand-in", "jax"])
def jax(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    if request.param == "jax":
        if importlib.util.find_spec("jax") is None:
            pytest.skip("JAX is not installed")
        import jax

        return types.SimpleNamespace(sin=jax.numpy.sin, jit=jax.jit, grad=jax.grad)
    module = types.ModuleType("jax")
    exec(TEXT, vars(module))
    monkeypatch.setitem(sys.modules, "jax", module)
    return module


MODES = {
    "gradient": lambda f: ad.gradient(f, np.ones(2)),
    "generic": lambda f: ad.grad(f, tier="generic")(np.ones(2)),
    "forward": lambda f: ad.pushforward(f, (np.ones(2),), (np.ones(2),)),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("how", ["itself", "compiled", "differentiated", "inside", "inside, float"])
def test_it_is_refused_by_name(jax: Any, how: str, mode: str) -> None:
    f = {
        "itself": jax.sin,
        "compiled": jax.jit(lambda x: (x * x).sum()),
        "differentiated": jax.grad(lambda x: (x * x).sum()),
        "inside": lambda x: jax.sin(x).sum(),
        "inside, float": lambda x: 2.0 * float(jax.sin(x).sum()),
    }[how]
    with pytest.raises(ad.AdjointError, match=r"(?s)jax.*jax\.vjp"):
        MODES[mode](f)
