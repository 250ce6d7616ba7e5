"""`hook` and `stop_gradient` in forward mode and in nested derivatives."""

import numpy as np
import pytest

import adjoint as ad

WAYS = (ad.grad, ad.derivative)


def test_hooks_have_names():
    seen = []

    def log(bar, name):
        seen.append((name, bar))
        return bar

    def f(x):
        h = ad.hook(log, x * x, name="h")
        return ad.hook(log, h * x, name="y") * 2.0

    assert ad.gradient(f, 3.0) == (54.0,)
    assert seen == [("y", 2.0), ("h", 6.0)]
    seen.clear()
    assert ad.derivative(f)(3.0) == 54.0 and seen == []
    for over in WAYS:
        assert over(ad.grad(f))(3.0) == pytest.approx(36.0)
        assert [name for name, _ in seen] == ["y", "h"]
        seen.clear()


def doubled(x):
    return ad.hook(lambda bar: 2 * bar, x) ** 3


def of_a_list(x):
    ys = ad.hook(lambda bars: [10 * bar for bar in bars], [x * x, x * 3.0])
    return ys[0] * ys[1]


@pytest.mark.parametrize("over", WAYS)
def test_hooks_in_nested_derivatives(over):
    assert over(ad.grad(doubled))(2.0) == pytest.approx(24.0)
    assert over(ad.grad(of_a_list))(2.0) == pytest.approx(360.0)
    assert over(ad.derivative(doubled))(2.0) == pytest.approx(12.0)


@pytest.mark.parametrize("over", WAYS)
def test_a_hook_without_a_path_is_not_called(over):
    def never(bar):
        raise AssertionError

    assert over(ad.grad(lambda x: (ad.hook(never, x), x * x)[1]))(2.0) == 2.0


def test_hooks_of_arrays_that_are_written():
    def f(x):
        z = ad.hook(lambda bar: np.clip(bar, -1, 1), x * 2.0)
        z[0] = z[1] * x[0]
        return (z**3).sum()

    x, v = np.array([0.1, 0.5]), np.array([1.0, 2.0])

    def slope(x):
        return ad.gradient(f, x)[0]

    expected = (slope(x + 1e-6 * v) - slope(x - 1e-6 * v)) / 2e-6
    np.testing.assert_allclose(ad.directional(slope, x, v), expected, rtol=1e-6, atol=1e-8)
    (bar,) = ad.gradient(lambda x: (slope(x) * v).sum(), x)
    assert bar @ v == pytest.approx(expected @ v, rel=1e-6)


@pytest.mark.parametrize("over", WAYS)
@pytest.mark.parametrize("way", WAYS)
def test_stop_gradient_in_nested_derivatives(over, way):
    assert over(way(lambda x: ad.stop_gradient(x * x) * x**2))(2.0) == pytest.approx(8.0)
    assert over(way(lambda x: ad.stop_gradient([x])[0] * x**3))(2.0) == pytest.approx(24.0)


class Pair:
    __slots__ = ("a", "rest")

    def __init__(self, a, rest):
        self.a, self.rest = a, rest


def of_a_dict(x):
    d = {"a": x * x, "n": 3, "b": (x, [2.0 * x])}
    same = ad.hook(lambda bar: {**bar, "a": 10 * bar["a"]}, d)
    assert same is d
    d["a"] = d["a"] * x
    return d["a"] * d["b"][1][0] * d["n"]


def of_an_object(x):
    pair = ad.hook(lambda bar: {"a": 10 * bar.a, "rest": bar.rest}, Pair(x * x, [x, "text"]))
    return pair.a * pair.rest[0]


def of_an_array_in_a_list(x):
    y = np.ones(2) * x
    ys = ad.hook(lambda bars: [10 * bar for bar in bars], [y])
    return np.sum(ys[0] * y * x)


def of_an_array(x):
    y = np.ones(2) * x
    return np.sum(ad.hook(lambda bar: 10 * bar, y) * y * x)


def of_a_list_that_grows(x):
    ys = [x * x]
    same = ad.hook(lambda bars: [3 * bar for bar in bars], ys)
    ys.append(x)
    return same[0] * same[1]


@pytest.mark.parametrize("over", WAYS)
@pytest.mark.parametrize(
    "f",
    [of_a_dict, of_an_object, of_an_array_in_a_list, of_an_array, of_a_list_that_grows],
    ids=lambda f: f.__name__,
)
def test_hooks_of_structures_in_nested_derivatives(over, f):
    """The slope of what the hook makes of the first derivative, by differences."""
    slope = ad.grad(f)
    expected = (slope(2.0 + 1e-5) - slope(2.0 - 1e-5)) / 2e-5
    assert over(slope)(2.0) == pytest.approx(expected, rel=1e-8)
    value, back = ad.levels.reverse.nested(f, (2.0,), {}, of_function=False)
    assert value == f(2.0) and back(1.0)[1] == pytest.approx(slope(2.0), rel=1e-14)


@pytest.mark.parametrize("over", WAYS)
def test_hooks_of_the_callers_containers(over):
    w, model = np.array([1.0, 2.0]), {"b": 3.0}
    model["w"] = (w, 1.5)
    kept = dict(model)

    def f(x):
        ad.hook(lambda bar: {"w": (5 * bar["w"][0], bar["w"][1]), "b": bar["b"]}, model)
        return np.sum((model["w"][0] * x) ** 2) * model["b"] * model["w"][1] * x

    assert over(ad.grad(f))(2.0) == pytest.approx(6 * 5 * 4.5 * 2.0)
    assert all(model[key] is kept[key] for key in kept)
    found = ad.pushforward(lambda m: ad.gradient(f_of(m), 1.0)[0], (model,), ({"b": 1.0},))[1]
    assert found == pytest.approx(3 * 5 * 1.5)
    assert all(model[key] is kept[key] for key in kept) and model["w"][0] is w


def f_of(model):
    def f(x):
        m = ad.hook(lambda bar: bar, model)
        return np.sum((m["w"][0] * x) ** 2) * m["b"] * m["w"][1] * x

    return f


def test_hooks_of_what_is_constant_inside():
    """They belong to the derivative that is taken in it."""

    def tenfold(bars):
        return [10.0 * bar for bar in bars]

    def slope(wrap, over):
        def f(x):
            def g(y):
                return ad.hook(tenfold, wrap(x))[0] * y

            return over(g)(3.0) * x

        return f

    for wrap in (lambda x: [x], lambda x: (x,)):
        for over in (ad.grad, ad.derivative):
            hooked = slope(wrap, over)
            assert ad.gradient(hooked, 2.0) == (10.0 * 2.0 + 2.0,)
            assert ad.derivative(hooked)(2.0) == 4.0
    number = ad.gradient(lambda x: ad.grad(lambda y: ad.hook(lambda b: 10.0 * b, x) * y)(3.0), 2.0)
    assert number == (10.0,)
    rows = np.array([1.0, 2.0])
    found = ad.gradient(
        lambda x: ad.grad(lambda y: np.sum(ad.hook(lambda b: 10.0 * b, x) * y * x))(3.0), rows
    )
    np.testing.assert_allclose(found[0], 11.0 * rows)
