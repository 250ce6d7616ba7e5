"""Variables that inner functions capture and that have no value where they are read: Python's own
error, in every mode and in both tiers."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

import adjoint as ad
from tests.fast.agreeing import generic_tier
from tests.frontend.bytecode.sourceless import made


def read_and_not_used(x, n):
    for i in range(n):
        x = (lambda z: z * i)(x)
    q = i - x
    return x * 2


def read(x, n):
    for i in range(n):
        x = (lambda z: z * (i + 1))(x)
    return x * i


def deleted(x, n):
    for i in range(n):
        pass
    h = lambda z: z * i  # noqa: F821
    del i  # noqa: F821
    return x * 2


def read_by_an_inner_function(x, n):
    for i in range(n):
        pass

    def h(z):
        return z * i

    h(x)
    return x * 2


def read_before_it_gets_a_value(x, n):
    if n:
        y = x * 3
    h = lambda: y
    z = y
    y = 2.0
    return h() * x * z


def deleted_by_an_inner_function(x, n):
    if n:
        y = x * 3

    def h():
        nonlocal y
        del y

    h()
    y = x
    return (lambda: y)() * x


def a_container(x, n):
    if n:
        y = [x, 2.0]
    h = lambda: y
    k = y
    return x * 3


FUNCTIONS = [
    read_and_not_used,
    read,
    deleted,
    read_by_an_inner_function,
    read_before_it_gets_a_value,
    deleted_by_an_inner_function,
    a_container,
]
MODES: dict[str, Callable[..., Any]] = {
    "gradient": lambda f, n: ad.withgradient(f, 1.5, n).value,
    "pushforward": lambda f, n: ad.pushforward(lambda x: f(x, n), (1.5,), (1.0,))[0],
}


def outcome(f: Callable[[], Any]) -> Any:
    try:
        return float(f())
    except NameError as error:
        return type(error), str(error)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("f", FUNCTIONS)
def test_errors_are_those_of_python(f: Callable[..., Any], mode: str) -> None:
    sourceless = made(inspect.getsource(f), f.__name__)
    for n in (2, 0, 1, 0):
        expected = outcome(lambda: f(1.5, n))
        assert outcome(lambda: MODES[mode](f, n)) == expected
        assert outcome(lambda: MODES[mode](sourceless, n)) == expected
        with generic_tier():
            assert outcome(lambda: MODES[mode](f, n)) == expected
    assert isinstance(expected, tuple)
