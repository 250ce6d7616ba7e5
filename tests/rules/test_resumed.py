"""Iterators that go on behind an error, as those of C do."""

from __future__ import annotations

import functools
import itertools
import operator

import pytest

import adjoint as ad


class Failing:
    """Gives elements, but for some steps, which fail."""

    def __init__(self, xs, *fails):
        self.xs, self.fails, self.i = iter(xs), fails, -1

    def __iter__(self):
        return self

    def __next__(self):
        self.i += 1
        if self.i in self.fails:
            raise KeyError(self.i)
        return next(self.xs)


def failing(n):
    """A function whose n-th call fails."""
    calls = []

    def f(*args):
        calls.append(args)
        if len(calls) == n:
            raise KeyError(n)
        return functools.reduce(operator.mul, args)

    return f


def drained(iterator):
    """The elements, weighted by how often it was asked."""
    total, weight = 0.0, 1.0
    for _ in range(12):
        weight += 1.0
        try:
            value = next(iterator)
        except (KeyError, TypeError, ZeroDivisionError):
            total += 0.01 * weight
        except StopIteration:
            total += 0.1 * weight
        else:
            if isinstance(value, tuple):
                numbers = [part for part in value if isinstance(part, float | int)]
                value = sum(numbers)
            total += weight * value
    return total


ITERATORS = {
    "map": lambda x: map(failing(2), [x, x * x, 3.0]),
    "filter": lambda x: filter(failing(2), [x, x * x, x**3]),
    "filter of": lambda x: filter(None, Failing([x, x * x, x**3], 1)),
    "zip": lambda x: zip(Failing([x, x * x, x**3], 1), [x, 2.0, 3.0 * x, 4.0], strict=False),
    "enumerate": lambda x: enumerate(Failing([x, x * x, x**3], 1)),
    "iter": lambda x: iter(functools.partial(next, Failing([x, x * x, 3.0], 1)), 3.0),
    "iter of a method": lambda x: iter(Failing([x, x * x, x**3, 9.0], 1).__next__, 9.0),
    "accumulate": lambda x: itertools.accumulate([x, x * x, 3.0, x], failing(2)),
    "accumulate of": lambda x: itertools.accumulate(Failing([x, x * x, 3.0], 1)),
    "accumulate from": lambda x: itertools.accumulate([x, x, 3.0, x], failing(1), initial=x),
    "chain": lambda x: itertools.chain(Failing([x, x * x], 1), [x**3]),
    "chain of no iterable": lambda x: itertools.chain([x], 5, [x * x]),
    "chain from": lambda x: itertools.chain.from_iterable(Failing([[x], [x * x]], 1)),
    "compress": lambda x: itertools.compress([x, x * x, x**3], Failing([1, 0, 1], 1)),
    "compress of": lambda x: itertools.compress(Failing([x, x * x, x**3], 1), [1, 1, 1, 1]),
    "dropwhile": lambda x: itertools.dropwhile(failing(1), [x, x * x, x**3]),
    "dropwhile of": lambda x: itertools.dropwhile(lambda q: q < 1.5, Failing([x, x * x, 3.0], 1)),
    "takewhile": lambda x: itertools.takewhile(failing(2), [x, x * x, x**3]),
    "takewhile of": lambda x: itertools.takewhile(lambda q: q < 9, Failing([x, x * x, 30.0, x], 1)),
    "filterfalse": lambda x: itertools.filterfalse(lambda q: 0 // int(q > 1.3), [x, x**3, x]),
    "starmap": lambda x: itertools.starmap(failing(2), [(x, x), (x, 2.0), (3.0, x)]),
    "starmap of no tuple": lambda x: itertools.starmap(operator.mul, [(x, x), 5, (x, 2.0)]),
    "islice": lambda x: itertools.islice(Failing([x, x * x, x**3], 1), 3),
    "pairwise": lambda x: itertools.pairwise(Failing([x, x * x, x**3], 1)),
    "zip_longest": lambda x: itertools.zip_longest(Failing([x, x * x], 1), [x], fillvalue=x),
    "cycle": lambda x: itertools.cycle(Failing([x, x * x], 1)),
    "tee": lambda x: itertools.tee(Failing([x, x * x, x**3], 1))[1],
    "groupby": lambda x: itertools.groupby([x, x * x, x**3, x], failing(2)),
    "groupby of": lambda x: itertools.groupby(Failing([x, x * x, x**3], 1)),
    "groups": lambda x: (
        member
        for _, group in itertools.groupby([x, x, 3.0 * x, x], lambda q: q < 2)
        for member in group
    ),
    "two deep": lambda x: filter(None, itertools.chain([x], Failing([x * x, x**3], 1))),
    "a StopIteration": lambda x: filter(lambda q: next(iter(())), [x, x]),
}


@pytest.mark.parametrize("name", ITERATORS)
@pytest.mark.parametrize("tier", ["fast", "generic"])
def test_goes_on_as_c_does(name, tier):
    def f(x):
        return drained(ITERATORS[name](x)) + x

    step = 1e-6
    slope = (f(1.2 + step) - f(1.2 - step)) / (2 * step)
    value, gradient = ad.value_and_grad(f, tier=tier)(1.2)
    assert value == pytest.approx(f(1.2), rel=1e-14)
    assert gradient == pytest.approx(slope, rel=1e-6)
    value, moved = ad.pushforward(f, (1.2,), (1.0,))
    assert (value, moved) == (pytest.approx(f(1.2)), pytest.approx(slope, rel=1e-6))
    _, back = ad.pullback(f, 1.2)
    assert back(1.0) == back(1.0) == (None, pytest.approx(slope, rel=1e-6))


def test_tees_go_on_alike():

    def f(x):
        one, other = itertools.tee(Failing([x, x * x, x**3], 1))
        return drained(one) * drained(other)

    step = 1e-6
    slope = (f(1.2 + step) - f(1.2 - step)) / (2 * step)
    assert ad.gradient(f, 1.2)[0] == pytest.approx(slope, rel=1e-6)
