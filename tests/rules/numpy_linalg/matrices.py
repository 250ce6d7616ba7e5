"""Matrices in general position, and the check that a forward rule can itself be differentiated."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.derivatives.differences import random_like
from adjoint.rulekit import registry
from tests.rules.harness import complexes, reals
from tests.support import check_reverse


def square(*shape, seed=0):
    """Well-conditioned matrices with different eigenvalues."""
    n = shape[-1]
    return reals(*shape, seed=seed, low=-0.5, high=0.5) + np.diag(np.arange(1.0, n + 1))


def complex_square(*shape, seed=0):
    return square(*shape, seed=seed) + 0.5j * reals(*shape, seed=seed + 50)


def positive(*shape, seed=0):
    """Symmetric positive definite matrices with different eigenvalues."""
    a = square(*shape, seed=seed)
    return a @ np.swapaxes(a, -1, -2)


def complex_positive(*shape, seed=0):
    a = complex_square(*shape, seed=seed)
    return a @ np.conj(np.swapaxes(a, -1, -2))


def tall(*shape, seed=0):
    """Matrices whose singular values differ."""
    m, n = shape[-2:]
    return reals(*shape, seed=seed, low=-0.4, high=0.4) + np.eye(m, n) * np.arange(1.0, n + 1)


def complex_tall(*shape, seed=0):
    return tall(*shape, seed=seed) + 0.5j * reals(*shape, seed=seed + 50)


def check_second(f, *args, rtol=1e-6, **keywords):
    """The forward rule of `f` is ordinary Python: its own gradient is right as well."""
    registry.lookup(f)
    (rule, *_) = registry.table[registry.key_of(f)].frules
    rng = np.random.default_rng(7)
    dots = tuple(random_like(x, rng) for x in args)
    check_reverse(lambda *xs: rule.function(dots, *xs, **keywords)[1], *args, rtol=rtol)


def check_second_order(f, *args, rtol=1e-5, **keywords):
    """Gradients of tangents of `f` agree with differences, also where no forward rule says them."""
    rng = np.random.default_rng(7)
    dots, ways = (tuple(random_like(x, rng) for x in args) for _ in range(2))

    def moved(h):
        return [x + h * way for x, way in zip(args, ways)]

    def parts(*xs):
        y_dot = ad.pushforward(lambda *ys: f(*ys, **keywords), xs, dots)[1]
        return [y for y in (y_dot if isinstance(y_dot, tuple) else [y_dot]) if y is not None]

    weights = [random_like(y, rng) for y in parts(*args)]

    def weighed(*xs):
        return sum(np.sum(np.real(w * y)) for w, y in zip(weights, parts(*xs)))

    bars = ad.gradient(weighed, *args)
    found = sum(np.vdot(bar, way).real for bar, way in zip(bars, ways))
    h = 1e-5
    slope = (weighed(*moved(h)) - weighed(*moved(-h))) / (2 * h)
    assert found == pytest.approx(slope, rel=rtol, abs=1e-7)


__all__ = [
    "check_second", "check_second_order", "complex_positive", "complex_square", "complex_tall",
    "complexes", "positive", "reals", "square", "tall",
]  # fmt: skip
