"""Rules of the random numbers that are a location plus a scale times a standard draw."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.rules.numpy.operands import array_rule

SOURCES = (np.random.Generator, np.random.RandomState)


def normal_back(y: Any, loc: Any, scale: Any) -> Any:
    """The pullback of ``y = loc + scale * z`` with the draw z held constant."""

    def back(y_bar):
        return y_bar, y_bar * np.where(scale == 0, 0, (y - loc) / np.where(scale == 0, 1, scale))

    return back


def uniform_back(y: Any, low: Any, high: Any) -> Any:
    """The pullback of ``y = low + (high - low) * u`` with the draw u held constant."""

    def back(y_bar):
        width = np.subtract(high, low)
        u = np.where(width == 0, 0, (y - low) / np.where(width == 0, 1, width))
        return y_bar * (1 - u), y_bar * u

    return back


@array_rule(*((kind, "normal") for kind in SOURCES), operands="loc scale")
def _(self, loc=0.0, scale=1.0, size=None):
    y = self.normal(loc, scale, size)
    back = normal_back(y, loc, scale)
    return y, lambda y_bar: (None, *back(y_bar))


@array_rule(*((kind, "uniform") for kind in SOURCES), operands="low high")
def _(self, low=0.0, high=1.0, size=None):
    y = self.uniform(low, high, size)
    back = uniform_back(y, low, high)
    return y, lambda y_bar: (None, *back(y_bar))


@array_rule(np.random.normal, operands="loc scale")
def _(loc=0.0, scale=1.0, size=None):
    y = np.random.normal(loc, scale, size)  # noqa: NPY002
    back = normal_back(y, loc, scale)
    return y, lambda y_bar: (None, *back(y_bar))


@array_rule(np.random.uniform, operands="low high")
def _(low=0.0, high=1.0, size=None):
    y = np.random.uniform(low, high, size)  # noqa: NPY002
    back = uniform_back(y, low, high)
    return y, lambda y_bar: (None, *back(y_bar))
