"""Arguments in which a function has no derivative in closed form: needing it is an error."""

import numpy as np
import pytest
from scipy import special, stats

import adjoint as ad
from adjoint.errors import NoDerivativeError
from adjoint.rulekit.families import NoDerivative, elementwise
from adjoint.rulekit.refusal import refused_zeros
from adjoint.rulekit.registry import frule, rrule
from adjoint.testing import check_rule
from tests.levels import NESTINGS
from tests.rules.harness import table


def bump(v, x):
    """Stands for a function of an order and an argument."""
    return x**v


elementwise(bump, NoDerivative("the order"), lambda y, v, x: v * x ** (v - 1), singular=True)

MESSAGE = "a derivative of 'bump' in the order is needed, which has no closed form"


ORDER = NoDerivative("the order")
CASES = {refused_zeros: [(bump, ORDER, np.zeros(2), np.ones(2)), (bump, ORDER, 0.0, 1.0)]}
test_rule = table(CASES)


def test_the_other_arguments_have_their_derivative():
    check_rule(bump, 3.0, np.array([1.0, 2.0]))
    check_rule(bump, np.array([[1.0], [2.0]]), [1.0, 2.0])
    assert ad.gradient(lambda x: bump(3, x), 2.0) == (12.0,)


def test_an_order_that_is_only_used_costs_nothing():
    def total(x, orders):
        result = 0.0
        for n in range(3):
            result = result + bump(n, x)
        for n in orders:
            result = result + bump(ad.stop_gradient(n), x)
        return result

    assert ad.gradient(lambda x: total(x, [1.0, 2]), 2.0) == (10.0,)
    assert ad.gradient(total, 2.0, [1.0, 2])[0] == 10.0


@pytest.mark.parametrize(
    "order", [2.0, 2, np.float64(2), np.array([1.0, 2.0]), np.array([1, 2]), [1.0, 2.0], (1, 2.0)]
)
def test_needing_it_is_refused_at_the_users_line(order):
    point = 1.5 if not isinstance(order, list | tuple) else np.array([1.5, 1.0])
    with pytest.raises(NoDerivativeError, match=MESSAGE) as caught:
        ad.gradient(lambda v: np.sum(bump(v * 1 if np.ndim(v) == 0 else v, point)), order)
    assert "bump(v" in str(caught.value) and "ad.stop_gradient" in str(caught.value)


def test_a_zero_cotangent_asks_for_nothing():
    value = ad.gradient(lambda v: np.where([True, False], bump(v, 2.0) * 0.0, v).sum(), np.ones(2))
    np.testing.assert_array_equal(value[0], [0.0, 1.0])
    assert rrule(bump, 2.0, 3.0)[1](0.0)[1] is None


def test_forward():
    assert frule(bump, (None, 1.0), 2.0, 3.0) == (9.0, 6.0)
    assert frule(bump, (0.0, 1.0), 2.0, 3.0) == (9.0, 6.0)
    with pytest.raises(NoDerivativeError, match=MESSAGE):
        frule(bump, (1.0, None), 2.0, 3.0)


@pytest.mark.parametrize("nesting", NESTINGS)
@pytest.mark.parametrize("f", [lambda x: bump(x * x + 1.0, 2.0), lambda x: x * bump(x + 1.0, 2.0)])
def test_a_zero_that_an_outer_derivative_moves_asks_for_it(f, nesting):
    """Of 2^(x² + 1) the slope in the order is not asked for at 0, but its second derivative is."""
    outer, inner = (getattr(ad, OF[mode]) for mode in nesting.split("_over_"))
    assert (f(1e-3) - 2.0 * f(0.0) + f(-1e-3)) / 1e-6 == pytest.approx(4.0 * np.log(2.0), rel=1e-3)
    with pytest.raises(NoDerivativeError, match=MESSAGE):
        outer(inner(f))(0.0)


OF = {"forward": "derivative", "reverse": "grad"}


class Power:
    """Holds an order."""

    def __init__(self, order):
        self.order = order

    def __call__(self, x):
        return bump(self.order, x)


def test_integers_that_something_holds_are_counts():
    """Only an argument itself is taken for a real number: its derivative was asked for."""
    order = 3
    assert ad.pullback(lambda x: bump(order, x), 2.0)[1](1.0)[1] == 12.0
    assert ad.pullback(Power(3), 2.0)[1](1.0) == (None, 12.0)
    assert ad.gradient(lambda power, x: power(x), Power(3), 2.0)[1] == 12.0
    assert ad.gradient(lambda orders, x: bump(orders[0], x), [3], 2.0)[1] == 12.0
    order = 3.0
    with pytest.raises(NoDerivativeError, match=MESSAGE):
        ad.pullback(lambda x: bump(order, x), 2.0)[1](1.0)
    assert ad.gradient(lambda x: bump(order, x), 2.0) == (12.0,)  # nothing is asked of `order`


# ---- a constant order in an array of which other elements are differentiated ---------------------


def overwritten(v):
    p = np.zeros(3)
    p[:2], p[2] = v, 4.0
    return p


PACKED = {
    "append": lambda v: np.append(v, 4.0),
    "display": lambda v: np.array([v[0], v[1], 4.0]),
    "concatenate": lambda v: np.concatenate([v, [4.0]]),
    "stack": lambda v: np.stack([v[0], v[1], 4.0]),
    "row": lambda v: np.array([[v[0], v[1], 4.0], [1.0, 2.0, 3.0]])[0],
    "writes": overwritten,
}
ORDERS = {
    "element": lambda p: special.struve(p[2], p[0]) * p[1],
    "slice": lambda p: special.struve(p[2:], p[:2]).sum(),
    "places": lambda p: special.struve(p[[2, 2]], p[:2]).sum(),
    "unpacked": lambda p: gamma_of(*p),
    "distribution": lambda p: stats.ncx2.ppf(0.7, p[2], 1.0, p[0], p[1]),
}


@pytest.mark.parametrize("nesting", NESTINGS)
@pytest.mark.parametrize("pack", PACKED.values(), ids=PACKED)
def test_a_constant_order_beside_what_moves_faster(pack, nesting):
    """The tangent of the order is a zero in an array of which the others depend on the point."""

    def f(x):
        return ORDERS["element"](pack(np.stack([x * x, x])))

    outer, inner = (getattr(ad, OF[mode]) for mode in nesting.split("_over_"))
    x, h = 0.8, 1e-4
    curvature = (f(x + h) - 2.0 * f(x) + f(x - h)) / h**2
    np.testing.assert_allclose(outer(inner(f))(x), curvature, rtol=1e-6)


def gamma_of(a, b, order):
    return special.chndtr(a, order, 1.0) * b


@pytest.mark.parametrize("pack", PACKED.values(), ids=PACKED)
@pytest.mark.parametrize("use", ORDERS.values(), ids=ORDERS)
def test_a_constant_order_among_what_is_differentiated(pack, use):
    def f(v):
        return use(pack(v))

    v, h = np.array([0.7, 1.3]), 1e-6
    slopes = np.array([f(v + h * e) - f(v - h * e) for e in np.eye(2)]) / (2 * h)
    for found in (
        ad.grad(f)(v),
        ad.grad(f, tier="generic")(v),
        ad.jacobian_forward(f, v),
    ):
        np.testing.assert_allclose(found, slopes, rtol=1e-6, atol=1e-9)
    curvature = np.array([ad.grad(f)(v + h * e) - ad.grad(f)(v - h * e) for e in np.eye(2)])
    np.testing.assert_allclose(ad.hessian(f, v), curvature / (2 * h), rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize(
    "order",
    [
        lambda p: p[0],
        lambda p: p[0] * 2 + 1,
        lambda p: p @ np.ones(3),
        lambda p: p[:2].sum(),
        lambda p: p.max() * p[1],
    ],
)
@pytest.mark.parametrize("over", [ad.gradient, ad.hessian, ad.jacobian_forward])
@pytest.mark.parametrize("pack", PACKED.values(), ids=PACKED)
def test_an_order_that_is_differentiated_there_is_refused(pack, over, order):
    with pytest.raises(NoDerivativeError, match="of 'struve' in the order is needed"):
        over(lambda v: special.struve(order(pack(v)), 1.5), np.array([0.7, 1.3]))
