"""What Python computes while it creates a class is refused where its derivative is needed."""

import enum

import pytest

import adjoint as ad
from adjoint.errors import NoDerivativeError


def by_init_subclass(x):
    class Base:
        def __init_subclass__(cls, factor):
            cls.product = cls.rate * factor

    class Derived(Base, factor=x):
        rate = x * 2

    return Derived.product


def by_set_name(x):
    class Field:
        def __set_name__(self, owner, name):
            owner.doubled = owner.rate * 2

    class Owner:
        rate = x * x
        field = Field()

    return Owner.doubled


def by_enum(x):
    class Color(enum.Enum):
        RED = x * 2

    return Color.RED.value


def in_a_special_namespace(x):
    class Space(dict):
        pass

    class Meta(type):
        @classmethod
        def __prepare__(meta, name, bases):
            return Space()

    class Made(metaclass=Meta):
        rate = x * 2

    return Made.rate


def in_a_body_that_cannot_be_lowered(x):
    class Made:
        exec("given = 2.0")
        rate = x * 2

    return Made.rate


FUNCTIONS = [
    by_init_subclass,
    by_set_name,
    by_enum,
    in_a_special_namespace,
    in_a_body_that_cannot_be_lowered,
]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_what_the_creation_of_a_class_computes_is_refused_not_lost(f):
    value, back = ad.pullback(f, 0.7)
    assert value == f(0.7)
    with pytest.raises(NoDerivativeError, match=r"a derivative of what the .* of class '\w+'"):
        back(1.0)


def test_such_classes_may_be_used_where_no_derivative_is_needed():
    def f(x):
        kinds = (by_init_subclass(x), by_enum(x), in_a_special_namespace(x))
        return x * len(kinds)

    assert ad.gradient(f, 0.7) == (3.0,)
