"""Errors of the public functions: what to do, and no frame of the library."""

import math
import operator

import numpy as np
import pytest

import adjoint as ad
from tests.errors.places import ours, raised


class WithoutCode:
    pass


def plain(x):
    return x


WRONG = {
    "ir of C": (ad.errors.SourceError, lambda: ad.ir(math.sin)),
    "code of a class without code": (ad.errors.SourceError, lambda: ad.code(WithoutCode)),
    "rule that is none": (ad.errors.ArgumentError, lambda: ad.rrule.register(plain)(3)),
    "rule that swallows": (TypeError, lambda: ad.rrule.register(plain)(lambda x, **named: x)),
    "rule of a number": (ad.errors.ArgumentError, lambda: ad.rrule.register(3)),
    "forward rule of text": (ad.errors.ArgumentError, lambda: ad.frule.register("sin")),
    "rule of a pair": (ad.errors.ArgumentError, lambda: ad.rrule.register((3, "sum"))),
    "rule of three": (ad.errors.ArgumentError, lambda: ad.rrule.register((float, "real", 3))),
    "rule of an operator": (ad.errors.ArgumentError, lambda: ad.rrule.register(operator.mul)),
    "rule of a power": (ad.errors.ArgumentError, lambda: ad.frule.register(pow)),
    "rule of an operator of arrays": (
        ad.errors.ArgumentError,
        lambda: ad.rrule.register((np.ndarray, "__rmul__")),
    ),
    "rule of no method": (ad.errors.ArgumentError, lambda: ad.rrule.register((float, "sin"))),
    "unknown option": (TypeError, lambda: ad.rrule.register(plain, aliased=True)),
    "number without derivative": (ad.errors.ArgumentError, lambda: ad.non_differentiable(3)),
    "point outside": (ValueError, lambda: ad.rrule(math.sqrt, -1.0)),
    "point outside, forward": (ValueError, lambda: ad.frule(math.sqrt, (1.0,), -1.0)),
    "wrong gradient": (
        AssertionError,
        lambda: ad.testing.check_gradient(lambda x: ad.stop_gradient(x), 2.0),
    ),
    "no rule to check": (AssertionError, lambda: ad.testing.check_rule(plain, 2.0)),
}


@pytest.mark.parametrize("kind, call", WRONG.values(), ids=WRONG)
def test_no_frame_of_the_library(kind, call):
    error = raised(kind, call)
    assert not ours(error)
    if isinstance(error, ad.AdjointError):
        assert error.hint


def test_what_rules_may_be_of():
    for key in (plain, (list, "append"), list.append, float.real, (float, "real"), WithoutCode):
        assert callable(ad.rrule.register(key)) and callable(ad.frule.register(key))


def test_registering_keeps_names_and_docs():
    assert "reverse rule" in ad.rrule.__doc__ and "forward rule" in ad.frule.__doc__
    assert ad.rrule.register.__doc__.startswith("Register the decorated function")
    assert ad.non_differentiable.__name__ == "non_differentiable"
