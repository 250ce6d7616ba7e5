"""Iterators in the fast tier: what Python does when one is made, and what it goes through then."""

import pytest

import adjoint as ad
from tests.fast.test_as_python_asks import agree


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
