"""A function that cannot be read and may store something is refused, in every mode."""

from __future__ import annotations

from collections import deque

import pytest

import adjoint as ad
from adjoint.errors import MutationError

SOURCE = """
import numpy as np

held = [1.0]


def append(row, x):
    try:
        row.append(x * x)
    finally:
        pass


def append_inside(d, x):
    try:
        d["a"]["b"].append(x * x)
    finally:
        pass


class History:
    last = None

    def __init__(self):
        self.rows = []

    def add(self, x):
        try:
            self.rows.append(x * x)
        finally:
            pass

    def note(self, x):
        try:
            type(self).last = x * x
        finally:
            pass


def pair():
    row, array, number = [], np.zeros(1), 0.0

    def put(x):
        nonlocal number
        try:
            row.append(x * x)
            array[0] = number = x * x
        finally:
            pass

    return put, lambda: row[0], lambda: array[0], lambda: number


def put_global(x):
    try:
        held[0] = x * x
    finally:
        pass


"""
SPACE = {"__name__": "elsewhere"}
exec(SOURCE, SPACE)


def in_a_queue(x):
    row = deque()
    SPACE["append"](row, x)
    return row[0] * x


def inside_of_what_is_given(x):
    d = {"a": {"b": []}}
    SPACE["append_inside"](d, x)
    return d["a"]["b"][0] * x


def in_its_object(x):
    history = SPACE["History"]()
    history.add(x)
    return history.rows[0] * x


def in_its_class(x):
    history = SPACE["History"]()
    history.note(x)
    return history.last * x


def in_a_captured(which):
    def f(x):
        put, *read = SPACE["pair"]()
        put(x)
        return read[which]() * x

    return f


def in_a_global(x):
    SPACE["put_global"](x)
    return SPACE["held"][0] * x


FUNCTIONS = {
    "queue": in_a_queue,
    "inside": inside_of_what_is_given,
    "object": in_its_object,
    "class": in_its_class,
    "captured list": in_a_captured(0),
    "captured array": in_a_captured(1),
    "captured variable": in_a_captured(2),
    "global": in_a_global,
}
MODES = {
    "gradient": lambda f: ad.gradient(f, 2.0)[0],
    "forward": lambda f: ad.pushforward(f, (2.0,), (1.0,))[1],
    "second": lambda f: ad.hessian(f, 2.0),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_may_store_something_is_refused(name, mode):
    with pytest.raises(MutationError, match="may store something, and cannot be read"):
        MODES[mode](FUNCTIONS[name])


@pytest.mark.parametrize("mode", MODES)
def test_what_is_not_looked_at_is_refused_too(mode):
    def f(x):
        SPACE["append"](deque(), x)
        return x**3

    with pytest.raises(MutationError, match="'append' may store something, and cannot be read"):
        MODES[mode](f)
