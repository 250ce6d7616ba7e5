"""Derivatives of derivatives of functions with loops: by programs, beside the generic tier."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.build.modes import mode_of
from adjoint.fast.programs import store
from tests.fast.agreeing import generic_tier


def counted(x):
    y = x
    for _ in range(4):
        y = y * 0.9 + math.sin(x * y) * 0.3
    return y


def until(x):
    y, k = x, 0
    while y < 3.0 and k < 6:
        y = y * 1.3 + 0.1 * x * x
        k += 1
    return y * y


def branching(x):
    s = 0.0
    for _ in range(5):
        if s > 0.2:
            s = s - x * x * 0.1
        else:
            s = s + x * 0.3
    return s * x


def listed(x):
    p = [x * x]
    for i in range(4):
        p.append(p[-1] * x * 0.7 + i)
    return sum(p)


def written(x):
    u = x.copy()
    for i in range(1, len(u)):
        u[i] = u[i] + 0.5 * u[i - 1] * u[i]
    return np.sum(u * u * x[0])


def over_elements(x):
    s = 0.0
    for a in x:
        s = s * 0.5 + np.sin(a) * a
    return s


FUNCTIONS = [counted, until, branching, listed, written, over_elements]
WITHOUT_LISTS = [counted, until, branching, written, over_elements]
NUMBER, ARRAY = 0.7, np.array([0.3, -0.4, 0.8])


def point(f: Any) -> Any:
    return ARRAY if f in (written, over_elements) else NUMBER


def ones(x: Any) -> Any:
    return np.ones_like(x) if isinstance(x, np.ndarray) else 1.0


OPERATORS: dict[str, Callable[[Any], Any]] = {
    "gradient": lambda f: lambda x: ad.gradient(f, x)[0],
    "pushforward": lambda f: lambda x: ad.pushforward(f, (x,), (ones(x),))[1],
    "hvp": lambda f: lambda x: ad.hvp(f, x, ones(x)),
    "value": lambda f: lambda x: np.sum(np.multiply(*ad.value_and_grad(f)(x))),
}


def number_of(f: Any) -> Any:
    """A number made of what `f` returns, by a function that is not linear."""
    return lambda x: np.sum(np.sin(f(x)) * (1.0 + 0.3 * x))


def compared(f: Any, x: Any) -> None:
    found = ad.gradient(f, x)[0]
    with generic_tier():
        expected = ad.gradient(f, x)[0]
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)
    v, step = np.cos(np.arange(np.size(x))).reshape(np.shape(x)), 1e-5
    slope = (f(x + step * v) - f(x - step * v)) / (2 * step)
    np.testing.assert_allclose(np.sum(found * v), slope, rtol=1e-4, atol=1e-6)
    kept = store.known(f, mode_of("gradient"))
    assert kept is not None
    assert kept.entries, [one.reason for one in kept.refused.values()]


@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.parametrize("name", OPERATORS)
def test_gradients_of_derivatives(f, name):
    compared(number_of(OPERATORS[name](f)), point(f))


@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.parametrize("inner", OPERATORS)
@pytest.mark.parametrize("outer", ["gradient", "pushforward", "hvp"])
def test_third_order(f, inner, outer):
    store.forget()
    x = point(f)
    middle = number_of(OPERATORS[inner](f))
    whole = number_of(OPERATORS[outer](middle))
    found = ad.gradient(whole, x)[0]
    with generic_tier():
        expected = ad.gradient(whole, x)[0]
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("f", WITHOUT_LISTS)
def test_captured_variables(f):
    """A descent whose steps are gradients of a function of its own variable."""

    def descent(c):
        def cost(z):
            return np.sum(f(z * c) * c)

        z = ones(c) * 0.5
        for _ in range(3):
            z = z - 0.1 * ad.gradient(cost, z)[0]
        return np.sum(z * c)

    compared(descent, point(f))


@pytest.mark.parametrize("f", WITHOUT_LISTS)
def test_a_variable_that_is_captured_too(f):
    compared(lambda x: np.sum(ad.gradient(lambda z: np.sum(f(z) * x), x)[0] ** 2), point(f))


@pytest.mark.parametrize("f", WITHOUT_LISTS)
def test_two_arguments_and_containers(f):
    def two(a, b):
        return f(a) * np.sum(b) + np.sum(b * b * a)

    def mixed(c):
        of_a, of_b = ad.gradient(two, c * c, c + 1.0)
        return np.sum(of_a * of_b)

    def in_a_dict(c):
        def cost(p):
            return np.sum(f(p["a"]) * p["b"][0] + p["b"][1] * f(p["b"][1]))

        bars = ad.gradient(cost, {"a": c, "b": [c * 2.0, c + 0.1]})[0]
        return np.sum(bars["a"] * bars["b"][0]) + np.sum(bars["b"][1] * c)

    compared(mixed, point(f))
    compared(in_a_dict, point(f))


def test_an_array_that_is_written_later():
    def f(x):
        u = x * 1.0
        g = ad.gradient(lambda z: written(z * u), x)[0]
        u *= 2.0
        return np.sum(g * u)

    compared(f, ARRAY)
