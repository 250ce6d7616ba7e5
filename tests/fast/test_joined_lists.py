"""Lists of which a variable holds one or another, by a branch or an iteration."""

import numpy as np
import pytest

import adjoint as ad
from tests.fast.agreement import agrees, generic, refused
from tests.structures import difference


def test_a_new_list_in_each_iteration():
    def descent(x):
        steps = 0
        while x[0] * x[0] + x[1] * x[1] > 0.1:
            new = [0.5 * x[0], 0.25 * x[1]]
            if new[0] < 0.05:
                break
            x = new
            steps += 1
        return x[0] * x[1] + steps

    def from_outside(x):
        return descent([x, 2.0 * x])

    agrees(descent, [3.0, 4.0])
    agrees(descent, [0.1, 0.2])
    agrees(descent, [3, 4.0])
    agrees(from_outside, 3.0)


def test_a_constant_list_from_outside():
    start = [1, 1]

    def f(x):
        point = start
        for _ in range(5):
            point = [a + 0.1 * (x - a) * a for a in point]
        return point[0] * point[1]

    agrees(f, 3.0)


def test_branches():
    def f(x, c):
        if c > 0:
            a = [x, 2.0]
        else:
            a = [x * x, x]
        return a[0] * a[1] + len(a)

    def inside(x, c):
        pair = (c, [x, c]) if c > 0 else (2.0, [c, x * x])
        return pair[0] * pair[1][0] * pair[1][1]

    def nested(x, c):
        rows = [[x, c]] if c > 0 else [[c, x * x]]
        return rows[0][0] * rows[0][1]

    def captured(x, c):
        held = [x, c] if c > 0 else [c * c, x]
        return (lambda s: s * held[0] * held[1])(x)

    def one_is_an_argument(x, c):
        a = x if c > 0 else [2.0, c]
        return a[0] * a[1]

    for g in (f, inside, nested, captured):
        agrees(g, 1.5, 2.0)
        agrees(g, 1.5, -2.0)
    agrees(one_is_an_argument, [1.5, 3.0], 2.0)
    agrees(one_is_an_argument, [1.5, 3.0], -2.0)


def written_after(x, c):
    a, b = [x, c], [c, x]
    either = a if c > 0 else b
    a[0] = 5.0 * x
    return either[0] * either[1]


def written_through_either(x, c):
    a, b = [x, c], [c, x]
    either = a if c > 0 else b
    either[0] = 5.0 * x
    return a[0] * b[0]


def appended_after(x, c):
    a, b = [x, c], [c, x]
    either = a if c > 0 else b
    a.append(x * x)
    return either[-1] * len(either)


def taken_after(x, c):
    a, b = [x, c], [c, x]
    either = a if c > 0 else b
    a.pop()
    return either[-1] * len(either)


def the_same(x, c):
    a, b = [x, c], [c, x]
    either = a if c > 0 else b
    return x * x if either is a else x


def written_in_the_next_iteration(x, c):
    a = [x, c]
    last = [c, x]
    total = 0.0
    for _ in range(4):
        a[0] = a[0] * 1.5
        total += last[0] * last[1]
        last = a if total < 20.0 else [x, x]
    return total


def grown_in_the_next_iteration(x, c):
    a = [x, c]
    last = [c, x]
    total = 0.0
    while total < 50.0:
        a.append(x)
        total += sum(last) + len(last)
        last = a
    return total


WRITING = [written_after, written_through_either, appended_after, taken_after]
REFUSED = [the_same, written_in_the_next_iteration, grown_in_the_next_iteration]


@pytest.mark.parametrize("f", WRITING)
def test_variables_hold_lists_that_are_written_to(f):
    for args in ((1.5, 2.0), (1.5, -2.0), (0.5, 2.0)):
        agrees(f, *args)


@pytest.mark.parametrize("f", REFUSED)
def test_lists_that_are_written_to_are_not_copied(f):
    for args in ((1.5, 2.0), (1.5, -2.0)):
        if f is not grown_in_the_next_iteration:  # too short a loop is unrolled
            refused(f, *args)
        assert not difference(tuple(ad.withgradient(f, *args)), generic(f, args))


def test_writes_before():
    def f(x, c):
        a, b = [x, c], [c, x]
        a[0] = 3.0 * x
        either = a if c > 0 else b
        return either[0] * either[1]

    def in_a_branch(x, c):
        a = [x, c]
        if c > 0:
            a[0] = 3.0 * x
            either = a
        else:
            either = [c, x]
        return either[0] * either[1] + a[0]

    for g in (f, in_a_branch):
        agrees(g, 1.5, 2.0)
        agrees(g, 1.5, -2.0)


def test_a_list_that_is_not_assigned():
    def f(x, c):
        if c > 0:
            a = [x, c]
        return a[0] * x

    agrees(f, 1.5, 2.0)
    with pytest.raises(UnboundLocalError):
        ad.gradient(f, 1.5, -2.0)


def test_its_length_where_it_is_not_assigned():
    def f(x, c):
        if c > 0:
            a = [x, c]
        return len(a) * x

    assert ad.gradient(f, 1.5, 2.0) == (2.0, 0.0)
    with pytest.raises(UnboundLocalError):
        ad.gradient(f, 1.5, -2.0)


def test_arrays_in_joined_lists():
    def f(x, c):
        arrays = [x, 2.0 * x] if c > 0 else [x * x, x]
        for _ in range(3):
            arrays = [arrays[1], arrays[0] * 0.5]
        return np.sum(arrays[0] * arrays[1])

    agrees(f, np.array([1.5, 2.5]), 2.0)
    agrees(f, np.array([1.5, 2.5]), -2.0)
