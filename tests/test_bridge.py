"""Derivatives taken inside code that reverse mode differentiates: what goes in and comes out by
other ways than arguments and results, and arrays under several names.

Each function is compared with differences and with forward mode.
"""

import numpy as np
import pytest

import adjoint as ad

X = np.array([0.7, 1.3, 2.1])
V = np.array([0.3, -1.1, 0.8])


def cubes(q):
    return np.sum(q**3)


class Energy:
    def __init__(self, k):
        self.k = k

    def of(self, q):
        return np.sum(q**3) * self.k

    def of_two(self, q, p):
        return np.sum(q * q * self.k * p)


# ---- one array under several names ---------------------------------------------------------------


def given_twice(x):
    return np.sum(ad.gradient(lambda z, y: np.sum(z * z * y), x, x)[0])


def given_twice_forward(x):
    return np.sum(ad.pushforward(lambda z, y: z * z * y, (x, x), (V, None))[1])


def given_twice_in_a_list(x):
    return np.sum(ad.gradient(lambda m: np.sum(m[0] * m[1] ** 2), [x, x])[0][0])


def captured_and_given(x):
    return np.sum(ad.pullback(lambda z: z * x * x, x)[1](V)[1])


def of_a_bound_method(x):
    energy = Energy(x[0])
    q, p = x * 1, x * 2
    for _ in range(2):
        p = p - 0.1 * ad.grad(energy.of_two, 0)(q, p)
        q = q + 0.1 * ad.grad(energy.of_two, 1)(q, p)
    return np.sum(q * p) + np.sum(ad.grad(Energy(x[1]).of)(x))


# ---- arrays that were written --------------------------------------------------------------------


def written_before(x):
    z = np.array([x[0], 0, 0])
    z[1] = x[1] ** 2
    return ad.withgradient(cubes, z)[0]


def written_before_and_after(x):
    z = np.zeros(3)
    z[:] = x * x
    z[2] = x[0]
    r = np.sum(ad.gradient(cubes, z)[0] * x)
    z[0] = x[1]
    return r + np.sum(ad.hvp(cubes, z, V) * z) + np.sum(ad.jacobian(lambda q: q**2 * x, z) @ z)


def descent_in_place(x):
    z = x * 1
    for i in range(2):
        z -= 0.1 * ad.grad(cubes)(z)
        z[i] *= x[i]
    return np.sum(z * x)


# ---- what the inner function stores, raises and returns ------------------------------------------


def stored_in_a_variable(x):
    total = 0.0

    def inner(z):
        nonlocal total
        total += np.sum(z * x)
        return np.sum(z * z * x)

    return np.sum(ad.gradient(inner, x * 1.0)[0]) * total


def stored_in_containers(x):
    box, named = [], {}

    def inner(z):
        box.append(z * x)
        named["a"] = [np.sum(z * x), np.sum(z)]
        return np.sum(z * z)

    slopes = ad.derivative(lambda t: inner(t * x))(1.0)
    return slopes * np.sum(box[0]) * named["a"][0] + named["a"][1]


def stored_in_an_object(x):
    energy = Energy(x[0])

    def inner(z):
        energy.k = energy.k * z[0]
        return np.sum(z * z * x)

    return np.sum(ad.gradient(inner, x * 1.0)[0]) * energy.k


def raised(x):
    def inner(z):
        raise ValueError(z * x)

    try:
        ad.gradient(inner, x * 1)
    except ValueError as error:
        return np.sum(error.args[0] * x)


def returned(x):
    y = x * 2
    r = ad.grad(lambda z: (np.sum(z**2 * x), [y, y[1:]]), has_aux=True)(x * 1)[1]
    y[1] = x[0]
    r[1][1] = x[2] ** 2
    return np.sum(y * r[0]) + r[1].sum()


def returned_and_written(x):
    y = x * 2
    value, _ = ad.pushforward(lambda z: y, (x * 1,), (V,))
    value[0] = x[1]
    return np.sum(y * y)


@pytest.mark.parametrize(
    "f",
    [
        given_twice, given_twice_forward, given_twice_in_a_list, captured_and_given,
        of_a_bound_method, written_before, written_before_and_after, descent_in_place,
        stored_in_a_variable, stored_in_containers, stored_in_an_object, raised, returned,
        returned_and_written,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_inside_reverse_mode(f):
    y, back = ad.pullback(f, X)
    assert y == pytest.approx(f(X))
    found = back(1.0)[1]
    steps = 1e-6 * np.eye(3)
    differences = [(f(X + step) - f(X - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(found, differences, rtol=1e-6)
    np.testing.assert_array_equal(back(1.0)[1], found)
    np.testing.assert_allclose(ad.jacobian_forward(f, X), found, rtol=1e-10)
