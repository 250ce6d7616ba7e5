"""Cotangents of tuples of which some items have none, in the fast tier."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import adjoint as ad
from adjoint.api.generic_tier import generic_pullback
from adjoint.errors import MutationError
from adjoint.fast.programs.pullback import SpecialisedPullback

A = np.array([1.0, 2.0, 3.0])


class Weight:
    def __init__(self, w):
        self.w = w


def _parts(p, x):
    return p.w * x, p.w**2


def _scattered(p, q, x):
    return p.w * x, q["a"] * p.w, x, "text"


def _arrays(p, x, y):
    return p.w * x, x * y, y.sum(), 3.0


def _beside_a_list(w, x):
    s = 0.0
    for q in w:
        s += (x - q) ** 2
    return s, w[0]


def _elements(v, x):
    s = 0.0
    for i in range(len(v)):
        s = s + v[i]
    return s, x * 2


def _one_way_or_the_other(v, x):
    if x > 0:
        return v.sum(), x
    return x, v[0]


LONG = [float(i) for i in range(20)]
CALLS = {
    _beside_a_list: (LONG, 1.0),
    _elements: (A, 1.5),
    _one_way_or_the_other: (A, 1.5),
    _parts: (Weight(2.0), 3.0),
    _scattered: (Weight(2.0), {"a": 3.0, "b": 1.0}, 1.5),
    _arrays: (Weight(np.float32(2.0)), A, A[::-1] - 1.0),
}


def _same(a, b):
    if a is None or b is None:  # in a pullback, either stands for zero
        return _is_zero(b if a is None else a)
    if type(a) is not type(b):
        return False
    if isinstance(a, ad.Tangent):
        return _same(a.w, b.w)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    return bool(np.allclose(a, b))


def _is_zero(x):
    if isinstance(x, ad.Tangent | dict):
        return all(map(_is_zero, x.values()))
    return x is None or not np.any(x)


@pytest.mark.parametrize("f", CALLS, ids=lambda f: f.__name__)
def test_as_the_generic_tier(f):
    args = CALLS[f]
    y, back = ad.pullback(f, *args)
    assert isinstance(back, SpecialisedPullback)
    generic = generic_pullback(f, args)
    for given in itertools.product((None, 0.0, 0.7), repeat=len(y)):
        y_bar = tuple(
            None if scale is None or isinstance(part, str) else scale * np.ones_like(part)[()]
            for scale, part in zip(given, y, strict=True)
        )
        _, back = ad.pullback(f, *args)
        assert all(map(_same, back(y_bar), generic(y_bar)))


def test_a_list_that_a_loop_goes_through():
    expected = [2.0 * (q - 1.0) for q in LONG]
    assert ad.grad(_beside_a_list, has_aux=True)(LONG, 1.0)[0] == expected
    assert ad.pullback(_beside_a_list, LONG, 1.0)[1]((1.0, None))[1] == expected


def test_a_list_in_a_call_inside():
    def outer(w, means):
        found = 0.0
        for mean in means:
            total, _ = _beside_a_list(w, mean)
            eval("0")  # is not covered
            found += total
        return found

    means = [0.5 * i for i in range(40)]
    expected = [sum(2.0 * (q - mean) for mean in means) for q in LONG]
    np.testing.assert_allclose(ad.gradient(outer, LONG, means)[0], expected, rtol=1e-12)


def test_after_the_object_was_updated():
    p = Weight(2.0)
    y, back = ad.pullback(_parts, p, 3.0)
    assert isinstance(back, SpecialisedPullback)
    p.w = 5.0  # a step of gradient descent, say
    f_bar, p_bar, x_bar = back((1.0, None))
    assert (y, f_bar, p_bar.w, x_bar) == ((6.0, 4.0), None, 3.0, 2.0)  # at w = 2
    f_bar, p_bar, x_bar = back((None, 1.0))
    assert (f_bar, p_bar.w, x_bar) == (None, 4.0, 0.0)
    assert all(map(_is_zero, back((None, None))))
    assert back(None) == (None, None, None)


def test_what_has_to_run_again_says_so():
    p = Weight(2.0)
    _, back = ad.pullback(_parts, p, 3.0)
    p.w = 5.0
    with pytest.raises(MutationError, match="has changed since"):
        back((float("nan"), 1.0))
    p.w = 2.0
    assert np.isnan(back((float("nan"), 1.0))[2])
