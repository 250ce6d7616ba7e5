"""`adjoint.testing`: what the checks find, and how they say it."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.testing import check_gradient, check_rule


class Model:
    def __init__(self):
        self.weights = np.array([1.0, 2.0])
        self.scales = {"a": 3.0, "b": (1.0, [2.0])}
        self.name = "model"

    def __call__(self, x):
        return self.weights * x * self.scales["a"] + self.scales["b"][1][0] ** 2


def test_gradients_over_all_kinds_of_arguments():
    check_gradient(lambda x: x * x * x, 2.0)
    check_gradient(lambda x: x * x, 3)
    check_gradient(lambda x: x * (1 + 2j) * x, 1.0 - 2j)
    check_gradient(lambda x: np.sin(x) * x, np.array([1.0, 2.0], np.float32))
    check_gradient(lambda xs, **k: [x * k["scale"] for x in xs], [1.0, 2.0], scale=3.0)
    check_gradient(lambda model, x: model(x), Model(), np.array([0.5, -1.0]))
    check_gradient(lambda p: {"sum": p["a"] + p["b"]}, {"a": 1.0, "b": np.ones(2)})


def test_an_array_that_occurs_twice_moves_at_both_places():
    x = np.array([1.0, 2.0])
    check_gradient(lambda a, b: a * b, x, x)


def test_a_wrong_gradient_is_found():
    with pytest.raises(AssertionError, match=r"cotangent of argument 0\[1\] is .*, finite diff"):
        check_gradient(lambda x: ad.stop_gradient(x) * x, np.array([0.0, 2.0]))
    with pytest.raises(AssertionError, match=r"cotangent of argument 0\['a'\] is 0, finite"):
        check_gradient(lambda p: ad.stop_gradient(p["a"]) * p["b"], {"a": 1.0, "b": 2.0})
    with pytest.raises(AssertionError, match="nothing that has a derivative"):
        check_gradient(lambda x: "text", 1.0)


def ruled(rule, forward=None):
    """A function y = 2x with these rules."""

    def double(x):
        return 2 * x

    ad.rrule.register(double)(rule)
    if forward is not None:
        ad.frule.register(double)(forward)
    return double


X = np.array([1.0, 2.0])


def test_a_right_rule_passes():
    check_rule(ruled(lambda x: (2 * x, lambda b: (None, 2 * b)), lambda d, x: (2 * x, 2 * d[0])), X)


@pytest.mark.parametrize(
    "rule, message",
    [
        (lambda x: (2 * x, lambda b: (None, 3 * b)), r"argument 0\[0\] is"),
        (lambda x: (2 * x, lambda b: (None, None)), r"argument 0\[0\] is 0, finite"),
        (lambda x: (3 * x, lambda b: (None, 2 * b)), "result under the rule differs"),
        (lambda x: (2 * x, lambda b: (2 * b,)), "must return 2 cotangents"),
        (lambda x: (2 * x, lambda b: (None, np.sum(2 * b))), r"has shape \(\), not \(2,\)"),
        (lambda x: (2 * x, lambda b: (None, 2 * b.astype("f4"))), "is float32, not float64"),
        (lambda x: (2 * x, lambda b: (None, np.multiply(b, 2, out=b))), "y_bar after back differs"),
        (lambda x: (2 * np.add(x, 0, out=x), lambda b: (None, 2 * b)), None),
        (lambda x: (np.multiply(x, 2, out=x) + 0, lambda b: (None, 2 * b)), "arguments after"),
    ],
)
def test_a_wrong_rule_is_found(rule, message):
    if message is None:
        check_rule(ruled(rule), X.copy())
        return
    with pytest.raises(AssertionError, match=message):
        check_rule(ruled(rule), X.copy())


def test_a_pullback_that_works_once_is_found():
    def rule(x):
        factors = [2.0, 3.0]
        return 2 * x, lambda b: (None, factors.pop(0) * b)

    with pytest.raises(AssertionError, match="second call of back differs"):
        check_rule(ruled(rule), X)


def test_a_wrong_forward_rule_is_found():
    def rule(x):
        return 2 * x, lambda b: (None, 2 * b)

    with pytest.raises(AssertionError, match="forward rule disagrees"):
        check_rule(ruled(rule, lambda dots, x: (2 * x, 3 * dots[0])), X)
    with pytest.raises(AssertionError, match="tangent has shape"):
        check_rule(ruled(rule, lambda dots, x: (2 * x, np.sum(dots[0]))), X)


def test_a_missing_rule_is_said():
    def unruled(x):
        return x

    with pytest.raises(AssertionError, match="no rule of unruled is registered"):
        check_rule(unruled, 1.0)
