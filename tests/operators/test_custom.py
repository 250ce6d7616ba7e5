"""`custom`: a derivative written by hand, in every mode."""

import collections

import numpy as np
import pytest

import adjoint as ad
from adjoint.errors import MutationError
from tests.errors.places import raised

x3 = np.array([0.3, -0.5, 1.2])
v3 = np.array([1.0, 0.5, -2.0])


@ad.custom
def scaled_sine(x, k=2.0):
    return np.sin(x) * k


@scaled_sine.reverse
def _(x, k=2.0):
    def back(y_bar):
        return y_bar * np.cos(x) * k, np.sum(y_bar * np.sin(x))

    return np.sin(x) * k, back


@ad.custom
def product(x, y):
    return x * x * y


@product.forward
def _(dots, x, y):
    x_dot, y_dot = dots
    dot = 0.0
    if x_dot is not None:
        dot = dot + 2 * x * y * x_dot
    if y_dot is not None:
        dot = dot + x * x * y_dot
    return x * x * y, dot


def test_the_value_is_that_of_the_function():
    assert scaled_sine(0.0) == 0.0 and scaled_sine(1.0, k=3.0) == np.sin(1.0) * 3.0
    assert scaled_sine.__name__ == "scaled_sine"


def test_reverse_rule():
    bars = ad.gradient(lambda x, k: scaled_sine(x, k).sum(), x3, 3.0)
    np.testing.assert_allclose(bars[0], 3 * np.cos(x3))
    assert bars[1] == pytest.approx(np.sin(x3).sum())
    by_name = ad.gradient(lambda x, k: scaled_sine(x, k=k).sum(), x3, 3.0)
    np.testing.assert_allclose(by_name[0], bars[0])
    assert by_name[1] == bars[1]
    np.testing.assert_allclose(
        ad.directional(lambda x: scaled_sine(x, 3.0), x3, v3), 3 * np.cos(x3) * v3
    )


@pytest.mark.parametrize("way", [ad.grad, ad.derivative])
@pytest.mark.parametrize("over", [ad.grad, ad.derivative])
def test_second_derivatives(way, over):
    assert over(way(lambda x: scaled_sine(x, 3.0)))(0.4) == pytest.approx(-3 * np.sin(0.4))
    assert over(way(lambda x: product(x, 5.0)))(0.4) == pytest.approx(10.0)
    assert over(way(lambda x: product(2.0, x) * x))(0.4) == pytest.approx(8.0)


def test_third_derivative():
    third = ad.derivative(ad.derivative(ad.derivative(scaled_sine)))
    assert third(0.4) == pytest.approx(-2 * np.cos(0.4))


def test_forward_rule_alone_serves_both_modes():
    assert ad.gradient(product, 3.0, 2.0) == (12.0, 9.0)
    assert ad.derivative(product)(3.0, 2.0) == 12.0
    bars = ad.gradient(lambda x, y: (product(x, y) * v3).sum(), x3, 2 * v3)
    np.testing.assert_allclose(bars[0], 4 * x3 * v3 * v3)
    np.testing.assert_allclose(bars[1], x3 * x3 * v3)


def test_the_rule_is_believed():
    """A straight-through estimator, and a gradient that is clipped."""
    through = ad.custom(np.round, reverse=lambda *args: (np.round(*args), lambda bar: bar))
    assert ad.gradient(lambda x: through(x) * 3.0, 0.7) == (3.0,)
    clipped = ad.custom(lambda x: x, reverse=lambda x: (x, lambda bar: np.clip(bar, -1.0, 1.0)))
    for way in (ad.grad, ad.derivative):
        assert way(lambda x: clipped(x) * 3.0)(0.7) in (1.0, 3.0)
    assert ad.gradient(lambda x: clipped(x) * 3.0, 0.7) == (1.0,)


def test_methods():
    class Model:
        def __init__(self, w):
            self.w = w

        @ad.custom
        def apply(self, x):
            return self.w * x

        @apply.reverse
        def _(self, x):
            w = self.w
            return w * x, lambda bar: ({"w": bar * x}, 10 * bar * w)

    bars = ad.gradient(lambda m, x: m.apply(x), Model(2.0), 3.0)
    assert (bars[0].w, bars[1]) == (3.0, 20.0)
    assert ad.derivative(lambda x: Model(2.0).apply(x))(3.0) == 20.0


def test_as_a_decorator_with_rules():
    @ad.custom(reverse=lambda x: (x * x, lambda bar: (7 * bar,)))
    def f(x):
        return x * x

    assert ad.gradient(f, 3.0) == (7.0,)


# ---- errors --------------------------------------------------------------------------------------

WRONG = {
    "too many": (lambda x: (x, lambda bar: (bar, bar)), "2 cotangents for 1"),
    "too few": (lambda x: (x, lambda bar: ()), "0 cotangents for 1"),
    "no pair": (lambda x: x, "float instead of (y, back)"),
    "a shape": (lambda x: (x, lambda bar: np.ones(3)), "shape (3,)"),
}


@pytest.mark.parametrize("rule, said", WRONG.values(), ids=WRONG)
def test_wrong_rules(rule, said):
    f = ad.custom(lambda x: x * 1.0, reverse=rule)
    assert said in str(raised(ad.errors.RuleError, ad.gradient, lambda x: f(x), 1.0))


def test_rules_with_other_parameters():
    with pytest.raises(ad.errors.ArgumentError, match=r"\(x, k\)"):
        scaled_sine.reverse(lambda x: None)
    with pytest.raises(ad.errors.ArgumentError, match=r"\(dots, x, k\)"):
        scaled_sine.forward(lambda x, k: None)
    with pytest.raises(ad.errors.ArgumentError, match="not 3"):
        scaled_sine.reverse(3)
    with pytest.raises(ad.errors.ArgumentError, match="not 3"):
        ad.custom(3)


def test_a_forward_rule_alone_is_of_numbers_and_arrays():
    f = ad.custom(lambda xs: xs[0], forward=lambda dots, xs: (xs[0], dots[0][0]))
    assert "reverse rule" in str(raised(ad.errors.RuleError, ad.gradient, lambda x: f([x]), 1.0))


# ---- results that are the arguments --------------------------------------------------------------


def _same(x):
    return x


def _both(x, y):
    return x, y


def _listed(x, y):
    return [y, x * 1.0]


def _views(x, y):
    return x[::-1], y.T


def _twice(x, y):
    return x, x


def _reversed_gradient(by):
    same = ad.custom(_same)
    if by == "reverse":
        same.reverse(lambda x: (x, lambda y_bar: -2.0 * y_bar))
    else:
        same.forward(lambda dots, x: (x, None if dots[0] is None else -2.0 * dots[0]))
    return same


@pytest.mark.parametrize("by", ["reverse", "forward"])
@pytest.mark.parametrize("point", [0.7, x3], ids=["number", "array"])
def test_derivative_of_the_argument_itself(by, point):
    """As in the layer that turns gradients round."""
    turned = _reversed_gradient(by)

    def f(x):
        return np.sum(turned(x) * x + x * x)

    def around(x):
        return np.sum(ad.grad(lambda z: np.sum(turned(z) * x))(x) * x)

    v = np.ones(np.shape(point))[()]
    np.testing.assert_allclose(ad.gradient(f, point)[0], point)
    np.testing.assert_allclose(ad.pushforward(f, (point,), (v,))[1], np.sum(point))
    np.testing.assert_allclose(ad.linearize(f, point)[1](v), np.sum(point))
    np.testing.assert_allclose(ad.jacobian_forward(f, point), point)
    np.testing.assert_allclose(ad.hvp(f, point, v), v)
    np.testing.assert_allclose(ad.vhp(f, point, v), v)
    np.testing.assert_allclose(ad.gradient(around, point)[0], -4.0 * point)
    np.testing.assert_allclose(ad.jacobian_forward(around, point), -4.0 * point)


@pytest.mark.parametrize("by", ["reverse", "forward"])
@pytest.mark.parametrize("result", [_both, _listed, _views, _twice])
def test_derivatives_of_arguments_in_the_result(result, by):
    made = ad.custom(lambda x, y: result(x, y))
    if by == "reverse":

        def back(bars):
            return tuple(
                None if b is None else k * b for k, b in zip((2.0, 3.0), bars, strict=True)
            )

        made.reverse(lambda x, y: (result(x, y), back))
    else:

        def forward(dots, x, y):
            parts = [0.0 * z if d is None else d for d, z in zip(dots, (x, y), strict=True)]
            return result(x, y), [2.0 * parts[0], 3.0 * parts[1]]

        made.forward(forward)

    def f(x, y, c=1.0):
        a, b = made(x, y)
        return c * (np.sum(a * v3) + np.sum(b * v3 * v3) + np.sum(x) + 5.0 * np.sum(y))

    expected = np.array([2.0 * v3 + 1.0, 3.0 * v3 * v3 + 5.0])
    point = x3, 2.0 * x3
    np.testing.assert_allclose(ad.gradient(f, *point), expected)
    np.testing.assert_allclose(ad.jacobian_forward(f, *point), expected)
    np.testing.assert_allclose(
        ad.pushforward(f, point, (v3, x3))[1], expected[0] @ v3 + expected[1] @ x3
    )

    def outer(c):
        return sum(np.sum(g) for g in ad.gradient(lambda x, y: f(x, y, c), *point))

    np.testing.assert_allclose(ad.gradient(outer, 1.0)[0], np.sum(expected))
    np.testing.assert_allclose(ad.derivative(outer)(1.0), np.sum(expected))


# ---- structures ----------------------------------------------------------------------------------


class Holder:
    def __init__(self, a):
        self.a = a

    def scaled(self, x):
        return self.a * x


STRUCTURES = {
    "dict": (lambda x: {"n": 3, "a": x * 1.0}, lambda d: d["a"], lambda b: {"a": b}),
    "object": (lambda x: Holder(x * 1.0), lambda o: o.a, lambda b: ad.Tangent(Holder, {"a": b})),
    "dicts in a list": (lambda x: [{"a": x * 1.0}], lambda d: d[0]["a"], lambda b: [{"a": b}]),
    "function": (lambda x: lambda: x, lambda f: f(), lambda b: {"x": b}),
}


def _in_all_modes(f, expected):
    """`f` is linear or quadratic in `x3`, by rules that are twice the truth."""
    np.testing.assert_allclose(ad.gradient(f, x3)[0], expected)
    np.testing.assert_allclose(ad.pushforward(f, (x3,), (v3,))[1], expected @ v3)
    np.testing.assert_allclose(ad.linearize(f, x3)[1](v3), expected @ v3)
    np.testing.assert_allclose(ad.jacobian_forward(f, x3), expected)

    def around(c):
        return np.sum(ad.gradient(lambda x: f(x) * c, x3)[0])

    np.testing.assert_allclose(ad.gradient(around, 1.0)[0], np.sum(expected))
    np.testing.assert_allclose(ad.derivative(around)(1.0), np.sum(expected))
    captured = ad.gradient(lambda c: ad.gradient(lambda k: f(x3 * c) * k, 1.0)[0], 1.0)[0]
    np.testing.assert_allclose(captured, expected @ x3)


@pytest.mark.parametrize("name", STRUCTURES)
def test_rule_of_a_structure(name):
    make, get, bar_of = STRUCTURES[name]

    @ad.custom
    def alone(d):
        return get(d) * 1.0

    @alone.reverse
    def _(d):
        return get(d) * 1.0, lambda y_bar: (bar_of(2.0 * y_bar),)

    @ad.custom
    def product(d, x):
        return get(d) * x

    @product.reverse
    def _(d, x):
        return get(d) * x, lambda y_bar: (bar_of(2.0 * y_bar * x), y_bar * get(d))

    _in_all_modes(lambda x: np.sum(alone(make(x)) * v3), 2.0 * v3)
    _in_all_modes(lambda x: np.sum(product(make(x), x)), 3.0 * x3)
    _in_all_modes(lambda x: np.sum(product(make(x), v3)), 2.0 * v3)
    _in_all_modes(lambda x: np.sum(product(x=v3, d=make(x))), 2.0 * v3)


def test_forward_rule_of_a_structure():
    def weighted(d, x):
        return d["a"] * x

    @ad.frule.register(weighted)
    def _(dots, d, x):
        first, second = dots
        dot = 0.0 * x
        if first is not None:
            dot = dot + 2.0 * first["a"] * x
        if second is not None:
            dot = dot + d["a"] * second
        return d["a"] * x, dot

    def f(x):
        return np.sum(weighted({"a": x * 1.0}, x))

    np.testing.assert_allclose(ad.pushforward(f, (x3,), (v3,))[1], 3.0 * x3 @ v3)


def test_rule_of_a_method():
    def scaled_back(holder, x):
        return holder.a * x, lambda b: (None, ad.Tangent(Holder, {"a": 2.0 * b * x}), b * holder.a)

    class Scaler(Holder):
        def scaled(self, x):
            return self.a * x

    ad.rrule.register(Scaler.scaled)(scaled_back)
    _in_all_modes(lambda x: np.sum(Scaler(x * 1.0).scaled(x)), 3.0 * x3)
    scaler = Scaler(v3)
    slopes = ad.jacobian_forward(lambda s: np.sum(s.scaled(x3)), scaler)
    np.testing.assert_allclose(slopes.a, 2.0 * x3)


def test_structures_that_change_after_the_rule():
    @ad.custom
    def read(d):
        return d["a"] * 1.0

    @read.reverse
    def _(d):
        return d["a"] * 1.0, lambda y_bar: ({"a": 2.0 * y_bar},)

    def f(x):
        d = {"a": x * 1.0}
        first = read(d)
        d["a"] = x * x
        return np.sum(first * read(d))

    _in_all_modes(f, 2.0 * x3 * x3 + 4.0 * x3 * x3)


class Words(dict):
    """A constructor of its own, which no copy calls."""

    def __init__(self, name, **words):
        super().__init__(words)
        self.name = name


@pytest.mark.parametrize(
    "make",
    [
        dict,
        collections.OrderedDict,
        collections.Counter,
        lambda **words: collections.defaultdict(float, **words),
        lambda **words: Words("w", **words),
    ],
)
def test_dicts_of_any_class_are_given_as_they_are_at_the_call(make):
    @ad.custom
    def product(d):
        return d["a"] * d["b"]

    seen = []

    @product.reverse
    def _(d):
        seen.append(type(d))
        return d["a"] * d["b"], lambda y_bar: ({"a": d["b"] * y_bar, "b": d["a"] * y_bar},)

    def f(v):
        d = make(a=v[0], b=v[1])
        y = product(d)
        d["a"] = 3.0 * d["b"]
        d.pop("b")
        return y

    v = np.array([2.0, 3.0])
    np.testing.assert_array_equal(ad.gradient(f, v)[0], [3.0, 2.0])
    np.testing.assert_array_equal(ad.hessian(f, v), [[0.0, 1.0], [1.0, 0.0]])
    assert set(seen) == {type(make(a=1.0, b=1.0))}


@pytest.mark.parametrize("point", [0.7, 1.0, 0.0])
def test_an_object_that_changes_after_the_rule_is_refused_at_any_point(point):
    """Where it holds an equal number afterwards, that has another derivative."""

    class Spring:
        def __init__(self, x):
            self.x = x

    @ad.custom
    def energy(s):
        return s.x**2

    energy.reverse(lambda s: (s.x**2, lambda y_bar: ({"x": 2.0 * s.x * y_bar},)))

    def changed(x):
        s = Spring(x)
        e = energy(s)
        s.x = s.x**3
        return e

    with pytest.raises(MutationError, match="was changed after the call"):
        ad.hessian(changed, point)

    def unchanged(x):
        s = Spring(x)
        return energy(s)

    assert ad.hessian(unchanged, point) == 2.0
    assert ad.gradient(changed, point) == (2.0 * point,)


# ---- integers ------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["reverse", "forward"])
def test_integers_that_have_a_derivative(by):
    """As if rounding were not there."""

    def rounded(x):
        return round(x) if isinstance(x, float) else np.rint(x).astype(int)

    through = ad.custom(lambda x: rounded(x))
    if by == "reverse":
        through.reverse(lambda x: (rounded(x), lambda y_bar: y_bar))
    else:
        through.forward(lambda dots, x: (rounded(x), dots[0]))
    _in_all_modes(lambda x: np.sum(through(3.0 * x) * x), np.rint(3.0 * x3) + 3.0 * x3)
    assert ad.derivative(lambda x: through(x) * x)(2.6) == 3.0 + 2.6
    assert ad.gradient(lambda x: ad.derivative(lambda z: through(z) * x)(x), 2.6) == (1.0,)


def test_integers_that_have_none():
    count = ad.custom(lambda x: int(x))
    count.reverse(lambda x: (int(x), lambda y_bar: None))

    def f(x):
        return x * [5.0, 3.0, 2.0][count(x)]

    assert ad.gradient(f, 1.5) == (3.0,)
    assert ad.derivative(f)(1.5) == 3.0
    assert ad.gradient(lambda x: ad.gradient(f, x)[0] * x, 1.5) == (3.0,)


# ---- arrays that stand for lists -----------------------------------------------------------------


def sum_of_cubes(values):
    return float(np.sum(np.asarray(values) ** 3))


@ad.rrule.register(sum_of_cubes)
def _(values):
    slopes = 3 * np.asarray(values) ** 2
    return sum_of_cubes(values), lambda y_bar: (None, slopes * y_bar)


def powers(x):
    return [x**3, x**4]


@ad.rrule.register(powers)
def _(x):
    def back(bars):
        found = np.array([0.0 if bar is None else bar for bar in bars])
        return None, (found * np.array([3 * x**2, 4 * x**3])).sum()

    return powers(x), back


@ad.frule.register(powers)
def _(dots, x):
    return powers(x), dots[0] * np.array([3 * x**2, 4 * x**3])


@pytest.mark.parametrize(
    "f, first, second",
    [
        (lambda x: sum_of_cubes([x, 1.0, x]), 24.0, 24.0),
        (lambda x: sum_of_cubes([[x, 1.0], [x, x]]), 36.0, 36.0),
        (lambda x: powers(x)[0] + 2 * powers(x)[1], 76.0, 108.0),
    ],
)
def test_arrays_that_rules_give_for_lists(f, first, second):
    """What is taken out of them has derivatives of its own."""
    gradient, tangent = ad.grad(f), ad.derivative(f)
    assert gradient(2.0) == pytest.approx(first) and tangent(2.0) == pytest.approx(first)
    assert ad.hessian(f, 2.0) == pytest.approx(second)
    for inner in (gradient, tangent):
        assert ad.grad(inner)(2.0) == pytest.approx(second)
        assert ad.derivative(inner)(2.0) == pytest.approx(second)
