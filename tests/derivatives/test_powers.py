"""Second derivatives of powers, at exponents at which a formula of the slope is shorter."""

import math
import operator

import numpy as np
import pytest

import adjoint as ad

POWERS = {"**": operator.pow, "np.power": np.power, "math.pow": math.pow, "pow": pow}
NESTINGS = {
    "forward, reverse": lambda f, p: ad.hessian(f, p, mode="forward"),
    "reverse, reverse": lambda f, p: ad.hessian(f, p, mode="reverse"),
    "forward, forward": lambda f, p: np.array(
        [
            [
                ad.pushforward(
                    lambda q, d=d: ad.pushforward(f, (q,), (d,))[1], (p,), (e,)
                )[1]
                for d in np.eye(2)
            ]
            for e in np.eye(2)
        ]
    ),
}  # fmt: skip


def exact(a, b):
    log = math.log(a)
    mixed = a ** (b - 1) * (1 + b * log)
    return np.array([[b * (b - 1) * a ** (b - 2), mixed], [mixed, a**b * log**2]])


@pytest.mark.parametrize("b", [2.0, 0.0, 1.0, -1.0, 0.5, 3.0])
@pytest.mark.parametrize("nesting", NESTINGS)
@pytest.mark.parametrize("name", POWERS)
def test_in_both_at_once(name, nesting, b):
    power = POWERS[name]
    found = NESTINGS[nesting](lambda p: power(p[0], p[1]), np.array([3.0, b]))
    np.testing.assert_allclose(found, exact(3.0, b), rtol=1e-12, atol=1e-12)


def test_exponents_in_an_array():
    a, b = np.array([3.0, 2.0, 0.5]), np.array([2.0, 0.0, 1.5])
    found = ad.jacobian(lambda b: ad.gradient(lambda a: np.sum(a**b), a)[0], b)
    np.testing.assert_allclose(found, np.diag([exact(*ab)[0, 1] for ab in zip(a, b, strict=True)]))


@pytest.mark.parametrize("b", [2.0, 1.0, 0.0, 2, 1, 0, 3.0])
def test_at_a_base_of_zero(b):
    second = 2.0 if b == 2 else 0.0
    assert ad.hessian(lambda a: a**b, 0.0) == second
    found = ad.hessian(lambda a: np.sum(a**b), np.zeros(2))
    np.testing.assert_array_equal(found, second * np.eye(2))
    found = ad.hessian(lambda a: np.sum(a ** np.array([b, 2.0])), np.zeros(2))
    np.testing.assert_array_equal(found, np.diag([second, 2.0]))


def test_a_base_that_is_its_own_exponent():
    for x in (2.0, 1.0, 0.7):
        second = x**x * ((1 + math.log(x)) ** 2 + 1 / x)
        assert ad.hessian(lambda x: x**x, x) == pytest.approx(second, rel=1e-13)
