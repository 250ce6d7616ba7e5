"""Integrals of samples in terms of operations of programs: the definitions that these inline.

SciPy computes the value, by code that depends on its version and treats single numbers as arrays;
the derivative is that of the rule as the text-books state it.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from scipy import integrate

from adjoint.fast.evaluate.callees.numpy_definitions import definition, with_derivative
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.table import in_programs
from adjoint.fast.evaluate.values import Abstract, Known
from adjoint.fast.nested.plain_calls import demand
from adjoint.rulekit.registry import non_differentiable
from adjoint.rules.scipy.equivalents import result_like


@in_programs
def followed(ev: Evaluator, f: Known, *args: Abstract, **named: Abstract) -> Abstract:
    """Stand for a call of `f` whose source is a part of the program, without its definition."""
    return ev.inline(ev.outside.own_closure(f.value), args, named)


# ---- Simpson's rule ------------------------------------------------------------------------------

AGREEMENT = 1e-8
"""Greatest difference from SciPy's value, relative to the largest sample and the interval."""


def _of_pairs(y, h):
    """Return Simpson's sum over pairs of intervals of lengths `h`, along the last axis."""
    first, second = h[..., 0::2], h[..., 1::2]
    both = first + second
    terms = y[..., 0:-2:2] * (2.0 - second / first) + y[..., 2::2] * (2.0 - first / second)
    return np.sum(both / 6.0 * (terms + y[..., 1:-1:2] * (both * both / (first * second))), -1)


def _of_last(y, h):
    """Return the integral over the last interval of the parabola through the last three samples."""
    first, second = h[..., -2], h[..., -1]
    both = first + second
    last = (2.0 * second**2 + 3.0 * first * second) / (6.0 * both) * y[..., -1]
    middle = (second**2 + 3.0 * first * second) / (6.0 * first) * y[..., -2]
    return last + middle - second**3 / (6.0 * first * both) * y[..., -3]


@result_like(lambda like, *rest: like)
@non_differentiable
def simpson_of(like: Any, y: Any, x: Any, dx: Any, axis: Any) -> Any:
    """Return what SciPy returns: an array, or a number."""
    return integrate.simpson(y, x=x, dx=dx, axis=axis)


@definition(integrate.simpson)
def simpson(y, x=None, dx=1.0, axis=-1):
    samples = np.asarray(y)
    if samples.dtype != np.float64 or samples.ndim == 0:
        return followed(integrate.simpson, y, x=x, dx=dx, axis=axis)
    z = np.moveaxis(samples, axis, -1)
    count = z.shape[-1]
    if count < 3:
        raise ValueError("an integral over one interval")
    if x is None and count % 2:
        return followed(integrate.simpson, y, dx=dx, axis=axis)
    given = np.arange(count) * (dx * 1.0) if x is None else np.asarray(x) * 1.0
    places = given if given.ndim == 1 else np.moveaxis(given, axis, -1)
    h = places[..., 1:] - places[..., :-1]
    if count % 2:
        total = _of_pairs(z, h)
    else:
        total = _of_pairs(z[..., :-1], h[..., :-1]) + _of_last(z, h)
    value = simpson_of(total, samples, None if x is None else given, dx, axis)
    size = np.max(np.abs(z)) * np.max(np.sum(np.abs(h), -1))
    demand(np.max(np.abs(total - value)) <= AGREEMENT * size)
    return with_derivative(value, total)


# ---- Romberg's rule ------------------------------------------------------------------------------


@cache
def _shares(count: int) -> Any:
    return integrate.romb(np.eye(count), axis=0)


@result_like(lambda y: y)
@non_differentiable
def shares_of(y: Any) -> Any:
    """Return the weights of Romberg's rule for the samples `y`, in which it is linear."""
    return _shares(len(y))


@result_like(lambda like, *rest: like)
@non_differentiable
def romb_of(like: Any, y: Any, dx: Any, axis: Any) -> Any:
    """Return what SciPy returns: an array, or a number."""
    return integrate.romb(y, dx, axis)


@definition(integrate.romb)
def romb(y, dx=1.0, axis=-1, show=False):
    samples = np.asarray(y)
    if show or samples.dtype != np.float64:
        raise ValueError("other options")
    z = np.moveaxis(samples, axis, -1)
    total = z @ shares_of(np.reshape(z, (-1, z.shape[-1]))[0]) * dx
    return with_derivative(romb_of(total, samples, dx, axis), total)
