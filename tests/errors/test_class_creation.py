"""What Python computes while it creates a class is refused where its derivative is needed."""

import collections

import pytest

import adjoint as ad
from adjoint.errors import NoDerivativeError


def elsewhere_in_a_body_that_cannot_be_lowered(x):
    kept = []

    class Made:
        exec("given = 2.0")
        kept.append(x * 2)

    return kept[0]


def by_a_function_that_such_a_body_calls(x):
    kept = []

    def keep():
        kept.append(x * 2)

    class Made:
        exec("given = 2.0")
        keep()

    return kept[0]


class Meta(type):
    @classmethod
    def __prepare__(meta, name, bases):
        return collections.UserDict()

    def __new__(meta, name, bases, namespace):
        return type.__new__(meta, name, bases, dict(namespace))


def in_another_mapping_by_such_a_body(x):
    class Made(metaclass=Meta):
        exec("given = 2.0")
        rate = x * 2

    return Made.rate


@pytest.mark.parametrize(
    "f",
    [
        elsewhere_in_a_body_that_cannot_be_lowered,
        by_a_function_that_such_a_body_calls,
        in_another_mapping_by_such_a_body,
    ],
)
def test_what_a_body_that_cannot_be_lowered_stores_elsewhere_is_refused(f):
    value, back = ad.pullback(f, 0.7)
    assert value == f(0.7)
    for _ in range(2):
        with pytest.raises(NoDerivativeError, match="the body of class 'Made' computes"):
            back(1.0)
    with pytest.raises(NoDerivativeError, match="the body of class 'Made' computes"):
        ad.pushforward(f, (0.7,), (1.0,))


def in_a_body_that_cannot_be_lowered(x):
    class Made:
        exec("given = 2.0")
        rate = x * 2

    return Made.rate


def test_what_a_body_that_cannot_be_lowered_computes_is_refused_not_lost():
    value, back = ad.pullback(in_a_body_that_cannot_be_lowered, 0.7)
    assert value == in_a_body_that_cannot_be_lowered(0.7)
    with pytest.raises(NoDerivativeError, match=r"a derivative of what the .* of class '\w+'"):
        back(1.0)


def test_such_a_class_may_be_used_where_no_derivative_is_needed():
    def f(x):
        made = in_a_body_that_cannot_be_lowered(x)
        return x * (3.0 if made else 2.0)

    assert ad.gradient(f, 0.7) == (3.0,)
