"""What Python computes while it creates a class is refused where its derivative is needed."""

import pytest

import adjoint as ad
from adjoint.errors import NoDerivativeError


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
