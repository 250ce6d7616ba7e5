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


def test_hooks_of_other_structures_are_refused_in_nested_derivatives():
    def f(x):
        return ad.hook(lambda bar: {"a": 10 * bar["a"]}, {"a": x * x})["a"] * x

    assert ad.gradient(f, 2.0) == (84.0,)
    assert ad.derivative(f)(2.0) == 12.0
    with pytest.raises(ad.errors.NoDerivativeError, match="hook is on a dict"):
        ad.gradient(ad.grad(f), 2.0)
