"""Rules of random choices among array elements: positions are drawn, and elements taken there.

The positions are step functions of the probabilities, which therefore have no derivative.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.rulekit.registry import frule
from adjoint.rules.numpy.operands import array_rule, cotangent_dtype, dense


def picked(draw: Any, x: Any, axis: int = 0) -> Any:
    """Return the elements of `x` along `axis` at positions ``draw(length)``, and the pullback."""
    if np.ndim(x) == 0:
        return draw(x), lambda y_bar: None  # a length: the positions themselves
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
    """Take the same elements of `x` and of its tangent."""
    if np.ndim(x) == 0:
        return NotImplemented
    where = draw(np.shape(x)[axis])
    return np.take(x, where, axis), None if dot is None else np.take(dense(dot, x), where, axis)


@array_rule((np.random.Generator, "permutation"), operands="x")
def _(self, x, axis=0):
    y, back = picked(self.permutation, x, axis % max(np.ndim(x), 1))
    return y, lambda y_bar: (None, back(y_bar))


@frule.register((np.random.Generator, "permutation"))
def _(dots, self, x, axis=0):
    return _pick_dot(self.permutation, dots[1], x, axis % max(np.ndim(x), 1))


@array_rule((np.random.RandomState, "permutation"), operands="x")
def _(self, x):
    y, back = picked(self.permutation, x)
    return y, lambda y_bar: (None, back(y_bar))


@frule.register((np.random.RandomState, "permutation"))
def _(dots, self, x):
    return _pick_dot(self.permutation, dots[1], x)


@array_rule(np.random.permutation, operands="x")
def _(x):
    y, back = picked(np.random.permutation, x)
    return y, lambda y_bar: (None, back(y_bar))


@frule.register(np.random.permutation)
def _(dots, x):
    return _pick_dot(np.random.permutation, dots[0], x)


@array_rule((np.random.Generator, "choice"), operands="a p")
def _(self, a, size=None, replace=True, p=None, axis=0, shuffle=True):
    y, back = picked(
        lambda n: self.choice(n, size, replace, p, 0, shuffle), a, axis % max(np.ndim(a), 1)
    )
    return y, lambda y_bar: (None, back(y_bar))


@frule.register((np.random.Generator, "choice"))
def _(dots, self, a, size=None, replace=True, p=None, axis=0, shuffle=True):
    return _pick_dot(
        lambda n: self.choice(n, size, replace, p, 0, shuffle),
        dots[1],
        a,
        axis % max(np.ndim(a), 1),
    )


@array_rule((np.random.RandomState, "choice"), operands="a p")
def _(self, a, size=None, replace=True, p=None):
    y, back = picked(lambda n: self.choice(n, size, replace, p), a)
    return y, lambda y_bar: (None, back(y_bar))


@frule.register((np.random.RandomState, "choice"))
def _(dots, self, a, size=None, replace=True, p=None):
    return _pick_dot(lambda n: self.choice(n, size, replace, p), dots[1], a)


@array_rule(np.random.choice, operands="a p")
def _(a, size=None, replace=True, p=None):
    y, back = picked(lambda n: np.random.choice(n, size, replace, p), a)  # noqa: NPY002
    return y, lambda y_bar: (None, back(y_bar))


@frule.register(np.random.choice)
def _(dots, a, size=None, replace=True, p=None):
    return _pick_dot(
        lambda n: np.random.choice(n, size, replace, p),  # noqa: NPY002
        dots[0],
        a,
    )
