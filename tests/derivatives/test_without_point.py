"""Operators without a point are functions of it."""

import numpy as np
import pytest

import adjoint as ad

X, V = np.array([0.3, -1.2, 0.8]), np.array([1.0, 0.5, -2.0])


def f(x, scale=1.0):
    return np.sum(np.sin(x) * x**2) * scale


def g(x, scale=1.0):
    return np.outer(x, x).ravel() * scale


POINTS = {
    ad.jacobian: (g, X),
    ad.jacobian_forward: (g, X),
    ad.jacobian_reverse: (g, X),
    ad.value_and_jacobian: (g, X),
    ad.hessian: (f, X),
    ad.hessian_diagonal: (f, X),
    ad.hvp: (f, X, V),
    ad.vhp: (f, X, V),
    ad.gradient_and_hvp: (f, X, V),
    ad.gauss_newton_product: (g, X, V),
    ad.sparse_jacobian: (g, X),
    ad.sparse_hessian: (f, X),
}


def _dense(found):
    if isinstance(found, tuple):
        return tuple(map(_dense, found))
    return found.toarray() if hasattr(found, "toarray") else found


@pytest.mark.parametrize("operator", POINTS, ids=lambda each: each.__name__)
def test_the_same_as_at_the_point(operator):
    h, *point = POINTS[operator]
    for options in ({}, {"scale": 2.0}):
        expected = _dense(operator(h, *point, **options))
        for found in (operator(h)(*point, **options), operator(h, **options)(*point)):
            for a, b in zip(_dense(found), expected, strict=True):
                np.testing.assert_array_equal(a, b)
    assert operator(h).__name__ == h.__name__


def test_options_stay_those_of_the_operator():
    forward = ad.jacobian(g, mode="forward", argnums="scale")
    np.testing.assert_allclose(forward(X, scale=3.0), np.outer(X, X).ravel())
    (found, aux) = ad.hessian(lambda x: (x**3, "aux"), has_aux=True)(2.0)
    assert (found, aux) == (12.0, "aux")
    # a keyword alone is a point
    assert ad.jacobian(lambda *, a: a * 2.0, argnums="a", a=3.0) == 2.0


def test_inside_a_derivative():
    def trace(x):
        return np.trace(ad.hessian(f)(x)) + np.sum(ad.vmap(ad.hvp(lambda z: z**3))(x, x)) * 0.0

    h = 1e-5
    slope = (trace(X + h * V) - trace(X - h * V)) / (2 * h)
    assert ad.gradient(trace, X)[0] @ V == pytest.approx(slope, rel=1e-7)
    assert ad.directional(trace, X, V) == pytest.approx(slope, rel=1e-7)


def test_a_missing_vector_is_an_error():
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        ad.hvp(f, X)
