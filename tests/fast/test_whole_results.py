"""Gradients of functions whose one real number is an integer or a truth value."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from adjoint.api import gradients as api


def _square(x):
    return x * x


def _cube_or_count(x):
    return 3 if x < 0 else x * x * x


def _total(x):
    return x.sum()


def _above(x):
    return x > 2


def _rounded(x):
    return round(x) * x


def _part_of_truth_value(x):
    return (x > 2).real


CASES = [
    (_square, 3, 6.0),
    (_square, np.int64(3), 6.0),
    (_square, np.int8(3), 6.0),
    (_cube_or_count, 2.0, 12.0),
    (_cube_or_count, -2.0, 0.0),
    (_cube_or_count, 2, 12.0),
    (_total, np.arange(3), np.ones(3)),
    (_above, 3.0, 0.0),
    (_rounded, 3, 3.0),
    (_part_of_truth_value, 3.0, 0.0),
]


@pytest.mark.parametrize(("f", "x", "expected"), CASES)
def test_they_are_specialised_and_tier_says_so(f, x, expected, monkeypatch):
    found = ad.tier(f, x)
    assert (found.operator, found.tier) == ("gradient", "fast")
    monkeypatch.setattr(api, "forward", None)  # the generic tier would call it
    value, (x_bar,) = ad.withgradient(f, x)
    assert type(value) is type(f(x)) and np.array_equal(value, f(x))
    assert np.array_equal(x_bar, expected)
    assert np.array_equal(ad.grad(f)(x), expected)


@pytest.mark.parametrize(("f", "x", "expected"), CASES)
def test_as_the_generic_tier(f, x, expected):
    fast, generic = (ad.value_and_grad(f, tier=tier)(x) for tier in ("fast", "generic"))
    for a, b in zip(fast, generic, strict=True):
        assert type(a) is type(b) and np.array_equal(a, b)


def test_a_result_that_may_be_complex_is_one_of_the_generic_tier():
    def f(x):
        return x * 1j if x < 0 else x * x

    found = ad.tier(f, 3.0)
    assert (found.operator, found.tier) == ("gradient", "generic")
    assert found.reason == "a result that may be complex"
    assert ad.grad(f)(3.0) == 6.0
