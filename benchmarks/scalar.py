"""Scalar operations one by one, and scalar loops beside autograd, in the generic tier."""

from __future__ import annotations

import importlib
import inspect
import statistics
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

import numpy as np

import adjoint as ad
from benchmarks.harness import Line, apart, measure, show
from benchmarks.peers import beside_autograd
from benchmarks.programs import scalar_operations, scalar_steps

__all__ = ["operations", "run"]

POINT = 0.9
LOOPS = {
    "lotka_volterra": 1.1,
    "newton_roots": 1.3,
    "horner": 0.7,
    "logistic_map": 3.2,
    "pendulum": 1.4,
    "collatz_like": 1.2,
    "moving_average": 1.1,
}


def run() -> Iterator[Line]:
    """All lines of this module."""
    title = "scalar operations: forward + reverse of one, over the plain loop"
    yield from show(title, operations(scalar_operations, POINT, 1.0))
    yield from show("between scalar operations", operations(scalar_steps, POINT, None))
    yield from show("scalar loops: gradient", beside_autograd("scalar_loops", _loops, 10))


def _loops() -> Iterable[tuple[str, float]]:
    return LOOPS.items()


def operations(module: ModuleType, point: Any, bar: float | None) -> Iterator[Line]:
    """Microseconds of one active operation in the generic tier, for each loop of `module`; a point
    that is a list is made an array."""
    names = [name for name, _ in inspect.getmembers(module, inspect.isfunction)]
    tasks = ((module.__name__, name, point, bar) for name in names if name != "identity")
    return apart(_operation, tasks, "generic")


def _operation(module_name: str, name: str, point: Any, bar: float | None) -> Line:
    module = importlib.import_module(module_name)
    f = getattr(module, name)
    grad, x = ad.grad(f), np.array(point) if isinstance(point, list) else point
    plain, active = measure(lambda: f(x), lambda: grad(x))
    count = module.ROUNDS * module.PER_ROUND
    over = statistics.median(a - b for a, b in zip(active, plain, strict=True)) / count
    detail = f"plain {statistics.median(plain) / count * 1e9:.0f} ns"
    return Line(name.replace("_", " "), over * 1e6, "us", bar, False, detail)
