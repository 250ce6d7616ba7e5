"""`check_gradient` in all modes: what it finds, and how it says it."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.errors import ArgumentError
from adjoint.testing import NotCheckedWarning, check_gradient


class Model:
    def __init__(self):
        self.weights, self.parts, self.name = np.array([1.0, 2.0]), {"a": (1.0, [2.0])}, "model"

    def __call__(self, x):
        return np.tanh(self.weights * x) * self.parts["a"][1][0] ** 2


def test_right_ones_pass():
    check_gradient(lambda x: x**3, 2.0)
    check_gradient(lambda x: x**3, 2)
    check_gradient(lambda x, n: x**n, 2.0, 3)
    check_gradient(lambda x: np.sin(x) * x, np.array([1.0, 2.0], np.float32))
    check_gradient(lambda m, x: {"y": m(x)}, Model(), np.array([0.5, -1.0]))
    check_gradient(lambda x, *, k: np.outer(x, x) * k, np.ones(3), k=2.0, modes=("forward",))
    check_gradient(lambda x: x * 1j, np.ones(2))
    check_gradient(lambda z, w: [np.abs(z * w), z * z / w], 1 + 2j, np.array([0.5j, 2.0 - 1j]))
    x = np.array([1.0, 2.0])
    check_gradient(lambda a, b: a * a * b, x, x)


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
    check_gradient(cubic(1.0, True), X)
    check_gradient(cubic(5.0, True), X, modes="reverse")
    with pytest.raises(AssertionError, match=r"^forward mode: .* argument 0\[1\] is .*off by"):
        check_gradient(cubic(5.0, True), X)
    with pytest.raises(AssertionError, match=r"^second order, .* reverse.* argument 0\[\d\] is"):
        check_gradient(cubic(1.0, False), X, modes="second")
    check_gradient(cubic(1.0, False), X, modes="forward")
    with pytest.raises(AssertionError, match=r"forward mode: .* argument 0\['a'\]\[1\]\[1\] is"):
        check_gradient(lambda p: cubic(5.0, True)(p["a"][1]), {"a": (1.0, X)}, modes="forward")


def test_what_is_checked_is_said():
    checked = check_gradient(np.sin, 1.0)
    assert len(checked.right) == 6 and not checked.refused
    assert repr(check_gradient(np.sin, 1.0, modes="reverse")) == "checked: reverse mode"


def test_the_entry_that_is_off_is_named():
    def f(rule_of_first, x):
        return rule_of_first(x["w"]) * x["z"]

    wrong = np.ones(7)
    wrong[4] = 1.5

    def sine(x):
        return np.sin(x)

    @ad.rrule.register(sine)
    def _(x):
        return sine(x), lambda bar: (None, bar * np.cos(x) * wrong)

    x = {"w": np.linspace(0.1, 0.9, 7), "z": 2.0 + 1j}
    with pytest.raises(AssertionError, match=r"^reverse mode: .* argument 0\['w'\]\[4\] .*off by"):
        check_gradient(lambda x: f(sine, x), x)

    @ad.frule.register(np_cosh)
    def _(dots, z):
        return np_cosh(z), np.sinh(z) * dots[0].real

    @ad.rrule.register(np_cosh)
    def _(z):
        return np_cosh(z), lambda bar: (None, bar * np.conj(np.sinh(z)))

    with pytest.raises(AssertionError, match=r"^forward mode: .* argument 1\.imag is .*off by"):
        check_gradient(lambda x, z: x * np_cosh(z), 0.5, 0.3 + 0.4j)


def np_cosh(z):
    return np.cosh(z)


def test_functions_that_change_what_they_are_given():
    def f(x, log):
        log.append(1)
        x["w"][0] = x["w"][1] ** 2
        return np.sum(x["w"] ** 3) * len(log)

    check_gradient(f, {"w": np.array([1.0, 2.0])}, [])


def test_steps_that_lead_out_of_the_domain():
    check_gradient(lambda x: np.sqrt(x).sum(), np.array([1e-2, 1.0]))
    check_gradient(np.log, 1e-3)


def test_one_entry_of_a_large_array():
    def square(x):
        return x * x

    @ad.rrule.register(square)
    def _(x):
        factor = np.where(np.arange(x.size).reshape(x.shape) == 1234, 1.001, 1.0)
        return square(x), lambda bar: (None, 2 * x * bar * factor)

    with pytest.raises(AssertionError, match=r"argument 0\[24, 34\] is .*off by"):
        check_gradient(square, np.linspace(1.0, 2.0, 2000).reshape(40, 50))
    check_gradient(lambda x: x * x, np.linspace(1.0, 2.0, 2000).reshape(40, 50))
    check_gradient(lambda z: np.abs(z) ** 2, np.linspace(1.0, 2.0, 60) * (1 + 2j))
    check_gradient(np.sin, np.zeros(0))


def smirnov(x):
    return pytest.importorskip("scipy.special").smirnov(5, x)


def test_what_is_refused_is_said():
    with pytest.warns(NotCheckedWarning, match="smirnov.*not checked: second order, .*NoDeriv"):
        checked = check_gradient(smirnov, 0.3)
    assert checked.right == ["reverse mode", "forward mode"] and len(checked.refused) == 4
    assert "closed form" in repr(checked)
    assert check_gradient(smirnov, 0.3, modes="reverse").right == ["reverse mode"]
    with pytest.raises(ad.errors.NoDerivativeError, match="closed form"):
        check_gradient(smirnov, 0.3, modes="all")


def test_refused():
    with pytest.raises(ArgumentError, match="modes is 'third'"):
        check_gradient(np.sin, 1.0, modes="third")
