"""Lists and tuples of numbers where NumPy makes arrays of them, in both tiers."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.programs import store as tier
from tests.fast.agreeing import generic_tier

X = 1.0 + 0.1 * np.arange(4)
WHERE = np.array([True, False, True])


def as_operands():
    return [
        lambda x: (x[:2] * [x[0], x[2]]).sum(),
        lambda x: ([x[0], x[2]] - x[:2]) @ x[:2],
        lambda x: (x[:2] ** (x[0], 2.0)).sum(),
        lambda x: (x[:2] / [[x[0], x[2]], [1.0, 2.0]]).sum(),
        lambda x: x[:2] @ [x[1], 2.0],
        lambda x: ((1.0, 2.0) * x[:2]).sum(),
        lambda x: [x[0], x[2]] @ x[:2],
        lambda x: (x[:2] * [x[0]]).sum(),
        lambda x: (x[:2] > [x[0], 0.0]).sum() * x[0],
        lambda x: (x[:2] % [x[0], 0.7]).sum() * x[0],
    ]


def as_arguments():
    return [
        lambda x: np.broadcast_to([x[0], 2 * x[1], 3.0], (3, 3)).sum(),
        lambda x: np.reshape([x[0], x[1] * 2, 3.0, x[0]], (2, 2))[0].sum(),
        lambda x: np.ravel([[x[0]], [x[1] * x[2]]]) @ x[:2],
        lambda x: np.transpose([[x[0], x[1]], [1.0, x[3]]])[1] @ x[:2],
        lambda x: np.where(WHERE, [x[0], x[1] * 2, 3.0], 1.0).sum(),
        lambda x: (np.where(WHERE, [x[0], x[1], 3.0], [1.0, x[0], x[1]]) ** 2).sum(),
        lambda x: np.maximum([x[0], x[1] * x[2]], x[:2]).sum(),
        lambda x: np.tile([x[0], x[1]], (2, 2))[0].sum(),
        lambda x: np.linalg.norm([x[0], x[2]]),
        lambda x: np.matmul([[x[0], x[2]], [x[1], x[1]]], x[:2]).sum(),
        lambda x: np.concatenate([[x[0], x[2]], x]).sum(),
        lambda x: np.concatenate([[1.0, 2.0], x])[3] ** 2,
        lambda x: np.stack([[x[0], x[2]], [x[1], 1.0]])[0, 1],
        lambda x: np.outer([x[0], x[2]], [x[0], 1.0]).sum(),
        lambda x: x[np.ndim([[x[0]], [x[1]]])] * np.shape([x, x])[1] * np.size([x[0], 1.0]),
        lambda x: np.polyadd([x[0]], [x[2], 1.0]) @ x[:2] * np.polyder([x[0], x[1], 2.0])[0],
        lambda x: x.item(1) * x.reshape(2, 2).item(1, 0) * x[:1].item() * x.reshape(2, 2).item(3),
    ]


def scaled(x):
    y = x.copy()
    y[:2] *= [x[0], 2.0]
    return (y * y).sum()


def added(x):
    y = x.copy()
    y += [1.0, x[0], x[1], 2]
    return (y * y).sum()


def put(x):
    y = np.zeros((2, 2))
    y[0], y[1] = [x[0], x[1]], (x[2], 1)
    y[:, 0] += [x[3], 1.0]
    return (y @ y).sum()


def rows_in_a_loop(x):
    y = np.zeros((3, 2))
    for i in range(3):
        y[i] = [x[i], x[i] * x[i + 1]]
        y[i] /= (2, x[0])
    return (y * y).sum()


def motion(x):
    y = np.zeros((101, 2))
    y[0] = [1.0, x[1]]
    for i in range(100):
        y[i + 1] = y[i] + 0.01 * np.array([y[i][1], -x[0] * y[i][0]])
    return (y * [1.0, 2.0]).sum()


@pytest.mark.parametrize(
    "f", [*as_operands(), *as_arguments(), scaled, added, put, rows_in_a_loop, motion]
)
def test_both_tiers(f):
    assert ad.tier(f, X).tier == "fast"
    value, bars = ad.withgradient(f, X)
    with generic_tier():
        expected = ad.withgradient(f, X)
    np.testing.assert_allclose(value, expected[0], rtol=1e-13)
    np.testing.assert_allclose(bars, expected[1], rtol=1e-12, atol=1e-13)


def test_sizes_that_a_call_needs_are_known():
    """A program is made for one size where a call takes no other."""

    def reshaped(x):
        return (x.reshape(2, 3).T @ x.reshape(2, 3)).sum()

    def broadcast(x):
        return np.broadcast_to(x, (3, 6)).sum()

    def between(x):
        return np.interp(0.7, [0.0, 1.0, 2.0], x[:3])

    x = np.linspace(0.5, 1.5, 6)
    for f in (reshaped, broadcast, between):
        assert ad.tier(f, x).tier == "fast"
        expected = ad.jacobian_forward(f, x)
        np.testing.assert_allclose(ad.gradient(f, x)[0], expected, rtol=1e-13)
    with pytest.raises(ValueError, match="reshape"):
        ad.gradient(reshaped, x[:4])
    assert tier.is_strict[0]


def test_an_array_that_is_read_as_a_list_several_times():
    def f(weights, xs):
        return np.sum(np.array([ad.evalpoly(float(x), weights) for x in xs]) * xs)

    weights, xs = np.array([3.0, 2.0, -3.0, 1.0]), np.array([1.0, 2.0, 3.0, 4.0])
    assert ad.tier(f, weights, xs).tier == "fast"
    expected = np.array([np.sum(xs ** (k + 1)) for k in range(4)])
    np.testing.assert_allclose(ad.gradient(f, weights, xs)[0], expected)
