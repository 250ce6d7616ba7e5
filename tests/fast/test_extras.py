"""`has_aux` by the program of the whole call."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from adjoint.api import gradients as api
from adjoint.errors import ArgumentError, NotScalarError

A = np.array([1.0, 2.0, 3.0])
B = np.array([0.5, -1.0, 2.0])


def _with_constant(x, y):
    return x * x * y, 1.0


def _with_array(x, y):
    e = np.exp(x)
    return (e * y).sum(), e


def _with_argument(x, y):
    return (x * y).sum(), y


def _with_integer(x, y):
    return x * x * y, round(x)


CASES = [
    (_with_constant, 3.0, 2.0, 12.0, 9.0),
    (_with_array, A, B, np.exp(A) * B, np.exp(A)),
    (_with_argument, A, B, B, A),
    (_with_integer, 3.0, 2.0, 12.0, 9.0),
    (_with_integer, 3, 2, 12.0, 9.0),
]


@pytest.mark.parametrize(("f", "x", "y", "x_bar", "y_bar"), CASES)
def test_the_program_gives_value_extra_and_gradient(f, x, y, x_bar, y_bar, monkeypatch):
    both = ad.value_and_grad(f, (0, 1), has_aux=True)
    assert ad.tier(both, x, y).tier == "fast"
    monkeypatch.setattr(api, "forward", None)  # the generic tier would call it
    (value, extra), found = both(x, y)
    expected = f(x, y)
    assert np.array_equal(value, expected[0]) and type(value) is type(expected[0])
    assert np.array_equal(extra, expected[1]) and type(extra) is type(expected[1])
    np.testing.assert_allclose(found[0], x_bar, rtol=1e-15)
    np.testing.assert_allclose(found[1], y_bar, rtol=1e-15)
    for bar in found:
        assert not any(np.shares_memory(bar, one) for one in (x, y, extra))


def test_an_extra_that_is_an_argument_is_that_argument():
    _, extra = ad.grad(_with_argument, has_aux=True)(A, B)
    assert extra is B


def test_a_cotangent_that_is_not_finite_is_that_of_the_generic_tier():
    def f(x):
        return np.sqrt(x), x

    for tier in ("fast", "generic"):
        assert ad.grad(f, has_aux=True, tier=tier)(0.0) == (np.inf, 0.0)


def test_what_is_no_pair_or_no_number_is_refused_as_before():
    with pytest.raises(ArgumentError, match="returned a tuple"):
        ad.grad(lambda x: (x, x, x), has_aux=True)(1.0)
    with pytest.raises(NotScalarError, match="shape"):
        ad.grad(lambda x: (x, 1.0), has_aux=True)(A)
