"""Statements that fail: the type, the message and the context of the error are Python's own."""

import math

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
