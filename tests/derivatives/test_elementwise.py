"""`adjoint.derivative` at an array: element by element, or refused."""

import numpy as np
import pytest

import adjoint as ad

X = np.array([0.3, -1.2, 0.8, 2.5])

ELEMENTWISE = {
    "ufunc": np.tanh,
    "arithmetic": lambda x: 3.0 * x**2 / (1.0 + x * x) - x,
    "branches": lambda x: np.where(x > 0, np.sqrt(np.abs(x)), np.exp(x)),
    "a sum of one axis of one": lambda x: np.sum(x[:, None] ** 3, axis=1),
    "a loop": lambda x: np.array([t * t * t for t in x]),
    "written": lambda x: _written(x),
    "constant": lambda x: np.ones(4),
}

MIXED = {
    "cumsum": np.cumsum,
    "reversed": lambda x: x[::-1],
    "shifted": lambda x: np.roll(x, 1),
    "normalised": lambda x: x / np.sum(x),
    "hardly": lambda x: x + 1e-9 * x[0],
    "one element": lambda x: np.where(np.arange(4) == 3, x[0], x),
}


def _written(x):
    y = np.zeros(x.shape)
    y[:] = x * x
    y *= x
    return y


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_it_is_the_diagonal_of_the_jacobian(name):
    f = ELEMENTWISE[name]
    found = ad.derivative(f)(X)
    np.testing.assert_allclose(found, np.diag(ad.jacobian(f, X)), rtol=1e-13)
    h = 1e-6
    np.testing.assert_allclose(found, (f(X + h) - f(X - h)) / (2 * h), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", MIXED)
def test_what_mixes_elements_is_refused(name):
    with pytest.raises(ad.ArgumentError, match="not elementwise"):
        ad.derivative(MIXED[name])(X)


@pytest.mark.parametrize("distance", [1, 60, 61, 122])
def test_elements_far_apart(distance):
    with pytest.raises(ad.ArgumentError, match="not elementwise"):
        ad.derivative(lambda x: x * np.roll(x, distance))(np.linspace(1.0, 2.0, 300))


def test_shapes_dtypes_and_other_arguments():
    single = ad.derivative(np.sin)(X.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_array_equal(single, np.cos(X.astype(np.float32)))
    np.testing.assert_array_equal(ad.derivative(np.square)(np.arange(4)), 2.0 * np.arange(4))
    square = X.reshape(2, 2)
    np.testing.assert_array_equal(ad.derivative(np.square)(square), 2 * square)
    np.testing.assert_array_equal(ad.derivative(lambda x, w: x * w)(X, 2 * X), 2 * X)
    assert ad.derivative(np.square)(np.zeros((0, 3))).shape == (0, 3)
    assert ad.derivative(np.tanh)(0.0) == 1.0
    for f in (np.sum, lambda x: np.outer(x, x), lambda x: (x, x)):
        with pytest.raises(ad.ArgumentError, match="shape"):
            ad.derivative(f)(X)
    for x in (X + 1j, 1j, [1.0, 2.0], np.array([None, 1.0]), "text"):
        with pytest.raises(ad.ArgumentError):
            ad.derivative(np.square)(x)


def test_poles_are_those_of_the_function():
    with np.errstate(all="ignore"):
        found = ad.derivative(np.sqrt)(np.array([0.0, 1.0, -1.0]))
    np.testing.assert_array_equal(found, [np.inf, 0.5, np.nan])


def test_higher_derivatives():
    second = ad.derivative(ad.derivative(np.sin))(X)
    np.testing.assert_allclose(second, -np.sin(X), rtol=1e-13)
    slope = ad.gradient(lambda x: np.sum(ad.derivative(np.sin)(x) ** 2), X)[0]
    np.testing.assert_allclose(slope, -2 * np.cos(X) * np.sin(X), rtol=1e-13)
