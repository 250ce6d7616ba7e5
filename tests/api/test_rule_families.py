"""`scalar_rule`, `linear_rule`, `not_implemented`, and the list of `rules`."""

import subprocess
import sys
from decimal import Decimal

import numpy as np
import pytest

import adjoint as ad

X = np.array([0.5, 1.0, 2.0])


def root(x):
    """Calculated in C: there is no derivative without a rule."""
    if isinstance(x, np.ndarray):
        return np.array([root(t) for t in x.ravel().tolist()]).reshape(x.shape)
    return float(Decimal(float(x)).sqrt())


def weighted(x, w):
    return np.frompyfunc(lambda a, b: a * b * b, 2, 1)(x, w).astype(float)[()]


ad.scalar_rule(root, lambda y, x: 0.5 / y)
ad.scalar_rule(weighted, lambda x, w: w * w, lambda x, w: 2 * x * w)


def test_a_scalar_rule_in_both_modes():
    ad.testing.check_rule(root, 2.0)
    ad.testing.check_rule(root, X)
    ad.testing.check_rule(weighted, X, 2.0)
    ad.testing.check_rule(weighted, np.outer(X, X), X)
    np.testing.assert_allclose(ad.grad(lambda x: np.sum(root(x)))(X), 0.5 / np.sqrt(X))
    assert ad.pushforward(root, (4.0,), (1.0,)) == (2.0, 0.25)


@pytest.mark.parametrize("tier", ["fast", "generic"])
def test_a_scalar_rule_in_both_tiers_and_twice(tier):
    def f(x):
        return np.sum(weighted(root(x), x) ** 2)

    np.testing.assert_allclose(ad.grad(f, tier=tier)(X), 5 * X**4)
    np.testing.assert_allclose(ad.hessian(f, X), np.diag(20 * X**3))


def test_a_slope_of_zero():
    def product(x, w):
        return x * w

    ad.scalar_rule(product, lambda x, w: w, None)
    assert ad.gradient(product, 2.0, 3.0) == (3.0, 0.0)


def every_second(x, offset=0):
    return x[offset::2].copy()


def spread(y_bar, shape, offset=0):
    x_bar = np.zeros(shape)
    x_bar[offset::2] = y_bar
    return x_bar


ad.linear_rule(every_second, spread)


def test_a_linear_rule():
    x = np.arange(5.0)
    ad.testing.check_rule(every_second, x)
    ad.testing.check_rule(every_second, x, 1)
    ad.testing.check_rule(every_second, x, offset=1)
    found = ad.grad(lambda x: np.sum(every_second(x, offset=1) ** 2))(x)
    assert found.tolist() == [0.0, 2.0, 0.0, 6.0, 0.0]
    y, y_dot = ad.pushforward(every_second, (x,), (x * x,))
    assert y_dot.tolist() == [0.0, 4.0, 16.0]

    def wrong(x):
        return x[::2]

    ad.linear_rule(wrong, lambda y_bar, shape: y_bar, alias=True)
    with pytest.raises(ad.RuleError, match="gave a cotangent of shape"):
        ad.gradient(lambda x: np.sum(wrong(x)), x)


WRONG = {
    "no slopes": lambda: ad.scalar_rule(lambda x: x),
    "no slope": lambda: ad.scalar_rule(lambda x: x, "cos"),
    "another number of arguments": lambda: ad.scalar_rule(lambda x: x, lambda a, b: a),
    "no function": lambda: ad.scalar_rule(3.0, 1.0),
    "an operator": lambda: ad.scalar_rule(pow, 1.0, 1.0),
    "no transpose": lambda: ad.linear_rule(lambda x: x, 3.0),
    "a transpose without a shape": lambda: ad.linear_rule(lambda x: x, lambda y_bar: y_bar),
    "no function that is linear": lambda: ad.linear_rule(3.0, lambda y_bar, shape: y_bar),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_call_is_an_argument_error(name):
    with pytest.raises(ad.ArgumentError):
        WRONG[name]()


# ---- missing derivatives -------------------------------------------------------------------------


def power_sum(x, n):
    return np.sum(x**n)


@ad.rrule.register(power_sum)
def _(x, n):
    def power_sum_back(y_bar):
        return None, y_bar * n * x ** (n - 1), ad.not_implemented("the order")

    return power_sum(x, n), power_sum_back


def order_of(x, n):
    return x * n


ad.scalar_rule(order_of, lambda x, n: n, ad.not_implemented("the order"))


def listed(xs, n):
    return xs[0] * n


@ad.rrule.register(listed)
def _(xs, n):
    return xs[0] * n, lambda y_bar: (None, ad.not_implemented("the order"), y_bar * xs[0])


NOT_NEEDED = [
    (lambda x: power_sum(x, 3.0), 3 * X**2),
    (lambda x: power_sum(x, len(x)), 3 * X**2),
    (lambda x: power_sum(x, ad.stop_gradient(x)[2]), 2 * X),
    (lambda x: np.sum(order_of(x, 2.0)), 2.0 + 0 * X),
    (lambda x: listed([2.0], np.sum(x)), 2.0 + 0 * X),
]
NEEDED = [
    lambda x: power_sum(X, x[0]),
    lambda x: power_sum(x, np.sum(x)),
    lambda x: np.sum(order_of(x, x)),
    lambda x: listed([x[0]], 2.0),
]


@pytest.mark.parametrize("tier", ["fast", "generic"])
def test_a_missing_derivative_costs_nothing_where_it_is_not_needed(tier):
    for f, expected in NOT_NEEDED:
        np.testing.assert_allclose(ad.grad(f, tier=tier)(X), expected)
        assert ad.directional(f, X, X) == pytest.approx(expected @ X)
        jacobian = ad.jacobian(ad.grad(f, tier=tier), X)
        np.testing.assert_allclose(jacobian, ad.jacobian_reverse(lambda x: ad.grad(f)(x), X))


@pytest.mark.parametrize("f", NEEDED)
def test_a_missing_derivative_that_is_needed_is_an_error(f):
    for of in (
        ad.grad(f, tier="fast"),
        ad.grad(f, tier="generic"),
        lambda x: ad.pullback(f, x)[1](1.0),
        lambda x: ad.pushforward(f, (x,), (x,)),
        lambda x: ad.linearize(f, x)[1](x),
        lambda x: ad.hessian(f, x),
        lambda x: ad.gradient(lambda z: np.sum(ad.gradient(f, z)[0]), x),
    ):
        with pytest.raises(ad.NoDerivativeError, match="not implemented: the order"):
            of(X)


def test_a_missing_tangent():
    def half(x):
        return x / 2

    @ad.frule.register(half)
    def _(dots, x):
        return x / 2, ad.not_implemented("the half")

    with pytest.raises(ad.NoDerivativeError, match="the half"):
        ad.pushforward(half, (1.0,), (1.0,))


# ---- the list ------------------------------------------------------------------------------------


def test_the_list_of_rules():
    found = ad.rules("numpy.linalg")
    assert {one.name for one in found} >= {"numpy.linalg.inv", "numpy.linalg.solve"}
    assert all(one.package == "numpy" and one.kinds for one in found)
    text = str(found)
    assert text.startswith(f"numpy: {len(found)} functions\n  numpy.linalg.")
    own = ad.rules(f"{__name__}.root")
    assert [one.kinds for one in own] == [("reverse", "forward")]
    (mine,) = [one for one in ad.rules("power_sum") if one.name.startswith(__name__)]
    assert mine.by_user and mine.kinds == ("reverse",)
    assert str(ad.rules("nothing at all")) == "no rules"
    everything = ad.rules()
    assert len(everything) > 1500 and not any(one.package == "adjoint" for one in everything)
    assert [*everything] == sorted(everything, key=lambda one: one.name)
    assert {"numpy", "builtins", "math"} <= set(everything.by_package())


def test_the_list_as_html_is_escaped():
    text = ad.rules("_rule_families")._repr_html_()
    assert "<script" not in text and "&lt;locals&gt;" in text


def test_rules_of_a_package_that_is_not_imported():
    code = (
        "import adjoint as ad, sys; assert 'scipy' not in sys.modules;"
        "print(len(ad.rules('scipy.special')) > 20, len(ad.rules('numpy.fft')) > 5)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True"]


def test_a_slope_of_one_value_called_y_is_refused():
    """It might be the result, or an argument of that name."""
    with pytest.raises(ad.ArgumentError, match="called 'y'"):
        ad.scalar_rule(lambda y: float(str(y)), lambda y: -3 * y**2)
