"""Pullbacks and linear maps that were made outside, called in differentiated code: they are linear
and constant, in every nesting and by both tiers."""

from __future__ import annotations

from collections import namedtuple
from functools import partial

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.programs import store as tier

POINT = np.array([0.3, -0.7, 1.1])
MATRIX = ad.jacobian(lambda z: np.sin(z) * z[0], POINT)
Pair = namedtuple("Pair", "first second")


class Model:
    def __init__(self):
        self.w = np.array([1.0, 2.0, 3.0])

    def __call__(self, x):
        return self.w * np.sin(x)


@pytest.fixture(params=[True, False], ids=["fast", "generic"])
def _tier(request):
    before, tier.is_enabled[0] = tier.is_enabled[0], request.param
    yield
    tier.is_enabled[0] = before


def agrees(f, gradient, x):
    """Derivatives of first and second order against those of the same function without a
    pullback in it."""
    np.testing.assert_allclose(ad.gradient(f, x)[0], gradient(x), rtol=1e-12)
    v = np.cos(np.arange(np.size(x))).reshape(np.shape(x))
    np.testing.assert_allclose(
        ad.pushforward(f, (x,), (v,))[1], np.sum(gradient(x) * v), rtol=1e-12
    )
    second = ad.jacobian(gradient, x)
    for found in (ad.hessian(f, x), ad.hessian(f, x, mode="forward"), ad.jacobian(ad.grad(f), x)):
        np.testing.assert_allclose(found, second, rtol=1e-12)


@pytest.mark.usefixtures("_tier")
def test_pullback_of_an_array():
    _, back = ad.pullback(lambda z: np.sin(z) * z[0], POINT)
    agrees(
        lambda v: np.sum(back(v * v)[1] ** 2),
        lambda v: 4.0 * v * (MATRIX @ (MATRIX.T @ (v * v))),
        np.array([1.0, 2.0, -0.5]),
    )


@pytest.mark.usefixtures("_tier")
def test_pullback_of_a_number():
    _, back = ad.pullback(lambda z: np.sum(np.sin(z)), POINT)
    norm = np.sum(np.cos(POINT) ** 2)
    agrees(lambda k: np.sum(back(k)[1] ** 2), lambda k: 2.0 * k * norm, 0.7)


@pytest.mark.usefixtures("_tier")
def test_pullback_of_an_object():
    model = Model()
    _, back = ad.pullback(model, POINT)
    slopes = np.sin(POINT) * np.cos(POINT) * model.w
    agrees(
        lambda v: np.sum(back(v)[0].w * back(v)[1] * v),
        lambda v: 3.0 * v * v * slopes,
        np.array([1.0, 2.0, -0.5]),
    )


@pytest.mark.usefixtures("_tier")
def test_pullback_of_structures():
    def f(z, w):
        return {"a": np.sin(z) * z[0], "b": Pair(w * w * z[1], 7)}

    _, back = ad.pullback(f, POINT, 0.5)

    def through(v):
        _, z_bar, w_bar = back({"a": v, "b": Pair(v[1], None)})
        return np.sum(z_bar**2) * w_bar

    def by_hand(v):
        z_bar = MATRIX.T @ v + v[1] * np.array([0.0, 0.25, 0.0])
        return np.sum(z_bar**2) * v[1] * POINT[1]

    agrees(through, ad.grad(by_hand), np.array([1.0, 2.0, -0.5]))


def test_parts_without_a_cotangent():
    _, back = ad.pullback(lambda z, w: {"a": np.sin(z), "b": w * w}, POINT, 0.5)
    assert ad.gradient(lambda k: back({"a": None, "b": k})[2], 2.0) == (1.0,)
    assert ad.gradient(lambda k: back({"b": k})[2], 2.0) == (1.0,)
    bar = back({"b": 2.0})[1]
    assert bar is None or not np.any(bar)


def test_complex_numbers():
    _, back = ad.pullback(lambda z: z * z, 1 + 2j)
    found = ad.gradient(lambda a: abs(back(a * (1 + 1j))[1]) ** 2, 0.4)[0]
    np.testing.assert_allclose(found, 2 * 0.4 * abs((1 + 1j) * 2 * (1 + 2j)) ** 2, rtol=1e-12)


def test_precision_is_that_of_the_arguments():
    _, back = ad.pullback(np.sin, POINT.astype(np.float32))
    one = np.ones(3, np.float32)
    y, y_dot = ad.pushforward(lambda v: back(v)[1], (one,), (one,))
    assert y.dtype == y_dot.dtype == np.float32
    np.testing.assert_array_equal(y_dot, y)


def test_workspaces_are_as_they_were():
    workspace = np.zeros(3)

    def f(z):
        workspace[:] = z
        workspace[0] *= workspace[1]
        return workspace * workspace

    _, back = ad.pullback(f, POINT)
    kept, matrix = workspace.copy(), np.stack([back(e)[1] for e in np.eye(3)])
    found = ad.jacobian(lambda v: back(v)[1], POINT)
    np.testing.assert_allclose(found, matrix.T, rtol=1e-12)
    np.testing.assert_array_equal(workspace, kept)


def test_made_inside_and_called_deeper():
    def f(x, op):
        y, back = ad.pullback(lambda z: np.sin(z) * x * z[0], x * 2.0)
        return np.sum(op(lambda v: np.sum(back(v)[1] ** 2 * v))(y) * x)

    by_columns = partial(ad.jacobian, mode="forward")
    plain = f(POINT, ad.grad)
    np.testing.assert_allclose(f(POINT, lambda g: partial(by_columns, g)), plain, rtol=1e-12)
    slope = ad.gradient(f, POINT, ad.grad)[0]
    step = 1e-6 * np.cos(POINT)
    change = (f(POINT + step, ad.grad) - f(POINT - step, ad.grad)) / 2e-6
    np.testing.assert_allclose(np.sum(slope * np.cos(POINT)), change, rtol=1e-7)


@pytest.mark.parametrize("where", ["outside", "inside"])
def test_lists_in_place_of_arrays(where):
    def maps(scale):
        _, push = ad.linearize(lambda z: np.sin(z) * z[0] * scale, POINT)
        _, back = ad.pullback(lambda z: np.sin(z) * z[0] * scale, POINT)
        return push, back

    made = maps(1.0)

    def f(a):
        push, back = made if where == "outside" else maps(1.0 * (a / a))
        return np.sum(push([a, 1.0, 2.0]) ** 2) + np.sum(back([a, 1.0, 2.0])[1] ** 2)

    def by_hand(a):
        v = np.array([a, 1.0, 2.0])
        return np.sum((MATRIX @ v) ** 2) + np.sum((MATRIX.T @ v) ** 2)

    expected = ad.gradient(by_hand, 0.3)[0]
    np.testing.assert_allclose(ad.gradient(f, 0.3)[0], expected, rtol=1e-12)
    np.testing.assert_allclose(ad.derivative(f)(0.3), expected, rtol=1e-12)
