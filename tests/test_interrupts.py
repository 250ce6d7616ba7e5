"""An interrupt at any moment of `back` leaves the caller's data as the function left them, and
`back` usable."""

import collections
import contextlib
import copy
import gc
import os
import signal
import sys
import time

import numpy as np
import pytest

import adjoint as ad
from adjoint import locks

# of a generator that is let go, which is a moment, too
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

LIBRARY = os.path.dirname(ad.__file__)


class Box:
    def __init__(self, v):
        self.v = v


class Slotted:
    __slots__ = ("v",)

    def __init__(self, v):
        self.v = v


def of_arrays(x, state):
    state[:2] = x[:2] * x[1]
    state[2] = state[0] * x[2]
    state *= x
    state += state[::-1].copy()
    return state.sum()


def of_whole_arrays(x, state):
    for _ in range(3):
        state *= x
    state[...] = state * state
    return state.sum()


def of_lists(x, state):
    state.append(x[0] * state[0])
    state[0] = state[-1] * x[1]
    state.extend([x[2], x[1]])
    del state[1]
    state[1:2] = [state[0], x[0], state[1]]
    state.insert(0, x[2] * 2.0)
    return sum(state) + state.pop() * state[0]


def of_dicts(x, state):
    state["a"] = x[0] * state["a"]
    state["new"] = state["a"] * x[1]
    state.update(b=x[2])
    del state["gone"]
    return sum(state.values()) * state.pop("new")


def of_objects(x, state):
    state.v = state.v * x[0]
    state.w = state.v * x[1]
    del state.u
    state.v = state.w * state.v
    return state.v + state.w


def of_slots(x, state):
    state.v = state.v * x[0]
    state.v = state.v * x[1]
    return state.v * x[2]


def of_deques(x, state):
    state.append(x[0] * state[0])
    state.appendleft(x[1])
    return state.pop() * state.popleft() + state[0] * x[2]


def of_sets(x, state):
    state.add(7)
    state.discard(1)
    return x.sum() * len(state)


def of_cells(x, state):
    total = state[0]

    def add(v):
        nonlocal total
        total = total * v
        state[0] = total

    for v in x:
        add(v)
    return total + state[0]


def with_u(box):
    box.u = 5.0
    return box


PROGRAMS = {
    of_arrays: lambda: np.array([1.0, 2.0, 3.0]),
    of_whole_arrays: lambda: np.array([1.0, 2.0, 3.0]),
    of_lists: lambda: [2.0, 3.0],
    of_dicts: lambda: {"a": 2.0, "gone": 1.0, "c": 4.0},
    of_objects: lambda: with_u(Box(2.0)),
    of_slots: lambda: Slotted(2.0),
    of_deques: lambda: collections.deque([2.0, 3.0]),
    of_sets: lambda: {1, 2, 3},
    of_cells: lambda: [2.0],
}


def contents(state):
    """What a state holds, to be compared; dicts with their order."""
    if isinstance(state, np.ndarray | collections.deque):
        return state.copy().tolist() if isinstance(state, np.ndarray) else list(state)
    if isinstance(state, Slotted):
        return state.v
    if isinstance(state, Box):
        return list(vars(state).items())
    return list(state.items()) if isinstance(state, dict) else copy.copy(state)


def interrupted(run, number):
    """Call `run`, interrupted where a line of the library, or of what it has generated, begins;
    whether it came so far."""
    count = 0

    def trace(frame, event, arg):
        nonlocal count
        name = frame.f_code.co_filename
        if not name.startswith((LIBRARY, "<adjoint")):
            return None
        if event in ("line", "call"):
            count += 1
            if count == number:
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        with contextlib.suppress(KeyboardInterrupt):
            next(in_generator(run))
    finally:
        sys.settrace(before)
        open_locks()
    return count >= number


def open_locks():
    """Release what a trace function has left held: it raises also between the end of ``with lock:``
    and the release, where Python runs no handler of a signal."""
    for lock in locks._locks:
        while lock._is_owned():
            lock.release()


def in_generator(run):
    """Call `run` where the error that is being handled is forgotten afterwards: CPython 3.11 loses
    the one before it where a trace function raises at the end of an ``except`` clause."""
    yield run()


@pytest.fixture
def settings_of_numpy():
    """Restore NumPy's handling of errors: an error of a trace function at the end of a ``with``
    skips its ``__exit__``."""
    with np.errstate():
        yield


@pytest.mark.usefixtures("settings_of_numpy")
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_at_each_line(f):
    x, state = np.array([1.5, 0.5, 2.0]), PROGRAMS[f]()
    _, back = ad.pullback(f, x, state)
    left, expected = contents(state), back(1.0)
    number, limit = 1, sys.getrecursionlimit()
    while interrupted(lambda: back(1.0), number):
        assert contents(state) == left, number
        assert gc.isenabled() and sys.getrecursionlimit() == limit, number
        found = back(1.0)
        assert contents(state) == left, number
        np.testing.assert_array_equal(found[1], expected[1])
        assert repr(found[2]) == repr(expected[2])
        number += 1
    assert number > 50


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no such timer")
def test_by_a_signal():
    """After any time: what Python runs between two of its looks for signals is one moment."""

    def f(x, state):
        for i in range(len(state)):
            state[i] = state[i] * x[i % 3]
            state += x[0]
        return state.sum()

    x, state = np.array([1.5, 0.5, 1.0]), np.linspace(1.0, 2.0, 40)
    _, back = ad.pullback(f, x, state)
    left, expected = contents(state), back(1.0)
    begin = time.perf_counter()
    back(1.0)
    whole = time.perf_counter() - begin
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        for moment in np.linspace(0.01, 1.0, 60) * whole:
            with contextlib.suppress(KeyboardInterrupt):
                signal.setitimer(signal.ITIMER_REAL, moment)
                back(1.0)
                time.sleep(10 * whole)
            assert contents(state) == left and gc.isenabled()
            found = back(1.0)
            np.testing.assert_array_equal(found[1], expected[1])
            np.testing.assert_array_equal(found[2], expected[2])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
