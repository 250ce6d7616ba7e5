"""`check_gradient` in all modes: what it finds, and how it says it."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.errors import ArgumentError
from adjoint.testing import check_gradient


class Model:
    def __init__(self):
        self.weights, self.parts, self.name = np.array([1.0, 2.0]), {"a": (1.0, [2.0])}, "model"

    def __call__(self, x):
        return np.tanh(self.weights * x) * self.parts["a"][1][0] ** 2


def test_right_ones_pass():
    check_gradient(lambda x: x**3, 2.0, modes="all")
    check_gradient(lambda x: x**3, 2, modes="all")
    check_gradient(lambda x, n: x**n, 2.0, 3, modes="all")
    check_gradient(lambda x: np.sin(x) * x, np.array([1.0, 2.0], np.float32), modes="all")
    check_gradient(lambda m, x: {"y": m(x)}, Model(), np.array([0.5, -1.0]), modes="all")
    check_gradient(lambda x, *, k: np.outer(x, x) * k, np.ones(3), k=2.0, modes=("forward",))
    check_gradient(lambda x: x * 1j, np.ones(2), modes="all")
    x = np.array([1.0, 2.0])
    check_gradient(lambda a, b: a * a * b, x, x, modes="all")


def cubic(forward, second):
    """y = x³ with rules of which one may be wrong."""

    def cube(x):
        return x * x * x

    @ad.rrule.register(cube)
    def _(x):
        slope = 3.0 * x * x if second else ad.stop_gradient(3.0 * x * x)
        return cube(x), lambda bar: (None, bar * slope)

    @ad.frule.register(cube)
    def _(dots, x):
        factor = np.where(np.arange(3) == 1, forward, 1.0)
        return cube(x), 3.0 * x * x * dots[0] * factor

    return cube


X = np.array([1.0, 2.0, -1.0])


def test_the_mode_that_is_wrong_is_named():
    check_gradient(cubic(1.0, True), X, modes="all")
    check_gradient(cubic(5.0, True), X)  # reverse mode alone
    with pytest.raises(AssertionError, match=r"^forward mode: .* argument 0\[1\] is .*off by"):
        check_gradient(cubic(5.0, True), X, modes="all")
    with pytest.raises(AssertionError, match=r"^second order, .* reverse.* argument 0\[\d\] is"):
        check_gradient(cubic(1.0, False), X, modes="second")
    check_gradient(cubic(1.0, False), X, modes="forward")
    with pytest.raises(AssertionError, match=r"forward mode: .* argument 0\['a'\]\[1\]\[1\] is"):
        check_gradient(lambda p: cubic(5.0, True)(p["a"][1]), {"a": (1.0, X)}, modes="forward")


def test_refused():
    with pytest.raises(ArgumentError, match="modes is 'third'"):
        check_gradient(np.sin, 1.0, modes="third")
    with pytest.raises(ArgumentError, match="complex"):
        check_gradient(lambda z: z * z, 1j, modes="all")
