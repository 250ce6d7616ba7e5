"""Rules of the random numbers that are a location plus a scale times a standard draw."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.rules.numpy.operands import array_rule, cotangent_dtype

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


# ---- elements of an array: the same draw of positions says which ---------------------------------


def picked(draw: Any, x: Any, axis: int = 0) -> Any:
    """The elements of `x` along `axis` at the positions that ``draw(length)`` gives."""
    if np.ndim(x) == 0:
        return NotImplemented  # a length: no elements are moved
    where, shape = draw(np.shape(x)[axis]), np.shape(x)

    def picked_back(y_bar):
        x_bar = np.zeros(shape, cotangent_dtype(y_bar))
        rows, parts = np.moveaxis(x_bar, axis, 0), y_bar
        if np.ndim(where):
            last = range(np.ndim(where))
            parts = np.moveaxis(y_bar, [axis + i for i in last], list(last))
        np.add.at(rows, where, parts)
        return x_bar

    return np.take(x, where, axis), picked_back


@array_rule((np.random.Generator, "permutation"), operands="x")
def _(self, x, axis=0):
    result = picked(self.permutation, x, axis % max(np.ndim(x), 1))
    return result if result is NotImplemented else (result[0], lambda b: (None, result[1](b)))


@array_rule((np.random.RandomState, "permutation"), operands="x")
def _(self, x):
    result = picked(self.permutation, x)
    return result if result is NotImplemented else (result[0], lambda b: (None, result[1](b)))


@array_rule(np.random.permutation, operands="x")
def _(x):
    result = picked(np.random.permutation, x)
    return result if result is NotImplemented else (result[0], lambda b: (None, result[1](b)))


@array_rule((np.random.Generator, "choice"), operands="a")
def _(self, a, size=None, replace=True, p=None, axis=0, shuffle=True):
    result = picked(
        lambda n: self.choice(n, size, replace, p, 0, shuffle), a, axis % max(np.ndim(a), 1)
    )
    return result if result is NotImplemented else (result[0], lambda b: (None, result[1](b)))


@array_rule((np.random.RandomState, "choice"), operands="a")
def _(self, a, size=None, replace=True, p=None):
    result = picked(lambda n: self.choice(n, size, replace, p), a)
    return result if result is NotImplemented else (result[0], lambda b: (None, result[1](b)))


@array_rule(np.random.choice, operands="a")
def _(a, size=None, replace=True, p=None):
    result = picked(lambda n: np.random.choice(n, size, replace, p), a)  # noqa: NPY002
    return result if result is NotImplemented else (result[0], lambda b: (None, result[1](b)))
