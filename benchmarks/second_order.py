"""Forward mode and second derivatives, as multiples of what they are derivatives of."""

from __future__ import annotations

import ast
import inspect
import itertools
import math
import statistics
import textwrap
from collections.abc import Callable, Iterable, Iterator
from types import FunctionType
from typing import Any

import numpy as np

import adjoint as ad
from benchmarks.gradbench import inputs
from benchmarks.gradbench.evaluation import STYLES, Style, load
from benchmarks.harness import CLOCK, Line, measure, ratio, show, within
from benchmarks.programs import second_order as programs

__all__ = ["run"]

LIMIT = 30.0
"""Seconds that one line of a table may take, with the start of its process."""

SEARCHES_LIMIT = 8.0
"""The same of a line of `_search`: what meets its bar needs less than two."""

PROGRAMS = ("network", "runge_kutta", "stencil", "black_scholes")
HESSIANS = {"rosenbrock": 0.7, "network_of_input": 2.0}
"""The milliseconds that each may take."""

SEARCHES: dict[str, tuple[dict[str, Any], Any]] = {
    "particle": ({"w": 0}, 0.2071918746486116),
    "saddle": ({"start": [1, 1]}, [8.246324826140356e-06] * 4),
}
"""Inputs and outputs of GradBench (``run.py`` in ``python/gradbench/gradbench/evals`` of its
repository); the inputs are integers here."""

EVALUATIONS = {
    "ht": ("objective", "jacobian", 30),
    "kmeans": ("cost", "dir", 5),
    "ba": ("objective", "jacobian", 5),
}
"""An objective, its derivative, and how many times the one the other may take."""

ROUNDS = 5
"""Samples of the evaluations of GradBench, some of which take a second."""

FIRSTS = 3
"""Of how many processes a first call is the median."""


def run() -> Iterator[Line]:
    """All lines of this module."""
    plain = _lines(_pushforward, ((name,) for name in PROGRAMS), "pushforward", "x", 3)
    yield from show("pushforward, over the plain program", plain)
    named = [(name,) for name in (*PROGRAMS, "rosenbrock")]
    yield from show("hvp, over the gradient", _lines(_hvp, named, "hvp", "x", 3))
    yield from show("Hessian, in 50 numbers", _hessians())
    rows = _lines(_rows, [("network_of_row",)], "Jacobian of rows", "x", 5)
    yield from show("Jacobians 100 x 10 of 1,000 rows by vmap, over the gradient of all", rows)
    yield from show("GradBench: searches that differentiate searches", _searches())
    yield from show("GradBench: derivative, over the objective", _evaluations())
    title = "first hvp, beyond what later ones take, per 10 lines of source"
    yield from show(title, _lines(_first, named, "first hvp", "ms", 10))


def _lines(
    call: Callable[..., tuple[float, str]],
    tasks: Iterable[tuple[str, ...]],
    what: str,
    unit: str,
    bar: float,
    limit: float = LIMIT,
) -> Iterator[Line]:
    """A line for each task: what `call` of it gives, in a process of its own. What does not end in
    time, or fails, has missed its bar."""
    for task in tasks:
        try:
            value, detail = within(limit, call, *task)
        except TimeoutError:
            value, detail = math.inf, f"stopped after {limit:g} s"
        except Exception as error:
            value, detail = math.inf, f"{type(error).__name__}: {error}".splitlines()[0]
        yield Line(
            f"{what} {' '.join(task)}".replace("_", " ").strip(), value, unit, bar, False, detail
        )


def _hessians() -> Iterator[Line]:
    for name, bar in HESSIANS.items():
        yield from _lines(_hessian, [(name,)], "Hessian", "ms", bar)


def _searches() -> Iterator[Line]:
    tasks = ((n, o + i, s) for n in SEARCHES for s in STYLES for o in "fr" for i in "fr")
    return _lines(_search, tasks, "", "ms", 300, SEARCHES_LIMIT)


def _evaluations() -> Iterator[Line]:
    for name, (_, derivative, bar) in EVALUATIONS.items():
        yield from _lines(_evaluation, [(name, derivative)], "", "x", bar)


# ---- what is measured, each in a process of its own ----------------------------------------------


def _pushforward(name: str) -> tuple[float, str]:
    f, x, v = _program(name)
    _, along = ad.pushforward(f, (x,), (v,))
    _check_same(name, along, _numbers(ad.gradient(f, x)[0]) @ _numbers(v))
    plain, pushed = measure(lambda: f(x), lambda: ad.pushforward(f, (x,), (v,)))
    return ratio(pushed, plain), f"plain {_time(plain)}, pushforward {_time(pushed)}"


def _hvp(name: str) -> tuple[float, str]:
    f, x, v = _program(name)
    grad = ad.grad(f)
    _check_same(name, _numbers(ad.hvp(f, x, v)), _difference(grad, x, v))
    first, second = measure(lambda: grad(x), lambda: ad.hvp(f, x, v))
    return ratio(second, first), f"gradient {_time(first)}, hvp {_time(second)}"


def _hessian(name: str) -> tuple[float, str]:
    f, x, v = _program(name)
    _check_same(name, ad.hessian(f, x) @ v, _difference(ad.grad(f), x, v))
    plain, grad, all_of_it = measure(lambda: f(x), lambda: ad.grad(f)(x), lambda: ad.hessian(f, x))
    detail = f"plain {_time(plain)}, gradient {_time(grad)}"
    return statistics.median(all_of_it) * 1e3, detail


def _rows(name: str) -> tuple[float, str]:
    rng = np.random.default_rng(11)
    f, layers = _of_program(name), _layers(rng, 10, 20, 100)
    x = rng.normal(size=(1000, 10))
    jacobians = ad.vmap(lambda row: ad.jacobian(lambda row: f(row, layers), row))
    grad = ad.grad(lambda x: np.sum(f(x, layers)))
    _check_same(name, _numbers(np.sum(jacobians(x), axis=1)), _numbers(grad(x)))
    batched, each = measure(lambda: grad(x), lambda: jacobians(x))
    return ratio(each, batched), f"gradient {_time(batched)}, Jacobians {_time(each)}"


def _search(name: str, modes: str, style: Style) -> tuple[float, str]:
    """Milliseconds of later calls, or of the first one where there is no time for others."""
    call, (input, expected) = load(name, style)[modes], SEARCHES[name]
    found, (first,) = call.run(input)
    _check_same(name, found, expected)
    if first > 1e9:
        return first / 1e6, "the first call"
    _, times = call.run(input | {"min_runs": 3})
    return statistics.median(times) / 1e6, f"first {first / 1e6:.3g} ms"


def _evaluation(name: str, derivative: str) -> tuple[float, str]:
    objective = EVALUATIONS[name][0]
    functions = load(name, "arrays")
    prepare = functions[objective].prepare
    # Sizes of GradBench: of its data simple_small/hand1 (ht) and ba1 (ba), and one of its kmeans.
    match name:
        case "ht":
            arguments = prepare(inputs.ht(544, 100))
        case "kmeans":
            arguments = prepare(inputs.kmeans(100, 10_000, 8))
        case _:
            arguments = prepare(inputs.ba(49, 7776, 31_843))
    plain, differentiated = measure(
        lambda: functions[objective].call(*arguments),
        lambda: functions[derivative].call(*arguments),
        rounds=ROUNDS,
    )
    detail = f"{objective} {_time(plain)}, {derivative} {_time(differentiated)}"
    return ratio(differentiated, plain), detail


def _first(name: str) -> tuple[float, str]:
    """The median of new processes, so that each call is a first one."""
    over = statistics.median(within(LIMIT, _first_call, name) for _ in range(FIRSTS))
    lines = _source_lines(_of_program(name))
    return over / lines * 10, f"{over:.3g} ms, {lines} lines"


def _first_call(name: str) -> float:
    """Milliseconds of the first call beyond those of a later one."""
    ad.hvp(lambda x: np.sum(x**3), np.ones(2), np.ones(2))  # loads what any call needs
    f, x, v = _program(name)
    times = []
    for _ in range(4):
        start = CLOCK()
        ad.hvp(f, x, v)
        times.append(CLOCK() - start)
    return (times[0] - min(times[1:])) * 1e3


# ---- the programs and their points ---------------------------------------------------------------


def _of_program(name: str) -> FunctionType:
    f: FunctionType = getattr(programs, name)
    return f


def _program(name: str) -> tuple[Callable[[Any], Any], Any, Any]:
    """A program of one argument, a point and a direction."""
    rng = np.random.default_rng(11)
    f = _of_program(name)
    match name:
        case "network":
            layers, direction = (_layers(rng, 2, 16, 13, 1) for _ in range(2))
            x, y = rng.normal(size=(64, 2)), rng.normal(size=(64, 1))
            return lambda layers: f(layers, x, y), layers, direction
        case "network_of_input":
            layers = _layers(rng, 50, 50, 50, 1)
            return lambda x: f(x, layers), rng.normal(size=50), rng.normal(size=50)
        case "black_scholes":
            x = np.stack([rng.uniform(80.0, 120.0, 1000), rng.uniform(0.1, 0.4, 1000)])
            strike, years = rng.uniform(80.0, 120.0, 1000), rng.uniform(0.2, 2.0, 1000)
            direction = rng.normal(size=x.shape) * [[1.0], [0.01]]
            return lambda x: f(x, strike, years, 0.03), x, direction
        case "runge_kutta":
            return f, 1.1, 1.0
        case "stencil":
            return f, rng.random(100), rng.normal(size=100)
        case _:
            return f, rng.normal(size=50), rng.normal(size=50)


def _layers(rng: np.random.Generator, *sizes: int) -> Any:
    return [
        (rng.normal(size=(m, n)) / np.sqrt(m), 0.1 * rng.normal(size=n))
        for m, n in itertools.pairwise(sizes)
    ]


def _source_lines(f: FunctionType) -> int:
    """Of a program and of the functions beside it that it calls, without documentation."""
    found, left = {f}, [f]
    while left:
        for name in left.pop().__code__.co_names:
            callee = vars(programs).get(name)
            if isinstance(callee, FunctionType) and callee not in found:
                found.add(callee)
                left.append(callee)
    count = 0
    for function in found:
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
        assert isinstance(tree, ast.FunctionDef)
        if ast.get_docstring(tree) is not None:
            del tree.body[0]
        count += len(ast.unparse(tree).splitlines())
    return count


# ---- numbers -------------------------------------------------------------------------------------


def _numbers(x: Any) -> Any:
    """All numbers in a structure, flat."""
    if isinstance(x, list | tuple):
        return np.concatenate([_numbers(part) for part in x])
    return np.ravel(x)


def _moved(x: Any, step: float, v: Any) -> Any:
    if isinstance(x, list | tuple):
        return type(x)([_moved(a, step, b) for a, b in zip(x, v, strict=True)])
    return x + step * v


def _difference(grad: Callable[[Any], Any], x: Any, v: Any, step: float = 1e-5) -> Any:
    """How the gradient changes along a direction."""
    after, before = (_numbers(grad(_moved(x, s, v))) for s in (step, -step))
    return (after - before) / (2 * step)


def _check_same(program: str, ours: Any, theirs: Any) -> None:
    """A number that is wrong is not fast."""
    scale = np.max(np.abs(theirs))
    if not np.allclose(ours, theirs, rtol=1e-5, atol=1e-5 * scale):
        raise AssertionError(f"{program}: {ours} is not {theirs}")


def _time(samples: list[float]) -> str:
    return f"{statistics.median(samples) * 1e3:.3g} ms"
