"""Pushforwards and products with Hessians of complex functions: by program, beside the interpreter
of the levels and the pullbacks of the generic tier."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.build.modes import mode_of
from adjoint.fast.programs import store
from tests.fast.agreeing import generic_tier
from tests.fast.test_complex import NAMED
from tests.levels import random_tangent
from tests.structures import mapped, mismatch
from tests.support import inner, is_single, random_cotangent


def _direction(args: Any) -> tuple[Any, ...]:
    rng = np.random.default_rng(2)
    return tuple(random_tangent(arg, rng) for arg in args)


def _programs(kind: Any, f: Any, dots: Any) -> list[Any]:
    wanted = tuple(i for i, dot in enumerate(dots) if dot is not None)
    kept = store.known(f, mode_of(kind, wanted, is_single=kind == "hvp"))
    return [] if kept is None else kept.entries


@pytest.mark.parametrize("name", NAMED)
def test_pushforwards(name: str) -> None:
    f, args = NAMED[name]
    dots = _direction(args)
    y, y_dot = ad.pushforward(f, mapped(args), dots)
    with generic_tier():
        expected = ad.pushforward(f, mapped(args), dots)
        _, back = ad.pullback(f, *mapped(args))
        y_bar = random_cotangent(y, np.random.default_rng(0))
        bars = back(y_bar)[1:]
    rtol = 1e-4 if is_single((args, y)) else 1e-9
    assert not mismatch((y, y_dot), tuple(expected), rtol=rtol, atol=rtol)
    pairs = [(b, d) for b, d in zip(bars, dots, strict=True) if b is not None and d is not None]
    assert np.isclose(inner(y_bar, y_dot), sum(inner(b, d) for b, d in pairs), rtol=rtol * 10)
    assert bool(_programs("pushforward", f, dots))


@pytest.mark.parametrize("name", NAMED)
def test_products_with_hessians(name: str) -> None:
    f, args = NAMED[name]

    def size(*xs: Any) -> Any:
        y = f(*xs)
        parts = y if isinstance(y, list | tuple) else [y]
        return sum(np.sum(np.abs(part) ** 2) for part in parts) + 0.5 * np.sum(np.real(parts[0]))

    def of_one(x: Any) -> Any:
        return size(x, *args[1:])

    x, v = args[0], random_tangent(args[0], np.random.default_rng(2))
    if v is None:
        pytest.skip("no number in the first argument")
    bar, along = ad.gradient_and_hvp(of_one, mapped(x), v)
    with generic_tier():
        expected = ad.gradient_and_hvp(of_one, mapped(x), v)
    rtol = 1e-3 if is_single((args, bar)) else 1e-8
    assert not mismatch((bar, along), tuple(expected), rtol=rtol, atol=rtol)
