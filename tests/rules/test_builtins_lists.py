"""Lists and deques changed in place, beside the corpus: other people's rules, limits, errors."""

import math
from collections import deque

import pytest

import adjoint as ad
from adjoint.rulekit.registry import table
from tests.support import Sample, check_sample

XS = [0.3, -0.8, 1.1, 0.6, 2.0]


def weighted(values):
    total = 0.0
    for k, value in enumerate(values):
        total += (k + 1) * math.sin(value)
    return total


# ---- a user's own rule of list.append ------------------------------------------------------------


@pytest.fixture
def own_rule():
    """Registers a rule of ``list.append`` for one test."""
    rules = table[list, "append"]
    yield ad.rrule.register(list.append)
    rules.rrules.clear()
    rules.overridden = False


def appended(x):
    xs = []
    xs.append(x)
    list.append(xs, x * x)
    return xs[0] * xs[1]


def test_own_rule_of_append_is_asked(own_rule):
    seen = []

    @own_rule
    def _(xs, value):
        seen.append(value)
        return NotImplemented

    assert ad.gradient(appended, 3.0) == (27.0,)
    assert seen == [3.0, 9.0]


def test_own_rule_that_writes_is_refused(own_rule):
    @own_rule
    def _(xs, value):
        list.append(xs, value)
        return None, lambda y_bar: (None, None, None)

    with pytest.raises(ad.AdjointError, match=r"the rule of 'list.append' changed the list"):
        ad.gradient(appended, 3.0)


# ---- deques --------------------------------------------------------------------------------------


def made_again(xs):
    values = deque(xs)
    first = weighted(values)
    values.__init__([xs[0], xs[1] * xs[2], xs[3]], 2)
    second = weighted(values)
    values.append(xs[4])
    third = weighted(values)
    values.__init__(xs, maxlen=3)
    values.__init__(values, 4)
    values.extend(xs)
    return first * second * third * weighted(values)


def emptied(xs):
    values = deque(xs, 4)
    first = weighted(values)
    values.clear()
    values.append(first)
    values.appendleft(xs[0])
    second = values[0] * values[1]
    values.extend(xs)
    return first * second + weighted(values)


def without_room(xs):
    values = deque(xs, 0)
    values.append(xs[0])
    values.appendleft(xs[1])
    values.extend(xs)
    return xs[0] * len(values) + xs[1]


def refused_limits(xs):
    values = deque(xs)
    for limit in (-1, "a"):
        try:
            values.__init__([1.0], limit)
        except (TypeError, ValueError):
            pass
    return weighted(values)


def left_half_made(xs):
    def some():
        yield xs[1]
        yield xs[2]
        raise KeyError

    values = deque(xs)
    try:
        values.__init__(some(), 3)
    except KeyError:
        pass
    return weighted(values)


def of_a_class(xs):
    class Doubling(deque):
        def append(self, value):
            super().append(value * 2)

    values = Doubling(xs, 4)
    values.append(xs[0])
    values.extend([xs[1]])
    values.__init__([xs[0]], 2)
    values.append(xs[2])
    return weighted(values) * weighted(values.copy())


# ---- lists ---------------------------------------------------------------------------------------


def every_method(xs):
    nothing = xs.extend([xs[0] * 2, xs[1]])
    xs.insert(1, xs[0] * xs[1])
    xs[::2] = [v * v for v in xs[::2]]
    first = weighted(xs)
    xs[1:2] = xs
    del xs[3]
    del xs[::3]
    second = weighted(xs)
    xs.extend(xs)
    xs += (v * 0.5 for v in list(xs))
    xs *= 2
    xs.remove(xs[2])
    taken = xs.pop(1) * xs.pop()
    xs[::-1] = list(xs)
    xs.reverse()
    xs.sort()
    xs.sort(key=lambda v: -v * v)
    third = weighted(xs)
    xs.clear()
    xs.append(taken)
    xs[:] = [xs[0], first]
    xs[5:2] = (second,)
    return first * second * third + weighted(xs) + (xs[0] if nothing is None else 0.0)


def into_itself(xs):
    xs[::2] = xs[1:4]
    xs[::-1] = xs
    xs[1:3] = xs
    return weighted(xs)


def refused_writes(xs):
    refusals = 0
    for write in (
        lambda: xs.pop(9),
        lambda: xs.__delitem__(9),
        lambda: xs.remove(9.0),
        lambda: xs.__setitem__(9, 1.0),
        lambda: xs.insert(1.5, 2.0),
        lambda: xs.__setitem__(slice(0, 4, 2), [1.0]),
    ):
        try:
            write()
        except (IndexError, TypeError, ValueError):
            refusals += 1
    return refusals * weighted(xs)


@pytest.mark.parametrize(
    "f",
    [
        made_again,
        emptied,
        without_room,
        refused_limits,
        left_half_made,
        of_a_class,
        every_method,
        into_itself,
        refused_writes,
    ],
)
def test_in_place(f):
    check_sample(Sample(f, (XS,)))
