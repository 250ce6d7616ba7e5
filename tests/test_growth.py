"""Costs that grow as the function's own: instructions and memory per element do not depend on n.

What is counted is every bytecode instruction of a gradient, in generated code, in the library and
in NumPy's Python parts, so the machine's speed does not matter. What C functions do is not seen:
their work shows in the memory, and in the times of ``make bench``.
"""

from __future__ import annotations

import gc
import statistics
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any

import numpy as np
import pytest
from benchmarks.growth import point, programs

import adjoint as ad
from tests.fast.agreeing import generic_tier

PROGRAMS = dict(programs())
TOLERANCE = 1.1
"""Work that is done once makes the cost of an element fall as n grows; it has no reason to rise."""


def instructions(call: Callable[[], Any]) -> int:
    """The number of bytecode instructions that a call runs, without those of finalizers of what
    other tests have left."""
    gc.collect()
    gc.disable()
    try:
        return _monitored(call) if sys.version_info >= (3, 12) else _traced(call)
    finally:
        gc.enable()


def _monitored(call: Callable[[], Any]) -> int:
    count, monitoring = 0, sys.monitoring
    tool, event = monitoring.PROFILER_ID, monitoring.events.INSTRUCTION

    def step(code: CodeType, offset: int) -> None:
        nonlocal count
        count += 1

    monitoring.use_tool_id(tool, "growth")
    monitoring.register_callback(tool, event, step)
    monitoring.set_events(tool, event)
    try:
        call()
    finally:
        monitoring.set_events(tool, 0)
        monitoring.register_callback(tool, event, None)
        monitoring.free_tool_id(tool)
    return count


def _traced(call: Callable[[], Any]) -> int:
    count = 0

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal count
        if event == "opcode":
            count += 1
        elif event == "call":
            frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return count


def peak(call: Callable[[], Any]) -> int:
    """The bytes that a call needs at its worst moment: the median of three, for what other threads
    of the process allocate meanwhile is counted too."""
    return statistics.median(_peak_of_one(call) for _ in range(3))


def _peak_of_one(call: Callable[[], Any]) -> int:
    gc.collect()
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def rise(
    cost: Callable[[Callable[[], Any]], int],
    f: Callable[[Any], Any],
    sizes: tuple[int, int] = (100, 400),
) -> float:
    """How many times as much an element costs in many as in few."""
    few, many = (point(f, n) for n in sizes)
    ad.gradient(f, few)  # the first call lowers
    per_element = [cost(lambda: ad.gradient(f, x)) / len(x) for x in (few, many)]
    return per_element[1] / per_element[0]


@pytest.fixture(autouse=True)
def _generic() -> Iterator[None]:
    """Of the generic tier: the other one takes few and many elements by programs of their own."""
    with generic_tier():
        yield


@pytest.fixture(autouse=True, scope="module")
def _left_alone() -> None:
    """What is there already is not looked at by each collection."""
    gc.collect()
    gc.freeze()


@pytest.mark.parametrize("name", PROGRAMS)
def test_instructions_of_a_gradient_grow_linearly(name: str) -> None:
    assert rise(instructions, PROGRAMS[name]) < TOLERANCE


@pytest.mark.parametrize("name", PROGRAMS)
def test_memory_of_a_gradient_grows_linearly(name: str) -> None:
    assert rise(peak, PROGRAMS[name]) < TOLERANCE


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_of_growing_loops_are_right(name: str) -> None:
    ad.testing.check_gradient(PROGRAMS[name], point(PROGRAMS[name], 8))


def _raised_anew(x, depth):
    if not depth:
        raise ValueError(x)
    try:
        return _raised_anew(x, depth - 1)
    except ValueError as error:
        raise ValueError(error.args[0] * x)  # noqa: B904  each has those before it as its context


def _caught(x, depth):
    try:
        return _raised_anew(x, depth)
    except ValueError as error:
        return error.args[0]


def test_exceptions_that_are_raised_anew_at_each_depth_grow_linearly() -> None:
    assert ad.gradient(lambda x: _caught(x, 20), 1.0) == (21.0,)
    few, many = (
        instructions(lambda: ad.gradient(lambda x: _caught(x, depth), 1.0)) / depth
        for depth in (30, 120)
    )
    assert many / few < TOLERANCE


def _quadratic(xs):
    total = 0.0
    for _ in xs:
        for x in xs:
            total = total + x
    return total


def _hoarding(array):
    total, kept = 0.0, []
    for x in array:
        kept.append(array * x)
        total = total + x
    return total + np.sum(kept[-1])


def test_quadratic_programs_are_seen() -> None:
    assert rise(instructions, _quadratic, (20, 80)) > 3
    assert rise(peak, _hoarding) > 1.5
