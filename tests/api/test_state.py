"""State of the caller's that a function keeps: `back` is right, or says that it is too late."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest

import adjoint as ad
from tests.fast.agreeing import generic_tier


class Model:
    def __init__(self):
        self.calls = 0
        self.buffer = np.zeros(3)
        self.last = 0.0
        self.cache = {}
        self.history = []


def into_a_buffer(m, x):
    m.buffer[:] = x
    return (m.buffer * m.buffer).sum()


def into_an_element(m, x):
    m.buffer[1] = x[0]
    return (m.buffer * x).sum()


def into_a_list(m, x):
    m.history.append(x[0])
    return sum(value * x[1] for value in m.history)


def out_of_a_list(m, x):
    return m.history.pop() * x[0]


def into_a_dict(m, x):
    m.cache["seen"] = x[0] * x[1]
    return m.cache.pop("seen") if m.calls else m.cache["seen"] * x[2]


def into_a_deque(m, x):
    m.history.append(x[0])
    m.history.rotate(1)
    return m.history[0] * x[1]


def into_fields(m, x):
    m.calls += 1
    m.last = m.last + x[0] * x[1]
    return m.last * x[2]


POINTS = np.array([1.0, 2.0, 3.0]), np.array([0.5, -1.0, 2.0])
CHANGED = [into_a_buffer, into_an_element, into_a_list, out_of_a_list, into_a_deque]


def model(f):
    m = Model()
    if f is out_of_a_list:
        m.history = [1.0, 2.0, 3.0]
    if f is into_a_deque:
        m.history = deque([4.0])
    return m


def alone(f):
    """The gradient of the first of two calls, when nothing follows it."""
    return ad.gradient(f, model(f), POINTS[0])[1]


@pytest.mark.parametrize("f", CHANGED)
def test_back_before_the_next_call(f):
    m = model(f)
    _, back = ad.pullback(f, m, POINTS[0])
    assert np.array_equal(back(1.0)[2], alone(f))
    assert np.array_equal(back(1.0)[2], alone(f))
    ad.pullback(f, m, POINTS[1])[1](1.0)


@pytest.mark.parametrize("f", CHANGED)
def test_back_after_the_next_call_is_refused_in_the_generic_tier(f):
    with generic_tier():
        m = model(f)
        _, first = ad.pullback(f, m, POINTS[0])
        _, second = ad.pullback(f, m, POINTS[1])
        before = m.buffer.copy(), list(m.history)
        for _ in range(2):
            with pytest.raises(ad.AdjointError, match="was changed before 'back' was called"):
                first(1.0)
    assert np.array_equal(m.buffer, before[0]) and list(m.history) == before[1]
    second(1.0)


@pytest.mark.parametrize("f", [into_fields, into_a_dict])
def test_what_is_rebound_does_no_harm(f):
    m = model(f)
    _, first = ad.pullback(f, m, POINTS[0])
    _, second = ad.pullback(f, m, POINTS[1])
    second(1.0)
    assert np.array_equal(first(1.0)[2], alone(f))


def test_a_log_that_nobody_reads_does_no_harm():
    log = []

    def f(x):
        log.append(x * x)
        return x * x * x

    backs = [ad.pullback(f, float(i))[1] for i in range(1, 4)]
    assert [back(1.0)[1] for back in backs] == [3.0, 12.0, 27.0]
    assert log == [1.0, 4.0, 9.0]


@pytest.mark.parametrize("f", CHANGED)
def test_back_of_a_program_does_not_depend_on_what_follows(f):
    m = model(f)
    assert f is into_a_deque or ad.tier(f, model(f), POINTS[0]).tier == "fast"
    _, first = ad.pullback(f, m, POINTS[0])
    if ad.tier(f, model(f), POINTS[0]).tier == "fast":
        f(m, POINTS[1])
        m.buffer[0] += 1.0
    assert np.array_equal(first(1.0)[2], alone(f))


def test_a_change_by_hand_is_seen_too():
    m = Model()
    with generic_tier():
        y, back = ad.pullback(into_a_buffer, m, POINTS[0])
        m.buffer[0] += 1.0
        with pytest.raises(ad.AdjointError, match="the ndarray"):
            back(1.0)
    m.buffer[0] -= 1.0
    assert np.array_equal(back(1.0)[2], alone(into_a_buffer))


# ---- numbers that do not fill their bytes --------------------------------------------------------

RECORD = np.dtype([("count", "i1"), ("first", "f8"), ("second", np.longdouble)], align=True)


def overwritten(dtype):
    def f(v):
        o = v.astype(dtype)
        o[0] = v[1]
        return np.real(o * o)

    return f


def element_by_element(v):
    o = v.astype(np.longdouble)
    for i in range(3):
        o[i] = o[i - 1] * v[i]
    return o


def strided(v):
    o = np.zeros((3, 2), np.clongdouble)
    o[::2, 1] = v[:2]
    o[:, 1] *= v
    return np.real(o)


def in_fields(v):
    o = np.zeros(3, RECORD)
    first, second = o["first"], o["second"]
    second[:] = v
    first[:] = v * v
    second[0] *= first[1]
    return np.concatenate([second, first])


PADDED = {
    "longdouble": overwritten(np.longdouble),
    "clongdouble": overwritten(np.clongdouble),
    "other order of bytes": overwritten(np.dtype(np.longdouble).newbyteorder()),
    "element by element": element_by_element,
    "strided": strided,
    "fields": in_fields,
}


@pytest.mark.parametrize("name", PADDED)
def test_bytes_that_hold_nothing_are_not_looked_at(name):
    f, v, step = PADDED[name], np.array([0.3, -0.7, 1.2]), 1e-6
    columns = [(f(v + d) - f(v - d)) / (2 * step) for d in step * np.eye(3)]
    expected = np.moveaxis(np.array(columns, float), 0, -1)
    for jacobian in (ad.jacobian, ad.jacobian_forward):
        np.testing.assert_allclose(np.array(jacobian(f, v), float), expected, atol=1e-8)
    second = ad.hessian(lambda v: np.sum(f(v) ** 2), v)
    slope = ad.grad(lambda v: np.sum(f(v) ** 2))
    rows = [(slope(v + d) - slope(v - d)) / (2 * step) for d in step * np.eye(3)]
    np.testing.assert_allclose(second.astype(float), np.array(rows, float), atol=1e-6)


@pytest.mark.parametrize("dtype", [np.longdouble, np.clongdouble])
def test_their_last_digit_is_looked_at(dtype):
    workspace = np.zeros(3, dtype)

    def f(v):
        workspace[:] = v
        return np.sum(np.real(workspace * workspace))

    _, back = ad.pullback(f, np.ones(3))
    workspace[1] = np.nextafter(np.longdouble(1.0), np.longdouble(2.0))
    with pytest.raises(ad.AdjointError, match="was changed before 'back' was called"):
        back(1.0)


def test_other_places_of_the_same_array_may_change():
    """A history is written at another place by each call."""
    history = np.zeros(4)

    def f(x, i):
        history[i] = x * x
        return x * x * x

    backs = [ad.pullback(f, float(i + 1), i)[1] for i in range(3)]
    assert [back(1.0)[1] for back in backs] == [3.0, 12.0, 27.0]


def test_nothing_is_remembered_where_nothing_was_written():
    x = POINTS[0].copy()
    _, back = ad.pullback(lambda v: (v * v).sum(), x)
    x[:] = 0.0
    assert back(1.0)[1].tolist() == [0.0, 0.0, 0.0]
