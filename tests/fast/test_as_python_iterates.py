"""Iterators in the fast tier: what Python does when one is made, and what it goes through then."""

import itertools

import numpy as np
import pytest

import adjoint as ad
from tests.fast.second_order import check_programs
from tests.fast.test_as_python_asks import agree
from tests.structures import difference


def appended_after_reversed(x):
    xs = [x, x * x]
    turned = reversed(xs)
    xs.append(5.0)
    total = 0.0
    for v in turned:
        total = total * 2 + v
    return total


def popped_after_reversed(x):
    xs = [x, 1.0, 2.0]
    turned = reversed(xs)
    xs.pop()
    return sum(turned) + x


def appended_after_reversed_where_long(x):
    xs = [v * x for v in range(30)]
    turned = reversed(xs)
    xs.append(5.0)
    total = 0.0
    for v in turned:
        total = total * 0.5 + v
    return total


def reversed_at_once(x):
    xs = []
    for i in range(30):
        xs.append(x * i)
    total = 0.0
    for v in reversed(xs):
        total = total * 0.5 + v
    return total


def appended_after_the_last_item(x):
    xs = [x * 2]
    items = iter(xs)
    first = next(items)
    xs.append(x * x)
    return first * sum(items) + sum(items)


def appended_after_the_end(x):
    xs = [x * 2]
    items = iter(xs)
    first = next(items)
    nothing = next(items, 3.0)
    xs.append(x * x)
    return first * nothing + sum(items)


def appended_after_the_last_pair(x):
    xs = [x * 2]
    pairs = zip(xs, [2.0, 3.0])  # noqa: B905
    first, _ = next(pairs)
    xs.append(x * x)
    total = first
    for v, k in pairs:
        total += v * k
    return total


def appended_after_the_last_item_of_a_generator(x):
    def squares(of):
        for v in of:
            yield v * v

    xs = [x * 2]
    some = squares(xs)
    first = next(some)
    xs.append(first)
    return first * next(some, 7.0)


def popped_before_the_last_item(x):
    xs = [x, x * x]
    items = iter(xs)
    first = next(items)
    xs.pop()
    return first * next(items, 5.0)


def never_iterated(x):
    asked = []

    class Asked:
        def __iter__(self):
            asked.append(1)
            return iter([1.0])

    iter(Asked())
    zip(Asked(), [x])  # noqa: B905
    map(abs, Asked())
    return x * len(asked)


@pytest.mark.parametrize(
    "f",
    [
        appended_after_reversed,
        popped_after_reversed,
        appended_after_reversed_where_long,
        reversed_at_once,
        appended_after_the_last_item,
        appended_after_the_end,
        appended_after_the_last_pair,
        appended_after_the_last_item_of_a_generator,
        popped_before_the_last_item,
        never_iterated,
    ],
    ids=lambda f: f.__name__,
)
def test_what_iterators_go_through(f):
    agree(f, 1.3)


def test_lists_that_are_turned_at_once_are_covered():
    assert ad.tier(reversed_at_once, 1.3).tier == "fast"


@pytest.mark.parametrize(
    "f",
    [
        lambda x: (map(abs, x), x)[1],
        lambda x: (zip(x, [1.0]), x)[1],  # noqa: B905
        lambda x: (enumerate(x), x)[1],
        lambda x: (reversed(x), x)[1],
        lambda x: (filter(None, x), x)[1],
        lambda x: (iter(x), x)[1],
        lambda x: ((v for v in x), x)[1],
        lambda x: (range(2.5), x)[1],
        lambda x: (range(), x)[1],
        lambda x: (range(1, 2, 3, 4), x)[1],
        lambda x: (map(abs), x)[1],
        lambda x: (reversed(enumerate([x])), x)[1],
        lambda x: (reversed(zip([x], [x])), x)[1],  # noqa: B905
        lambda x: (reversed(map(abs, [x])), x)[1],
        lambda x: (reversed(iter([x])), x)[1],
        lambda x: sum(["a", "b"], "") and x,
        lambda x: (lambda **kw: x)(**{1: 2.0}),
        lambda x: next(iter([x]), default=2.0),
        lambda x: sum(xs=[x]),
        lambda x: abs(a=x),
    ],
)
def test_what_cannot_be_iterated_over(f):
    with pytest.raises(TypeError):
        ad.value_and_grad(f)(1.3)


def test_a_range_without_steps():
    with pytest.raises(ValueError, match="must not be zero"):
        ad.value_and_grad(lambda x: (range(1, 2, 0), x)[1])(1.3)


@pytest.mark.parametrize(
    "made", [iter, lambda d: iter(d.items()), lambda d: zip(d, [1, 2], strict=False)]
)
def test_a_dict_that_has_grown_since(made):
    def f(x):
        d = {"a": x}
        steps = made(d)
        d["b"] = x * x
        return sum(x for _ in steps)

    with pytest.raises(RuntimeError, match="changed size"):
        ad.value_and_grad(f)(1.3)


def test_a_dict_that_has_grown_since_its_last_item():
    def f(x):
        d = {"a": x}
        items = iter(d.values())
        first = next(items)
        d["b"] = x * x
        return first + sum(items)

    with pytest.raises(RuntimeError, match="changed size"):
        ad.value_and_grad(f)(1.3)


# ---- itertools -----------------------------------------------------------------------------------


class Body:
    def __init__(self, x, v):
        self.x, self.v = x, v


def pairs_of_bodies(x):
    bodies = [Body(v, 0.1) for v in x]
    for _ in range(2):
        for a, b in itertools.combinations(bodies, 2):
            a.v += b.x - a.x * a.v
            b.v -= b.x * a.v
        for b in bodies:
            b.x += b.v * 0.1
    return sum([b.v**2 for b in bodies])


def lists_that_are_written_to(x):
    rows = [[v, 2 * v] for v in x]
    for a, b in itertools.permutations(rows, 2):
        a[0] += b[1] * 0.1
        b[1] = a[0] * b[0]
    for row, s in itertools.zip_longest(rows, [3.0], fillvalue=2.0):
        row[0] *= s
    for row in itertools.islice(rows, 2):
        row.append(row[0])
        rows[-1][0] += 1.0
    return sum([sum(row) for row in rows])


def groups_by_a_variable(x):
    size, total = 3, 0.0
    for k, group in itertools.groupby(range(len(x)), key=lambda i: i // size):
        total += sum([x[i] for i in group]) ** 2 * (k + 1)
    return total


@pytest.mark.parametrize("f", [pairs_of_bodies, lists_that_are_written_to, groups_by_a_variable])
def test_tools_of_iterators(f):
    check_programs(f, np.array([0.5, 1.5, -0.7, 0.9]))


def by_time(x, times):
    total = 0.0
    for t, group in itertools.groupby(range(len(x)), key=lambda i: times[i]):
        total += sum([x[i] for i in group]) ** 2 * (t + 1)
    return total


def test_groups_of_numbers_that_are_arguments():
    x, kinds = np.array([0.5, 1.5, -0.7, 0.9]), ([1, 1, 2, 3], [0, 2, 2, 0])
    for times in (*kinds, *kinds):
        value, bars = ad.withgradient(by_time, x, times)
        assert value == pytest.approx(by_time(x, times), rel=1e-14)
        assert not difference(bars, ad.grad(by_time, (0, 1), tier="generic")(x, times), rtol=1e-13)
        assert ad.tier(by_time, x, times).tier == "fast"


def groups_by_what_changes(x):
    limit, total = 1, 0.0
    for _, group in itertools.groupby(range(4), key=lambda i: i > limit):
        limit = 5
        total += sum([x * i for i in group]) ** 2
    return total


def groups_by_what_is_written_to(x):
    limits, total = [0, 0, 1, 1], 0.0
    for _, group in itertools.groupby(range(4), key=lambda i: limits[i]):
        limits[2] = 0
        total += sum([x * i for i in group]) ** 2
    return total


def groups_of_objects_that_change(x):
    bodies, total = [Body(x * k, k) for k in range(3)], 0.0
    for k, group in itertools.groupby(bodies, key=lambda b: b.v):
        for b in group:
            total += b.x * (k + 1)
            for other in bodies:
                other.v = 0
    return total


@pytest.mark.parametrize(
    "f", [groups_by_what_changes, groups_by_what_is_written_to, groups_of_objects_that_change]
)
def test_groups_by_what_changes(f):
    agree(f, 1.3)
