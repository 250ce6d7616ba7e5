"""Functions of the standard library that other tests reach by operators and methods, or not."""

import _thread
import bisect
import heapq
import json
import operator
import queue
import threading
import typing

import pytest

import adjoint as ad

REALS = ["iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow"]


@pytest.mark.parametrize("name", REALS)
def test_operators_in_place(name):
    in_place, plain = getattr(operator, name), getattr(operator, name[1:])
    assert ad.gradient(lambda x: in_place(x, 1.5) * x, 2.3) == ad.gradient(
        lambda x: plain(x, 1.5) * x, 2.3
    )


@pytest.mark.parametrize("name", ["iand", "ior", "ixor", "ilshift", "irshift"])
def test_operators_of_bits(name):
    of = getattr(operator, name)
    assert ad.gradient(lambda x: of(6, 1) * x, 2.0) == (float(of(6, 1)),)


def inserted(x):
    xs = [1.0, 3.0]
    bisect.insort_right(xs, x * x)
    return xs[1] * xs[2]


def through_a_queue(x):
    waiting = queue.SimpleQueue()
    waiting.put_nowait(3.0 * x)
    return waiting.get() * x


def typed(x):
    return typing.assert_type(x * x, float)


def with_traceback(x):
    try:
        raise ValueError("expected").with_traceback(None)
    except ValueError:
        return x * x


def read(x):
    return json.loads("[2.5, 1]")[0] * x


def greatest(x):
    heap = [x, 3.0 * x, 2.0 * x]
    heapq._heapify_max(heap)
    first = heapq._heappop_max(heap)
    return first * heapq._heapreplace_max(heap, x * x)


def notified(x):
    condition = threading.Condition()
    with condition:
        condition.notify_all()
    return x * x


@pytest.mark.parametrize(
    "f, slope",
    [
        (inserted, 12.0),
        (typed, 4.0),
        (with_traceback, 4.0),
        (read, 2.5),
        (notified, 4.0),
        (greatest, 24.0),
    ],
)
def test_slopes(f, slope):
    assert ad.gradient(f, 2.0) == (slope,)


def started(x):
    _thread.start_new_thread(print, ())
    return x * x


@pytest.mark.parametrize("f", [through_a_queue, started])
def test_what_other_threads_do_is_not_seen(f):
    with pytest.raises(ad.MutationError, match="would not see what"):
        ad.gradient(f, 2.0)
