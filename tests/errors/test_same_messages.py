"""Statements that fail: the type, the message and the context of the error are Python's own."""

import functools
import heapq
import itertools
import math
import operator

import numpy as np
import pytest

import adjoint as ad


class Refuses:
    @property
    def inner(self):
        raise AttributeError("inner")

    def __getattr__(self, name):
        raise AttributeError(f"no {name}")


def _class_of_a_number(x):
    class Q(x):
        pass

    return Q


FAILING = {
    "fsum": lambda x: math.fsum([x, "a"]),
    "fsum of digits": lambda x: math.fsum([x, "2.0"]),
    "class of a number": _class_of_a_number,
    "text times number": lambda x: "a" * x,
    "number times text": lambda x: x * "a",
    "list times number": lambda x: [1] * x,
    "item": lambda x: np.asarray(x).item(3),
    "property and __getattr__": lambda x: Refuses().inner,
    "zip plus number": lambda x: zip([1], [1, 2]) + 1,
    "map minus number": lambda x: map(len, [1]) - x,
    "length of zip": lambda x: len(zip([1])),
    "iterator plus number": lambda x: iter([1]) + x,
    "attribute of a generator": lambda x: (x for _ in [1]).foo,
    # Calls with arguments that nothing takes.
    "abs()": lambda x: abs(),
    "abs(x=)": lambda x: abs(x=x),
    "map(f)": lambda x: map(abs),
    "map(f, iterable=)": lambda x: map(abs, iterable=[x]),
    "filter(f)": lambda x: filter(None),
    "filter of a number": lambda x: filter(None, x),
    "enumerate()": lambda x: enumerate(),
    "enumerate of three": lambda x: enumerate([x], 1, 2),
    "enumerate(foo=)": lambda x: enumerate([x], foo=1),
    "zip(foo=)": lambda x: zip([x], foo=1),
    "zip(strict=, foo=)": lambda x: zip([x], strict=True, foo=1),
    "next()": lambda x: next(),
    "next of three": lambda x: next(iter([x]), 1, 2),
    "iter()": lambda x: iter(),
    "reversed()": lambda x: reversed(),
    "reversed of two": lambda x: reversed([x], [x]),
    "sorted by position": lambda x: sorted([x], abs),
    "sorted(xs=)": lambda x: sorted(xs=[x]),
    "sum()": lambda x: sum(),
    "sum(foo=)": lambda x: sum([x], foo=1),
    "min()": lambda x: min(),
    "max()": lambda x: max(),
    "max(default=) of two": lambda x: max(x, 2.0, default=1.0),
    "min(foo=)": lambda x: min([x], foo=1),
    "any()": lambda x: any(),
    "round()": lambda x: round(),
    "hasattr of one": lambda x: hasattr(x),
    "list of two": lambda x: list([x], 1),
    "list(iterable=)": lambda x: list(iterable=[x]),
    "tuple(xs=)": lambda x: tuple(xs=[x]),
    "set of two": lambda x: set([x], 1),
    "frozenset of two": lambda x: frozenset([x], 1),
    "append()": lambda x: [].append(),
    "insert of one": lambda x: [].insert(1),
    "pop of two": lambda x: [x].pop(0, 1),
    "sort by position": lambda x: [x].sort(abs),
    "list.append of a list": lambda x: list.append([x]),
    "get()": lambda x: {}.get(),
    "pop()": lambda x: {}.pop(),
    "setdefault()": lambda x: {}.setdefault(),
    "update of two": lambda x: {}.update({}, {}),
    "fromkeys of a number": lambda x: {}.fromkeys(x),
    "fill()": lambda x: np.zeros(2).fill(),
    "np.array()": lambda x: np.array(),
    "fsum()": lambda x: math.fsum(),
    "prod()": lambda x: math.prod(),
    "reduce()": lambda x: functools.reduce(),
    "partial()": lambda x: functools.partial(),
    "accumulate()": lambda x: itertools.accumulate(),
    "repeat()": lambda x: itertools.repeat(),
    "tee()": lambda x: itertools.tee(),
    "count of text": lambda x: itertools.count("a"),
    "zip_longest(foo=)": lambda x: itertools.zip_longest([x], foo=1),
    "heapify of a tuple": lambda x: heapq.heapify((x,)),
    "heappush on a number": lambda x: heapq.heappush(3, x),
    "operator.add of one": lambda x: operator.add(x),
    "complex of text": lambda x: complex("a"),
    "complex of a number and text": lambda x: complex(x, "a"),
    "complex of text and a number": lambda x: complex("1", x),
    "complex of a list": lambda x: complex([x]),
}


@pytest.mark.parametrize("name", FAILING)
@pytest.mark.parametrize(
    "call", [ad.gradient, lambda f, x: ad.pushforward(f, (x,), (1.0,))], ids=["reverse", "forward"]
)
def test_error_is_pythons_own(name, call):
    f = FAILING[name]
    with pytest.raises(Exception) as plain:  # noqa: PT011  whatever it is
        f(0.7)
    with pytest.raises(Exception) as ours:  # noqa: PT011
        call(f, 0.7)
    assert type(ours.value) is type(plain.value)
    assert str(ours.value) == str(plain.value)
    assert repr(ours.value.__context__) == repr(plain.value.__context__)
