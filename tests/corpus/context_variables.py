"""Context variables that hold lists and objects: set, reset, in managers and in copied contexts."""

import contextlib
import contextvars

import numpy as np

from tests.corpus.registry import case, refused

SCALE = contextvars.ContextVar("scale", default=(2.0,))


@case(1.5)
def set_and_reset(x):
    outer = SCALE.set([x * x])
    a = SCALE.get()[0] * x
    inner = SCALE.set([SCALE.get()[0] * 3])
    b = SCALE.get()[0]
    SCALE.reset(inner)
    c = SCALE.get()[0]
    SCALE.reset(outer)
    return a * b + c * x + SCALE.get()[0]


@case(1.5)
def set_by_a_manager(x):
    factor = contextvars.ContextVar("factor")

    @contextlib.contextmanager
    def using(value):
        token = factor.set({"value": value})
        try:
            yield
        finally:
            factor.reset(token)

    def scaled():
        return factor.get({"value": 1.0})["value"] * x

    total = scaled()
    with using(x):
        total += scaled()
        with using(x * x):
            total += scaled() * factor.get()["value"]
        total += scaled()
    return total + scaled()


@refused(1.5)
def set_in_a_copied_context(x):
    state = contextvars.ContextVar("state", default=[1.0])
    state.set([x])
    context = contextvars.copy_context()

    def work(factor):
        state.set([state.get()[0] * factor])
        return state.get()[0]

    a = context.run(work, x)
    b = context.run(work, 3.0)
    return a * b * state.get()[0]


@refused(1.5)
def defaults(x):
    empty = contextvars.ContextVar("empty")
    total = empty.get(x) * empty.get(2.0)
    try:
        empty.get()
    except LookupError:
        total *= x
    return total


@case(np.array([0.3, 0.8, 1.4, -0.6]))
def arrays_in_lists(x):
    state = contextvars.ContextVar("state")
    state.set([x * 2])
    state.get()[0][0] = x[1]
    a = state.get()[0] * x
    state.set([x, a])
    return (a * state.get()[0]).sum() + state.get()[1].sum()
