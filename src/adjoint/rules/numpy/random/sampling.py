"""Random choices among array elements: positions are drawn, and elements taken there.

The positions are step functions of the probabilities, which therefore have no derivative.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.rulekit.registry import non_differentiable, substitute

mtrand: Any = np.random.mtrand


@non_differentiable
def _drawn(draw: Any, *args: Any) -> Any:
    return draw(*args)


def _taken(draw: Any, x: Any, axis: int, *options: Any) -> Any:
    """Return the elements of `x` along `axis` at positions ``draw(length, *options)``; a number is
    a length."""
    if np.ndim(x) == 0:
        return _drawn(draw, x, *options)
    return np.take(x, _drawn(draw, np.shape(x)[axis], *options), axis)


@substitute((np.random.Generator, "permutation"))
def _(self, x, axis=0):
    return _taken(self.permutation, x, axis)


@substitute((np.random.RandomState, "permutation"))
def _(self, x):
    return _taken(self.permutation, x, 0)


@substitute(np.random.permutation)
def _(x):
    return mtrand._rand.permutation(x)


@substitute((np.random.Generator, "choice"))
def _(self, a, size=None, replace=True, p=None, axis=0, shuffle=True):
    return _taken(self.choice, a, axis, size, replace, p, 0, shuffle)


@substitute((np.random.RandomState, "choice"))
def _(self, a, size=None, replace=True, p=None):
    return _taken(self.choice, a, 0, size, replace, p)


@substitute(np.random.choice)
def _(a, size=None, replace=True, p=None):
    return mtrand._rand.choice(a, size, replace, p)
