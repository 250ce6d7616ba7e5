"""Hessians of structures that hold integers."""

import pytest

import adjoint as ad
from adjoint.errors import ArgumentError


@pytest.mark.parametrize("make", [list, tuple, lambda xs: dict(enumerate(xs))])
def test_integers_inside_structures_are_refused(make):
    def f(p):
        return p[0] ** 2 * p[1]

    for g in (
        ad.hessian,
        ad.hessian_diagonal,
        lambda f, x: ad.vhp(f, x, make([1.0, 1.0])),
    ):
        with pytest.raises(ArgumentError, match="holds integers"):
            g(f, make([3, 2]))
        assert g(f, make([3.0, 2.0]))
    assert ad.hvp(f, make([3, 2]), make([1.0, 1.0])) == make([10.0, 6.0])


def test_counts_inside_structures_are_constants():
    found = ad.hessian(lambda p: p["x"] ** (2 + len(range(p["n"]))), {"x": 2.0, "n": 1})
    assert found["x"]["x"] == 12.0
