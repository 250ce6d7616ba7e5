"""Forward mode and second derivatives of a function against reverse mode and differences, number by
number (`adjoint.testing.check_gradient`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from adjoint.api import gradient
from adjoint.derivatives.flat import flatten, places
from adjoint.differences import widened
from adjoint.errors import ArgumentError
from adjoint.levels.transforms import pushforward

__all__ = ["MODES", "check_modes"]

MODES = ("reverse", "forward", "second")


def check_modes(
    f: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    y_bar: Any,
    modes: tuple[str, ...],
    rtol: float,
    atol: float,
) -> None:
    """Check what `modes` names besides reverse mode, which is right at this point.

    Raises
    ------
    AssertionError
        Names the mode, the argument and the entry that is off by most, and by how much.
    """
    args = widened(args)
    try:
        vector, unflatten = flatten(args)
    except ArgumentError:
        args = tuple(map(_real, args))
        vector, unflatten = flatten(args)

    def scalar(v: Any) -> Any:
        return _weighted(y_bar, f(*unflatten(v), **kwargs))

    names = list(_names(args))
    rng = np.random.default_rng(3)
    if "forward" in modes:
        _check_forward_mode(scalar, vector, names, rng, rtol, atol)
    if "second" in modes:
        _check_second_order(scalar, vector, names, rng, rtol, atol)


def _real(x: Any) -> Any:
    return float(x) if isinstance(x, int) and not isinstance(x, bool) else x


def _names(args: tuple[Any, ...]) -> Iterator[str]:
    """What each number of the vector is called."""
    for ((_, position), *rest), shape in places(args):
        steps = "".join(f"[{key!r}]" if kind == "[]" else f".{key}" for kind, key in rest)
        for index in np.ndindex(shape):
            yield f"argument {position}{steps}{list(index) if index else ''}"


def _weighted(y_bar: Any, y: Any) -> Any:
    """⟨ȳ, y⟩, as code that is differentiated."""
    if y_bar is None:
        return 0.0
    total = 0.0
    if isinstance(y_bar, dict):
        for key in y_bar:
            total = total + _weighted(y_bar[key], y[key])
        return total
    if isinstance(y_bar, list | tuple):
        for part_bar, part in zip(y_bar, y, strict=True):
            total = total + _weighted(part_bar, part)
        return total
    return np.sum(np.real(np.conj(y_bar) * y))


def _check_forward_mode(
    scalar: Callable[[Any], Any],
    vector: Any,
    names: list[str],
    rng: np.random.Generator,
    rtol: float,
    atol: float,
) -> None:
    slope = _gradient(scalar, vector)
    u = rng.normal(size=vector.size)
    got = pushforward(scalar, (vector,), (u,))[1]
    if abs(got - slope @ u) <= rtol * np.sum(np.abs(slope * u)) + atol:
        return
    units = np.eye(vector.size)
    alone = np.array([pushforward(scalar, (vector,), (unit,))[1] for unit in units])
    _compare("forward mode", names, alone, slope, "reverse mode", rtol * np.abs(slope) + atol)
    raise AssertionError(
        f"forward mode: along a random direction the derivative is {got:.10g}, reverse mode gives"
        f" {slope @ u:.10g}; along each number alone they agree"
    )


def _check_second_order(
    scalar: Callable[[Any], Any],
    vector: Any,
    names: list[str],
    rng: np.random.Generator,
    rtol: float,
    atol: float,
) -> None:
    u = rng.normal(size=vector.size)
    expected, error = _differences(lambda t: _gradient(scalar, vector + t * u))
    size = np.abs(expected)
    allowed = rtol * size + atol + np.minimum(4 * error, 1e-4 * np.maximum(size, 1e-2))

    def slope(v: Any) -> Any:
        return _or_zero(gradient(scalar, v)[0], v)

    def along(v: Any) -> Any:
        return pushforward(scalar, (v,), (u,))[1]

    products: dict[str, Callable[[], Any]] = {
        "forward over reverse": lambda: pushforward(slope, (vector,), (u,))[1],
        "reverse over reverse": lambda: _gradient(lambda v: np.sum(slope(v) * u), vector),
        "reverse over forward": lambda: _gradient(along, vector),
    }
    for mode, product in products.items():
        what = f"second order, {mode}"
        _compare(what, names, product(), expected, "differences of gradients", allowed)


def _gradient(scalar: Callable[[Any], Any], vector: Any) -> Any:
    return _or_zero(gradient(scalar, vector)[0], vector)


def _or_zero(bar: Any, v: Any) -> Any:
    return np.zeros(v.shape) if bar is None else bar


def _compare(
    what: str, names: list[str], got: Any, expected: Any, reference: str, allowed: Any
) -> None:
    off = np.abs(got - expected)
    excess = np.where(np.isnan(off), np.inf, off - allowed)
    worst = int(np.argmax(excess))
    if excess[worst] > 0:
        raise AssertionError(
            f"{what}: the derivative by {names[worst]} is {got[worst]:.10g}, {reference}"
            f" {'give' if reference.endswith('s') else 'gives'} {expected[worst]:.10g}"
            f" (off by {off[worst]:.3g})"
        )


def _differences(along: Callable[[float], Any]) -> tuple[Any, Any]:
    """The derivative at 0 of what is an array, and an estimate of its error, for each entry."""
    best = last = None
    best_error: Any = np.inf
    for power in range(7):
        h = 0.02 / 5**power
        near, far = along(h) - along(-h), along(2 * h) - along(-2 * h)
        estimate = (8 * near - far) / (12 * h)
        error = np.full(estimate.shape, np.inf) if last is None else np.abs(estimate - last)
        better = error < best_error
        best = estimate if best is None else np.where(better, estimate, best)
        best_error = np.where(better, error, best_error)
        last = estimate
    return best, best_error
