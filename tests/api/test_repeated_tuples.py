"""Tuples of numbers that stand at several places of one argument are separate variables."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

import adjoint as ad

_POINT = (1.0, 2.0)  # as of two equal literals, which Python makes one object


def _list(p: Any) -> Any:
    return tuple(p)


def _dict(p: Any) -> Any:
    return p["a"], p["b"]


def _object(p: Any) -> Any:
    return p.a, p.b


def _deeper(p: Any) -> Any:
    return p[0], p[1]["b"][0]


PLACES: list[tuple[Callable[[], Any], Callable[[Any], Any]]] = [
    (lambda: [_POINT, _POINT], _list),
    (lambda: (_POINT, _POINT), _list),
    (lambda: deque([_POINT, _POINT]), _list),
    (lambda: {"a": _POINT, "b": _POINT}, _dict),
    (lambda: SimpleNamespace(a=_POINT, b=_POINT), _object),
    (lambda: (_POINT, {"b": (_POINT,)}), _deeper),
    (lambda: [_POINT, {"b": [_POINT]}], _deeper),
]


def _opaque() -> float:
    space: dict[str, float] = {}
    exec("one = 1.0", space)
    return space["one"]


def _generic(pair: Callable[[Any], Any]) -> Callable[[Any], float]:
    def f(p: Any) -> float:
        (a, b), (c, _) = pair(p)
        return (a * b) ** 2 * _opaque() + 3 * c**2

    return f


def _program(pair: Callable[[Any], Any]) -> Callable[[Any], float]:
    def f(p: Any) -> float:
        (a, b), (c, _) = pair(p)
        return (a * b) ** 2 + 3 * c**2

    return f


@pytest.mark.parametrize("make", [_generic, _program])
@pytest.mark.parametrize(("point", "pair"), PLACES)
def test_each_place_has_its_own_derivative(make: Any, point: Any, pair: Any) -> None:
    f, p = make(pair), point()
    assert pair(p)[0] is pair(p)[1]
    assert pair(ad.grad(f)(p)) == ((8.0, 4.0), (6.0, 0.0)), ad.tier(f, p)
    assert pair(ad.jacobian(f, p)) == ((8.0, 4.0), (6.0, 0.0))
    of_a, of_b = pair(ad.pullback(f, p)[1](1.0)[1])
    assert of_a == (8.0, 4.0) and of_b[0] == 6.0
    assert pair(p) == (_POINT, _POINT) and pair(p)[0] is pair(p)[1]  # the argument is as it was


@pytest.mark.parametrize("make", [_generic, _program])
@pytest.mark.parametrize(("point", "pair"), PLACES)
def test_second_order(make: Any, point: Any, pair: Any) -> None:
    f = make(pair)

    def slope(p: Any) -> float:
        return pair(ad.grad(f)(p))[0][1]

    assert pair(ad.grad(slope)(point())) == ((8.0, 2.0), (0.0, 0.0))


@pytest.mark.parametrize("make", [_generic, _program])
def test_tangents(make: Any) -> None:
    f, p = make(_list), [_POINT, _POINT]
    assert ad.jvp(f, (p,), ([(0.0, 1.0), (0.0, 0.0)],)) == (7.0, 4.0)
    assert ad.jvp(f, (p,), ([(0.0, 0.0), (1.0, 0.0)],)) == (7.0, 6.0)
