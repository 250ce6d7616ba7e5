"""Numbers in context variables, which are not followed: setting one is refused in every mode."""

from __future__ import annotations

from contextvars import ContextVar

import numpy as np
import pytest
from scipy import optimize

import adjoint as ad
from adjoint.errors import MutationError

VARIABLE = ContextVar("variable", default=0.0)


def set_to_a_number(v):
    token = VARIABLE.set(v * v)
    y = VARIABLE.get() * v
    VARIABLE.reset(token)
    return y


def set_to_an_array(v):
    variable = ContextVar("variable")
    variable.set(np.array([v, 1.0]))
    return variable.get()[0] * v


def set_to_a_constant(v):
    variable = ContextVar("variable")
    variable.set(3.0)
    return variable.get() * v


def as_a_default(v):
    return ContextVar("variable", default=v * v).get() * v


def by_what_a_search_calls(v):
    variable = ContextVar("variable", default=None)

    def residual(z):
        if variable.get() is None:
            variable.set(v * v)
        return z**3 - variable.get()

    return optimize.brentq(residual, 0.0, 50.0)


def by_what_c_calls(v):
    token = VARIABLE.set(None)
    list(map(lambda z: VARIABLE.set(v * v), [1.0]))
    y = VARIABLE.get() * v
    VARIABLE.reset(token)
    return y


@pytest.mark.parametrize(
    "mode",
    [
        lambda f: ad.gradient(f, 2.0),
        lambda f: ad.grad(f, tier="generic")(2.0),
        lambda f: ad.pushforward(f, (2.0,), (1.0,)),
        lambda f: ad.hessian(f, 2.0),
    ],
)
@pytest.mark.parametrize(
    "f",
    [
        set_to_a_number, set_to_an_array, set_to_a_constant, as_a_default,
        by_what_a_search_calls, by_what_c_calls,
    ],
)  # fmt: skip
def test_a_number_is_refused(f, mode):
    assert f(2.0) > 1.0
    with pytest.raises(MutationError, match="a context variable is set to a number"):
        mode(f)


def test_text_and_flags_are_not():
    variable = ContextVar("variable", default=False)

    def f(v):
        variable.set("text" if variable.get() else True)
        return v * v

    assert ad.gradient(f, 3.0) == (6.0,)
