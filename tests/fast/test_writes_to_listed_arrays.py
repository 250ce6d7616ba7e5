"""Writes to arrays that lists of unknown length may hold."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.build.modes import GRADIENT
from adjoint.fast.programs import store as tier
from adjoint.runtime.entries import basics
from tests.fast.agreement import generic
from tests.fast.test_rows_of_arrays import ORDINARY, N, X, covered, same, step
from tests.fast.typed import typed_runs
from tests.structures import difference


def one_array_many_times(x):
    y, ys = x.copy(), []
    for _ in range(N):
        y[0] = y[0] * 0.99 + 0.01 * y[1]
        ys.append(y)
    return np.sum(np.array(ys) ** 2)


def item_written(x):
    ys, y = [], x * 2.0
    for _ in range(N):
        y = step(y)
        ys.append(y)
    ys[3][0] = 5.0
    return np.sum(np.array(ys) ** 2)


def last_written(x):
    ys, y = [], x * 2.0
    for _ in range(N):
        y = step(y)
        ys.append(y)
    y[0] = 7.0 * y[1]
    return np.sum(np.array(ys) ** 2)


def written_after(x):
    ys, y = [], x
    for _ in range(N):
        new = y * 1.0
        ys.append(new)
        new[0] = y[0] * 0.5 + 0.1
        y = new
    return np.sum(np.array(ys) ** 2)


def rows_of_a_buffer(x):
    b, ys = np.zeros((N, len(x))), []
    for i in range(N):
        b[i] = step(x) * i
        ys.append(b[i])
    b[2] = x
    return np.sum(np.array(ys) ** 2)


def items_written_in_turn(x):
    ys, y = [], x
    for _ in range(N):
        y = step(y)
        ys.append(y)
    for z in ys:
        z *= 2.0
    return np.sum(np.array(ys) ** 2)


def one_of_the_items_written(x):
    ys, y = [], x
    for _ in range(N):
        y = step(y)
        ys.append(y)
    z = ys[3] if ys[2][0] > 0 else ys[4]
    z[0] = 3.0
    return np.sum(np.array(ys) ** 2)


def first_written(x):
    y = np.zeros_like(x)
    ys = [y]
    for i in range(N):
        y[1] = x[0] * i
        ys.append(step(y))
    return np.sum(np.array(ys) ** 2)


def views_written(x):
    ys = []
    for i in range(N):
        w = np.zeros_like(x)
        ys.append(w[1:])
        w[2] = x[0] * i
    return np.sum(np.array(ys) ** 2)


def new_at_times(x):
    ys, w = [], np.zeros_like(x)
    for i in range(N):
        if i % 2:
            w = np.zeros_like(x)
        w[1] = x[0] * i
        ys.append(w)
    return np.sum(np.array(ys) ** 2)


def swapped(x):
    ys, other = [], x * 1.0
    for i in range(N):
        w = x * i
        other, w = w, other
        w[0] = x[1]
        ys.append(other)
    return np.sum(np.array(ys) ** 2)


def argument_written(x):
    ys = [x]
    for _ in range(N):
        ys.append(ys[0])
    x[0] = x[1] * 2.0
    return np.sum(np.array(ys) ** 2)


SHARING = (
    one_array_many_times,
    item_written,
    last_written,
    written_after,
    rows_of_a_buffer,
    items_written_in_turn,
    one_of_the_items_written,
    first_written,
    views_written,
    new_at_times,
    swapped,
    argument_written,
)


@pytest.mark.parametrize("f", SHARING, ids=lambda f: f.__name__)
def test_writes_that_a_list_shows(f):
    basics.load()
    tier.forget()
    value, (bar,) = ad.withgradient(f, X.copy())
    expected_value, (expected,) = generic(f, (X.copy(),))
    assert not difference(value, expected_value, rtol=1e-13)
    assert not difference(bar, expected, rtol=1e-11)
    assert f(X.copy()) == pytest.approx(value, rel=1e-13)


def test_writes_that_no_list_shows():
    def copied(x):
        b, ys = np.zeros((N, len(x))), []
        for i in range(N):
            b[i] = step(x) * i
            ys.append(b[i].copy())
        b[2] = x
        return np.sum(np.array(ys) ** 2) + b.sum()

    def items_copied(x):
        ys, y = [], x
        for _ in range(N):
            y = step(y)
            ys.append(y)
        s = 0.0
        for z in ys:
            z = z.copy()
            z *= 2.0
            s = s + np.sum(z * ys[3])
        return np.sum(np.array(ys) ** 2) + s

    def put_before_it_is_new(x):
        ys, y = [], x * 2.0
        for _ in range(N):
            ys.append(y)
            y = y * 1.0
            y[0] = y[0] * 0.5 + 0.1
        return np.sum(np.array(ys) ** 2)

    for f in (copied, items_copied, put_before_it_is_new):
        covered(f, X)


def test_it_is_known_what_lists_may_hold(monkeypatch):
    basics.load()
    tier.forget()
    with typed_runs(monkeypatch) as (problems, counts):
        for f in ORDINARY:
            if f.__name__ != "nested":  # many steps of the interpreter
                assert tier.run(f, (X,), GRADIENT) is not tier.MISS
    assert not problems, "\n".join(problems[:20])
    assert counts["to their end"] >= len(ORDINARY) - 1


def test_one_array_twice_in_an_inner_argument():
    def twice(x):
        ys = [x]
        for _ in range(N):
            ys.append(ys[0] * 1.0)
        bars = ad.gradient(lambda p: np.sum(p[0] ** 2 * p[1]), [ys[0], x])[0]
        return np.sum(bars[0] * bars[1])

    def once(x):
        ys = [x]
        for _ in range(N):
            ys.append(step(ys[-1]))
        (bar,) = ad.gradient(lambda p: np.sum(p**3), ys[-1])
        return np.sum(bar * bar)

    assert not same(twice, X)
    assert same(once, X)


def test_identity_of_items():
    def f(x):
        ys = [x, x * 2.0]
        for _ in range(N):
            ys.append(step(ys[-1]))
        return np.sum(ys[-1] if ys[0] is x else ys[3]) + (2.0 if ys[1] is ys[2] else x[0])

    same(f, X)
