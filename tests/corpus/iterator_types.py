"""Code that asks what kind of iterator it was given."""

import collections
import collections.abc
import inspect
import itertools
import operator
import types

import numpy as np

from tests.corpus.registry import case


def listed(xs):
    if isinstance(xs, types.GeneratorType | map | zip | filter | enumerate):
        return list(xs)
    return xs


@case(1.3)
def generators(x):
    def produce():
        yield x
        yield x * x

    g, h = produce(), (v * x for v in (1.0, 2.0))
    if not inspect.isgenerator(g) or type(h) is not types.GeneratorType:
        return x
    return listed(g)[1] + len(listed(h)) * listed(v * x for v in (1.0, 2.0))[1]


@case([0.5, 1.5, -0.7])
def builtin_iterators(xs):
    kinds = (
        (map(abs, xs), map),
        (zip(xs, xs), zip),
        (enumerate(xs), enumerate),
        (filter(None, xs), filter),
        (reversed(xs), type(reversed([]))),
        (iter(xs), type(iter([]))),
        (iter(tuple(xs)), type(iter(()))),
        (iter({"a": xs[0]}.values()), type(iter({}.values()))),
        (iter(np.array(xs)), type(iter(np.zeros(1)))),
        (iter(collections.deque(xs)), type(iter(collections.deque()))),
        (iter(iter(xs).__next__, None), type(iter(int, 1))),
        (itertools.cycle(xs), itertools.cycle),
        (itertools.chain(xs, xs), itertools.chain),
        (itertools.accumulate(xs), itertools.accumulate),
        (itertools.islice(xs, 2), itertools.islice),
        (itertools.takewhile(bool, xs), itertools.takewhile),
    )
    total = 0.0
    for i, (iterator, kind) in enumerate(kinds):
        first = next(iter(iterator))
        while isinstance(first, tuple):
            first = first[-1]
        if isinstance(iterator, kind) and type(iterator) is kind:
            total = total + (i + 1) * first * xs[1]
        if not isinstance(iterator, collections.abc.Iterator):
            total = 0.0
    return total


@case([0.5, 1.5, -0.7])
def only_generators_are_sent_to(xs):
    def produce():
        yield from xs

    iterators = (
        produce(),
        map(abs, xs),
        filter(None, xs),
        iter(iter(xs).__next__, None),
        itertools.cycle(xs),
        itertools.tee(xs)[1],
        itertools.tee(produce())[0],
        itertools.starmap(operator.mul, itertools.permutations(xs, 2)),
    )
    total = 0.0
    for i, iterator in enumerate(iterators):
        first = next(iterator)
        if any(hasattr(iterator, name) for name in ("send", "throw", "close", "gi_frame")):
            total = total + (i + 1) * first * xs[1]
        if isinstance(iterator, collections.abc.Generator):
            total = total + 0.5 * first * xs[2]
        total = total + first * xs[0] * (i + 2)
    return total


@case(0.7)
def state_of_a_generator(x):
    def produce():
        yield x

    g = produce()
    before = inspect.getgeneratorstate(g)
    value = next(g)
    during = inspect.getgeneratorstate(g)
    rest = sum(g)
    after = inspect.getgeneratorstate(g)
    states = (before, during, after)
    if states == (inspect.GEN_CREATED, inspect.GEN_SUSPENDED, inspect.GEN_CLOSED):
        return value * x + rest
    return rest


@case([0.5, 1.5, -0.7])
def hints_of_length(xs):
    left = iter(xs)
    first = next(left)
    return first * operator.length_hint(left) * operator.length_hint(reversed(xs))


@case([0.5, 1.5, -0.7])
def hints_of_other_lengths(xs):
    a, total = np.array(xs), 0.0
    for makes in (
        lambda: iter(a),
        lambda: iter(np.outer(a, a)),
        lambda: iter({"a": xs[0], "b": xs[1]}),
        lambda: iter({"a": xs[0], "b": xs[1]}.items()),
        lambda: iter({1, 2, 3}),
        lambda: iter(range(4)),
        lambda: iter("abc"),
    ):
        left = makes()
        whole = operator.length_hint(left, 10)
        next(left)
        total = total + whole * xs[0] + operator.length_hint(left, 10) * xs[1] * xs[1]
    rest = iter(a)
    return total + operator.length_hint(map(abs, xs), 7) * xs[2] + sum(rest)


@case(np.array([0.5, 1.5, -0.7]))
def repetitions_that_say_how_many_are_left(v):
    parts = itertools.repeat(v * v, 4)
    total = next(parts)[0] * operator.length_hint(parts)
    rows = np.zeros((operator.length_hint(parts, 9), 3))
    for row, part in zip(rows, parts, strict=True):
        row += part * v
    total += operator.length_hint(itertools.repeat(v[0]), 5) * v[1] + operator.length_hint(parts)
    held = [v[2] * 2.0]
    for same in itertools.repeat(object=held, times=3):
        same[0] *= v[1]
    return total + (rows * rows).sum() + held[0] * sum(itertools.repeat(v[0] * v[1], times=2))


class Countdown:
    def __init__(self, x):
        self.x, self.steps = x, 0

    def __iter__(self):
        return self

    def __next__(self):
        self.steps += 1
        if self.steps > 3:
            raise StopIteration
        return self.x * self.steps


@case(1.1)
def own_iterator_is_itself(x):
    made = Countdown(x)
    same = iter(made)
    first = next(same)
    return first * same.steps * sum(same) if same is made else 0.0 * x


@case([0.5, 1.5])
def array_iterators(xs):
    a, total = np.array(xs), 0.0
    elements = np.nditer(a)
    for element in elements:
        total = total + element * element
    return total if isinstance(elements, np.nditer) else a.sum()


FIRST_TWO = operator.itemgetter(0, 1)
PARTS = operator.attrgetter("real", "imag")


@case([0.5, 1.5])
def getters(xs):
    first, part = operator.itemgetter(0), operator.attrgetter("real")
    times = operator.methodcaller("__mul__", xs[1])
    kinds = operator.itemgetter, operator.attrgetter, operator.methodcaller
    plain = operator.methodcaller("conjugate")
    if not all(map(isinstance, (first, part, plain), kinds)) or first == part:
        return xs[0]
    a, b = FIRST_TWO(xs)
    return a * b * first(xs) + sum(PARTS(xs[1])) * part(a) + times(a) + plain(b)
