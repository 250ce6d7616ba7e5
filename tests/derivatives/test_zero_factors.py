"""Second derivatives where a factor is zero: the cotangent of the other one is zero, but has a
derivative of its own."""

from __future__ import annotations

import math

import numpy as np
import pytest

import adjoint as ad

FUNCTIONS = {
    "log": (math.log, [2.0, 0.0]),
    "sqrt": (math.sqrt, [2.0, 0.0]),
    "NumPy's number": (lambda x: np.exp(np.float64(x)), [0.7, 0.0]),
    "power of an integer": (lambda x: x**3, [2, 0.0]),
    "product of integers": (lambda x: 3 * x * x, [2, 0]),
    "absolute value": (lambda x: abs(3 * x), [2, 0.0]),
    "remainder": (lambda x: 3.5 * x % 5, [2, 0.0]),
    "greatest": (lambda x: max(x, 1) * 3, [2, 0.0]),
    "hypotenuse": (lambda x: math.hypot(x, 4.0) + math.atan2(2.0, x), [3.0, 0.0]),
    "power": (lambda x: math.pow(x, x) + 2.0**x + x**1.5, [1.3, 0.0]),
    "quotient": (lambda x: 2 / x, [4, 0.0]),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_second_derivatives_beside_a_zero(name):
    f, point = FUNCTIONS[name]

    def product(p):
        return f(p[0]) * p[1]

    h = 1e-6
    slope = (f(point[0] + h) - f(point[0] - h)) / (2 * h)
    expected = pytest.approx(np.array([[0.0, slope], [slope, 0.0]]), rel=1e-7, abs=1e-12)
    grad = ad.grad(product, tier="generic")
    assert np.array(ad.hessian(product, point)) == expected
    assert np.array(ad.jacobian(ad.grad(product), point)) == expected
    assert np.array(ad.jacobian(grad, point)) == expected
    assert np.array(ad.jacobian_forward(grad, point)) == expected


def test_a_zero_beside_an_infinite_slope_stays_zero():
    f = ad.grad(lambda p: math.sqrt(p[0]) * p[1], tier="generic")
    assert f([0.0, 0.0]) == [0.0, 0.0]
    assert ad.grad(ad.grad(lambda x: x * x * x, tier="generic"), tier="generic")(0) == 0.0
