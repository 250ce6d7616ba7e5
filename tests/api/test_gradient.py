"""`gradient`, `withgradient`, `grad`, `value_and_grad`."""

import time
from collections import namedtuple
from typing import NamedTuple

import numpy as np
import pytest

import adjoint as ad
from tests.structures import difference

Pair = namedtuple("Pair", "a b")


def product(x, y, z=1.0):
    return x * y * z


def test_one_entry_per_positional_argument():
    assert ad.gradient(product, 2.0, 3.0) == (3.0, 2.0)
    assert ad.gradient(product, 2.0, 3.0, 4.0) == (12.0, 8.0, 6.0)
    assert ad.gradient(product, 2.0, 3.0, z=4.0) == (12.0, 8.0)
    assert ad.gradient(lambda: 1.0) == ()
    assert ad.gradient(lambda *xs: xs[0] * xs[2], 2.0, 3.0, 4.0) == (4.0, 0.0, 2.0)


NO_PATH = [
    (lambda x, y: x * x, (3.0, 4.0), (6.0, 0.0)),
    (lambda x, y: x, (1.0, np.ones(2)), (1.0, np.zeros(2))),
    (lambda x: 1.0, (3.0,), (0.0,)),
    (lambda x: 1.0, (np.ones(2, np.float32),), (np.zeros(2, np.float32),)),
    (lambda xs: xs[0] * 2, ([1.0, 2.0],), ([2.0, 0.0],)),
    (lambda xs: xs[0] * 2, ([1.0, 2.0, "a"],), ([2.0, 0.0, None],)),
    (lambda xs: 1.0, ([1.0, 2j],), ([0.0, 0j],)),
    (lambda x: x if x > 0 else 0, (-5.0,), (0.0,)),
    (lambda x: round(x) * 1.0, (2.7,), (0.0,)),
    (lambda x, n: x * 2.0, (1.0, 3), (2.0, 0.0)),
    (lambda x, d: d["a"][0] * x, (1.0, {"a": (2.0, 3.0), "b": np.ones(1)}),
     (2.0, {"a": (1.0, 0.0), "b": np.zeros(1)})),
    (lambda x, *others: x * 1.0, (1.0, "text", None, np.sin), (1.0, None, None, None)),
]  # fmt: skip


@pytest.mark.parametrize(("f", "args", "expected"), NO_PATH)
def test_zeros_stand_where_no_path_leads(f, args, expected):
    assert not difference(ad.gradient(f, *args), expected, rtol=0.0)
    assert not difference(ad.withgradient(f, *args).gradient, expected, rtol=0.0)
    assert not difference(ad.grad(f, None, tier="generic")(*args), _one_or_all(expected), rtol=0.0)
    assert not difference(ad.gradient(_beside_eval(f), *args), expected, rtol=0.0)


def _one_or_all(bars):
    return bars[0] if len(bars) == 1 else bars


def _beside_eval(f):
    def generic(*args):
        eval("0")  # no program runs it
        return f(*args)

    return generic


def test_zeros_stand_where_no_path_leads_inside_differentiated_code():
    def slopes(v):
        x_bar, y_bar = ad.gradient(lambda x, y: x[0] * v * v, [1.0, 2.0], np.ones(2))
        return x_bar[0] + x_bar[1] * v + (y_bar * v).sum()

    assert slopes(3.0) == 9.0
    assert ad.gradient(slopes, 3.0) == (6.0,)
    assert ad.pushforward(slopes, (3.0,), (1.0,)) == (9.0, 6.0)


def test_zeros_are_of_what_the_arguments_held_before():
    def emptied(xs, x):
        xs.clear()
        return x * x

    assert ad.gradient(emptied, [1.0, 2.0], 3.0) == ([0.0, 0.0], 6.0)


def test_a_path_of_zero_slope_is_zero():
    assert ad.gradient(lambda x: x * 0.0, 3.0) == (0.0,)
    assert ad.gradient(lambda x: (x - 3.0) ** 2, 3.0) == (0.0,)


def test_withgradient():
    result = ad.withgradient(product, 2.0, 3.0)
    value, gradient = result
    assert value == result.value == 6.0 and gradient == result.gradient == (3.0, 2.0)
    assert result._fields == ("value", "gradient")


# ---- the function form ---------------------------------------------------------------------------


def test_grad_of_one_argument():
    assert ad.grad(product)(2.0, 3.0) == 3.0
    assert ad.grad(product, 1)(2.0, 3.0) == 2.0
    assert ad.grad(product, -1)(2.0, 3.0, 4.0) == 6.0
    assert ad.grad(product, argnums=0)(2.0, 3.0, z=4.0) == 12.0


def test_grad_of_several_arguments():
    assert ad.grad(product, (0, 1))(2.0, 3.0) == (3.0, 2.0)
    assert ad.grad(product, (1, 0))(2.0, 3.0) == (2.0, 3.0)
    assert ad.grad(product, (1,))(2.0, 3.0) == (2.0,)
    assert ad.grad(product, (0, -1))(2.0, 3.0, 4.0) == (12.0, 6.0)
    assert ad.grad(product, ())(2.0, 3.0) == ()


def test_value_and_grad():
    assert ad.value_and_grad(product)(2.0, 3.0) == (6.0, 3.0)
    assert ad.value_and_grad(product, (0, 1))(2.0, 3.0, z=2.0) == (12.0, (6.0, 4.0))


def test_no_path_gives_zeros():
    assert ad.grad(lambda x: 1.0)(3.0) == 0.0
    assert ad.grad(lambda x, y: x, (0, 1))(3.0, 4.0) == (1.0, 0.0)
    for x, dtype in [
        (np.ones((2, 3)), np.float64),
        (np.ones(3, np.float32), np.float32),
        (np.ones(3, complex), np.complex128),
        (np.ones(3, int), np.float64),
        (np.array([True, False]), np.float64),
    ]:
        bar = ad.grad(lambda x: 1.0)(x)
        np.testing.assert_array_equal(bar, np.zeros(x.shape), strict=False)
        assert bar.dtype == dtype
    bar = ad.grad(lambda x: 1.0)(np.float32(3.0))
    assert bar == 0 and type(bar) is np.float32
    assert type(ad.grad(lambda x: 1.0)(3)) is float
    assert ad.grad(lambda x: 1.0)(1j) == 0j


def test_no_path_gives_zeros_inside_structures():
    assert ad.grad(lambda xs: xs[0])([1.0, 2.0]) == [1.0, 0.0]
    assert ad.grad(lambda xs: 1.0)([1.0, (2.0, {"a": 3.0})]) == [0.0, (0.0, {"a": 0.0})]
    assert ad.grad(lambda d: d["a"])({"a": 1.0, "b": [2.0]}) == {"a": 1.0, "b": [0.0]}
    bar = ad.grad(lambda p: p.a)(Pair(1.0, np.ones(2)))
    assert type(bar) is Pair and bar.a == 1.0
    np.testing.assert_array_equal(bar.b, [0.0, 0.0])


class Model:
    def __init__(self):
        self.w, self.name = 2.0, "model"


def test_zeros_of_objects():
    bar = ad.grad(lambda m: 1.0)(Model())
    assert bar.w == 0.0 and bar.name is None
    bar = ad.grad(lambda m: m.w * 3)(Model())
    assert bar.w == 3.0


def test_zeros_of_what_has_no_derivative():
    assert ad.grad(lambda s: 1.0)("text") is None
    assert ad.grad(lambda x, s: x * len(s), 0)(2.0, "text") == 4.0


def test_names():
    assert "product" in ad.grad(product).__name__
    assert "product" in ad.value_and_grad(product).__name__


def test_used_as_a_decorator():
    @ad.grad
    def slope(x):
        return x**3

    assert slope(2.0) == 12.0


def test_methods():
    class Fit:
        def __init__(self, w):
            self.w = w

        def loss(self, x):
            return self.w * x * x

    assert ad.grad(Fit(3.0).loss)(2.0) == 12.0
    assert ad.grad(Fit.loss, 1)(Fit(3.0), 2.0) == 12.0
    assert ad.grad(Fit.loss)(Fit(3.0), 2.0).w == 4.0


@pytest.mark.parametrize(
    "result", [1, True, np.int64(3), np.array(2), np.float32(1.5), np.array(1.5)]
)
def test_results_that_count_as_a_real_number(result):
    assert ad.gradient(lambda x: result, 2.0) == (0.0,)


def test_float32_results():
    (bar,) = ad.gradient(lambda x: (x * x).sum(), np.array([1.0, 2.0], np.float32))
    assert bar.dtype == np.float32
    np.testing.assert_array_equal(bar, [2.0, 4.0])


# ---- derivatives of derivatives ------------------------------------------------------------------


cubic_slope = ad.grad(lambda y: y**3)


def by_pullback(x):
    y, back = ad.pullback(lambda v: v * v, x)
    return y + back(x)[1]


@pytest.mark.parametrize(
    "f, expected",
    [
        (lambda x: ad.gradient(lambda y: y**3, x)[0], 12.0),
        (lambda x: ad.grad(lambda y: y**3)(x), 12.0),
        (lambda x: cubic_slope(x), 12.0),
        (lambda x: ad.value_and_grad(lambda y: y**3)(x)[1], 12.0),
        (lambda x: x * ad.gradient(lambda y: x * y, 1.0)[0], 4.0),
        (by_pullback, 12.0),
    ],
)
def test_a_derivative_of_a_derivative_is_right_or_refused(f, expected):
    try:
        (bar,) = ad.gradient(f, 2.0)
    except ad.AdjointError as error:
        assert error.hint
    else:
        assert bar == pytest.approx(expected)


def test_a_derivative_as_a_constant():
    f = lambda x: x * ad.stop_gradient(ad.gradient(lambda y: y**3, x)[0])
    assert ad.gradient(f, 2.0) == (12.0,)


def test_of_equal_keys_the_dict_keeps_the_first():
    def f(x, y):
        total = 0.0
        for key in {x: 1.0, y: 2.0}:
            total = total + key
        return total

    same = 2.0
    assert ad.gradient(f, same, same) == (1.0, 0.0)
    assert ad.gradient(f, 2.0, 3.0) == (1.0, 1.0)


class Interval(NamedTuple):
    low: float
    high: float


class Span(namedtuple("Span", "low high")):
    def width(self):
        return self.high - self.low


class Bare(tuple):
    def __new__(cls, a, b):
        return super().__new__(cls, (a, b))


@pytest.mark.parametrize("tier", ["fast", "generic"])
@pytest.mark.parametrize("kind", [lambda *xs: xs, Interval, Span, Bare])
def test_a_tuple_that_is_given_twice(kind, tier):
    """Equal literals are one tuple, and variables of their own."""

    def f(p, q):
        try:
            return p[0] ** 2 + 2.0 * q[0] + p[1] * q[1]
        except ValueError:
            return 0.0

    p = kind(0.5, 0.7)
    expected = (1.0, 0.7), (2.0, 0.7)
    for g, args in ((f, (p, p)), (lambda pair: f(*pair), ((p, p),))):
        bars = ad.grad(g, tuple(range(len(args))), tier=tier)(*args)
        assert bars == (expected if len(args) == 2 else (expected,))
    assert type(ad.gradient(f, p, p)[0]) is (tuple if type(p) is Bare else type(p))
    assert ad.pullback(f, p, p)[1](2.0) == (None, (2.0, 1.4), (4.0, 1.4))


def test_tuples_that_cannot_be_made_anew():
    when = time.localtime(0.0)
    assert ad.gradient(lambda t, u, x: x * t[0] / u[0], when, when, 3.0)[2] == 1.0
    assert ad.gradient(lambda t, x: x * t[0][0] / t[1][0], [when, when], 3.0)[1] == 1.0
