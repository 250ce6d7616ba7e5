"""Rules of the random numbers that are a location plus a scale times a standard draw."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.rules.numpy.operands import array_rule, cotangent_dtype, dense
from adjoint.rules.registry import frule
from adjoint.rules.tangents import like_result

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


def _normal_dot(y: Any, dots: Any, loc: Any, scale: Any) -> Any:
    """The tangent of ``y = loc + scale * z``."""
    z = np.where(np.equal(scale, 0), 0, (y - loc) / np.where(np.equal(scale, 0), 1, scale))
    return _moved(y, dots, (loc, scale), (1.0, z))


def _uniform_dot(y: Any, dots: Any, low: Any, high: Any) -> Any:
    """The tangent of ``y = low + (high - low) * u``."""
    width = np.subtract(high, low)
    u = np.where(np.equal(width, 0), 0, (y - low) / np.where(np.equal(width, 0), 1, width))
    return _moved(y, dots, (low, high), (1 - u, u))


def _moved(y: Any, dots: Any, operands: Any, slopes: Any) -> Any:
    terms = [
        slope * np.asarray(dense(dot, x))
        for dot, x, slope in zip(dots, operands, slopes, strict=False)
        if dot is not None
    ]
    return like_result(sum(terms[1:], terms[0]), y)[()] if terms else None


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


@frule.register(*((kind, "normal") for kind in SOURCES))
def _(dots, self, loc=0.0, scale=1.0, size=None):
    y = self.normal(loc, scale, size)
    return y, _normal_dot(y, dots[1:3], loc, scale)


@frule.register(np.random.normal)
def _(dots, loc=0.0, scale=1.0, size=None):
    y = np.random.normal(loc, scale, size)  # noqa: NPY002
    return y, _normal_dot(y, dots[:2], loc, scale)


@frule.register(*((kind, "uniform") for kind in SOURCES))
def _(dots, self, low=0.0, high=1.0, size=None):
    y = self.uniform(low, high, size)
    return y, _uniform_dot(y, dots[1:3], low, high)


@frule.register(np.random.uniform)
def _(dots, low=0.0, high=1.0, size=None):
    y = np.random.uniform(low, high, size)  # noqa: NPY002
    return y, _uniform_dot(y, dots[:2], low, high)


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


def _pick_dot(draw: Any, dot: Any, x: Any, axis: int = 0) -> Any:
    """The same elements of `x` and of its tangent."""
    if np.ndim(x) == 0:
        return NotImplemented
    where = draw(np.shape(x)[axis])
    return np.take(x, where, axis), None if dot is None else np.take(dense(dot, x), where, axis)


@array_rule((np.random.Generator, "permutation"), operands="x")
def _(self, x, axis=0):
    result = picked(self.permutation, x, axis % max(np.ndim(x), 1))
    return result if result is NotImplemented else (result[0], lambda b: (None, result[1](b)))


@frule.register((np.random.Generator, "permutation"))
def _(dots, self, x, axis=0):
    return _pick_dot(self.permutation, dots[1], x, axis % max(np.ndim(x), 1))


@array_rule((np.random.RandomState, "permutation"), operands="x")
def _(self, x):
    result = picked(self.permutation, x)
    return result if result is NotImplemented else (result[0], lambda b: (None, result[1](b)))


@frule.register((np.random.RandomState, "permutation"))
def _(dots, self, x):
    return _pick_dot(self.permutation, dots[1], x)


@array_rule(np.random.permutation, operands="x")
def _(x):
    result = picked(np.random.permutation, x)
    return result if result is NotImplemented else (result[0], lambda b: (None, result[1](b)))


@frule.register(np.random.permutation)
def _(dots, x):
    return _pick_dot(np.random.permutation, dots[0], x)


@array_rule((np.random.Generator, "choice"), operands="a")
def _(self, a, size=None, replace=True, p=None, axis=0, shuffle=True):
    result = picked(
        lambda n: self.choice(n, size, replace, p, 0, shuffle), a, axis % max(np.ndim(a), 1)
    )
    return result if result is NotImplemented else (result[0], lambda b: (None, result[1](b)))


@frule.register((np.random.Generator, "choice"))
def _(dots, self, a, size=None, replace=True, p=None, axis=0, shuffle=True):
    return _pick_dot(
        lambda n: self.choice(n, size, replace, p, 0, shuffle),
        dots[1],
        a,
        axis % max(np.ndim(a), 1),
    )


@array_rule((np.random.RandomState, "choice"), operands="a")
def _(self, a, size=None, replace=True, p=None):
    result = picked(lambda n: self.choice(n, size, replace, p), a)
    return result if result is NotImplemented else (result[0], lambda b: (None, result[1](b)))


@frule.register((np.random.RandomState, "choice"))
def _(dots, self, a, size=None, replace=True, p=None):
    return _pick_dot(lambda n: self.choice(n, size, replace, p), dots[1], a)


@array_rule(np.random.choice, operands="a")
def _(a, size=None, replace=True, p=None):
    result = picked(lambda n: np.random.choice(n, size, replace, p), a)  # noqa: NPY002
    return result if result is NotImplemented else (result[0], lambda b: (None, result[1](b)))


@frule.register(np.random.choice)
def _(dots, a, size=None, replace=True, p=None):
    return _pick_dot(
        lambda n: np.random.choice(n, size, replace, p),  # noqa: NPY002
        dots[0],
        a,
    )
