"""`itertools` inside differentiated code: the values, the derivatives, and who consumes what."""

import itertools
import math
import operator

import pytest

import adjoint as ad
from tests.support import Sample, check_sample

XS = [0.3, -0.8, 1.1, 0.6, -0.2]


def weighted(values):
    """A number that depends on every element and on its place."""
    total = 0.0
    for k, value in enumerate(values):
        if isinstance(value, tuple):
            value = weighted(value)
        total += (k + 1) * math.sin(value)
    return total


def positive(x):
    return x > 0


def bounded(xs):
    yield from xs
    raise AssertionError("read too far")


FUNCTIONS = [
    lambda xs: weighted(itertools.chain(xs, iter(xs[1:3]), [xs[0] * 2])),
    lambda xs: weighted(itertools.chain()) + xs[0],
    lambda xs: weighted(itertools.chain.from_iterable([xs, [xs[1] * xs[0]]])),
    lambda xs: weighted(itertools.islice(itertools.cycle(xs[:3]), 8)),
    lambda xs: weighted(itertools.cycle(xs[:0])) + xs[1],
    lambda xs: weighted(itertools.repeat(xs[0] * xs[1], 3)) + next(itertools.repeat(xs[2])),
    lambda xs: weighted(itertools.repeat(xs[0], times=-1)) + xs[1],
    lambda xs: weighted(itertools.islice(itertools.count(xs[0], xs[1]), 4)),
    lambda xs: weighted(map(operator.mul, itertools.count(), xs)),
    lambda xs: weighted(itertools.islice(xs, 3)) + weighted(itertools.islice(xs, 1, None)),
    lambda xs: weighted(itertools.islice(xs, 0, 5, 2)) + weighted(itertools.islice(xs, 4, 2)),
    lambda xs: weighted(itertools.islice(bounded(xs), 5)),
    lambda xs: weighted(itertools.takewhile(lambda x: x < 1, xs)),
    lambda xs: weighted(itertools.dropwhile(lambda x: x < 1, xs)),
    lambda xs: (
        weighted(itertools.filterfalse(positive, xs))
        + weighted(itertools.filterfalse(None, [0.0, xs[0]])) * xs[1]
    ),
    lambda xs: weighted(itertools.compress(xs, [1, 0, True, None, 2])),
    lambda xs: weighted(itertools.starmap(pow, [(x * x, 3) for x in xs])),
    lambda xs: weighted(itertools.pairwise(xs)) + weighted(itertools.pairwise(xs[:1])),
    lambda xs: weighted(itertools.zip_longest(xs, xs[:2], iter(xs[1:]), fillvalue=xs[0] * 3)),
    lambda xs: weighted(itertools.zip_longest()) + xs[0],
    lambda xs: (
        weighted(itertools.product(xs[:2], (x * 2 for x in xs)))
        + weighted(itertools.product(xs[:2], repeat=3))
    ),
    lambda xs: weighted(itertools.product()) + weighted(itertools.product(xs, [])) + xs[0],
    lambda xs: (
        weighted(itertools.permutations(xs[:3])) + weighted(itertools.permutations(iter(xs), 2))
    ),
    lambda xs: weighted(itertools.combinations(xs, 3)) + weighted(itertools.combinations(xs, 9)),
    lambda xs: weighted(itertools.combinations_with_replacement(xs, 2)),
    lambda xs: weighted(itertools.accumulate(xs)) + weighted(itertools.accumulate(xs[:0])),
    lambda xs: (
        weighted(itertools.accumulate(xs, operator.mul, initial=xs[1]))
        + weighted(itertools.accumulate(xs, lambda a, b: a * xs[0] + b))
    ),
]


@pytest.mark.parametrize("f", FUNCTIONS, ids=range(len(FUNCTIONS)))
def test_as_python_does(f):
    check_sample(Sample(f, (XS,)))


@pytest.mark.skipif(not hasattr(itertools, "batched"), reason="Python 3.12")
def test_batched():
    check_sample(Sample(lambda xs: weighted(itertools.batched(xs, 2)), (XS,)))


# ---- consumption ---------------------------------------------------------------------------------


def shared_with_islice(xs):
    it = iter(xs)
    first = list(itertools.islice(it, 0, 4, 3))
    return weighted(first) * next(it)


def shared_with_takewhile(xs):
    it = iter(xs)
    return weighted(itertools.takewhile(positive, it)) * next(it) + weighted(it)


def shared_with_zip_longest(xs):
    it = iter(xs)
    return weighted(itertools.zip_longest(it, it, it, fillvalue=0.5))


def tee_apart(xs):
    a, b, c = itertools.tee((x * x for x in xs), 3)
    total = next(a) * next(a) + next(b)
    return total + weighted(a) * weighted(b) + next(c)


def groups(xs):
    total = 0.0
    for sign, group in itertools.groupby(xs, positive):
        total = total * xs[0] + (2.0 if sign else 3.0) * math.prod(group)
    return total


def groups_left_early(xs):
    total = 0.0
    for sign, group in itertools.groupby([*xs, *xs], lambda x: x > -0.5):
        total = total * 1.5 + next(group) * (1 + sign)
    return total


def groups_have_ended(xs):
    kept = [group for _, group in itertools.groupby(xs)]
    return len([value for group in kept for value in group]) + xs[0]


def groups_by_active_key(xs):
    return weighted(key for key, _ in itertools.groupby([xs[0], xs[0], xs[1]]))


def count_is_lazy(xs):
    numbers = itertools.count(2)
    return xs[0] * next(numbers) + xs[1] * next(numbers)


def eager_product(xs):
    pool = list(xs)
    pairs = itertools.product(pool, repeat=2)
    pool.clear()
    return weighted(pairs)


def lazy_chain(xs):
    pool = list(xs[:2])
    joined = itertools.chain(pool)
    pool.append(xs[2] * 2)
    return weighted(joined)


def left_by_exception(xs):
    total = 0.0
    try:
        for x in itertools.chain(xs, bounded(xs)):
            total += x * x
    except AssertionError:
        total *= xs[0]
    return total


@pytest.mark.parametrize(
    "f",
    [
        shared_with_islice, shared_with_takewhile, shared_with_zip_longest, tee_apart, groups,
        groups_left_early, groups_have_ended, groups_by_active_key, count_is_lazy, eager_product,
        lazy_chain, left_by_exception,
    ],
)  # fmt: skip
def test_consumption(f):
    check_sample(Sample(f, (XS,)))


@pytest.mark.parametrize(
    "f",
    [
        lambda xs: itertools.islice(xs, -1),
        lambda xs: itertools.combinations(xs, -1),
        lambda xs: itertools.permutations(xs, "2"),
        lambda xs: itertools.chain.from_iterable(3.0),
        lambda xs: itertools.takewhile(positive, 3.0),
        lambda xs: itertools.tee(xs, -1),
    ],
    ids=["islice", "combinations", "permutations", "from_iterable", "takewhile", "tee"],
)
def test_refused_when_called(f):
    with pytest.raises((TypeError, ValueError)) as expected:
        f(XS)
    with pytest.raises(expected.type):
        ad.pullback(lambda xs: (f(xs), xs[0])[1], XS)
