"""`stop_gradient`, `hook`, and `evalpoly`."""

import numpy as np
import pytest

import adjoint as ad

# ---- stop_gradient -------------------------------------------------------------------------------


def test_stop_gradient_is_a_copy():
    for x in (3.0, "text", None):
        assert ad.stop_gradient(x) is x
    shared = np.ones(2)
    ring = [shared, {"again": shared}]
    ring.append(ring)
    copy = ad.stop_gradient(ring)
    assert copy[0] is copy[1]["again"] is not shared and copy[2] is copy
    np.testing.assert_array_equal(copy[0], shared)


def _written_copy(x):
    a = x * 2
    y = ad.stop_gradient(a)
    y[0] = x[1] ** 2
    a[1] = 0.0
    return a.sum() + (x * y).sum()


def _grown_copy(x):
    xs = [x[0], 2 * x[1]]
    ad.stop_gradient(xs).append(x[2])
    return sum(xs)


@pytest.mark.parametrize("f", [_written_copy, _grown_copy])
def test_what_is_written_into_a_copy(f):
    x = np.array([0.7, 1.3, 2.1])
    value, (bar,) = ad.withgradient(f, x)
    assert value == f(x) == ad.pushforward(f, (x,), (x,))[0]
    np.testing.assert_allclose(ad.pushforward(f, (x,), (x,))[1], bar @ x)


def test_stop_gradient_stops():
    assert ad.gradient(lambda x: x * ad.stop_gradient(x), 3.0) == (3.0,)
    assert ad.gradient(lambda x: ad.stop_gradient(x * x), 3.0) == (0.0,)
    (bar,) = ad.gradient(lambda x: (ad.stop_gradient(x) * x).sum(), np.array([1.0, 2.0]))
    np.testing.assert_array_equal(bar, [1.0, 2.0])


def test_stop_gradient_of_structures():
    def f(xs):
        held = ad.stop_gradient(xs)
        return held[0] * xs[1]

    assert ad.gradient(f, [2.0, 3.0]) == ([0.0, 2.0],)
    (bar,) = ad.gradient(lambda d: ad.stop_gradient(d)["a"][0] * d["a"][0], {"a": [2.0]})
    assert bar == {"a": [2.0]}


def test_stop_gradient_of_objects():
    class Model:
        def __init__(self, w):
            self.w = w

        def __call__(self, x):
            return self.w * x

    (bar,) = ad.gradient(lambda m: ad.stop_gradient(m)(2.0) * m(3.0), Model(5.0))
    assert bar.w == 10.0 * 3.0


def test_stop_gradient_elsewhere_goes_on():
    def f(x):
        y = x * x
        z = ad.stop_gradient(y)
        return y * z + z

    assert ad.gradient(f, 3.0) == (6.0 * 9.0,)


# ---- hook ----------------------------------------------------------------------------------------


def test_hook_is_the_identity():
    x = np.ones(2)
    assert ad.hook(print, x) is x
    assert ad.pullback(lambda x: ad.hook(lambda bar: bar, x), 3.0)[0] == 3.0


def test_hook_sees_and_changes_the_cotangent():
    seen = []

    def look(bar):
        seen.append(bar)
        return 10 * bar

    assert ad.gradient(lambda x: ad.hook(look, x) * 2 + x, 3.0) == (21.0,)
    assert seen == [2.0]


def test_hook_is_called_once_per_use_in_every_sweep():
    seen = []
    _, back = ad.pullback(lambda x: ad.hook(lambda b: (seen.append(b), b)[1], x) ** 2, 3.0)
    assert seen == []
    back(1.0), back(2.0)
    assert seen == [6.0, 12.0]


def test_hook_clips():
    (bar,) = ad.gradient(
        lambda x: (ad.hook(lambda bar: np.clip(bar, -1, 1), x) ** 2).sum(), np.array([0.1, 5.0])
    )
    np.testing.assert_allclose(bar, [0.2, 1.0])


def test_hook_that_returns_none_stops():
    assert ad.gradient(lambda x: ad.hook(lambda bar: None, x) * 2, 3.0) == (0.0,)


def test_hook_without_a_path_is_not_called():
    def never(bar):
        raise AssertionError

    assert ad.gradient(lambda x: (ad.hook(never, x), x * 2)[1], 3.0) == (2.0,)


def test_hook_of_a_list():
    seen = []

    def look(bar):
        seen.append(bar)
        return [10 * part for part in bar]

    def f(xs):
        ys = ad.hook(look, xs)
        return ys[0] * ys[1]

    assert ad.gradient(f, [2.0, 3.0]) == ([30.0, 20.0],)
    assert seen == [[3.0, 2.0]]


def test_hook_by_a_method_and_a_closure():
    class Recorder:
        def __init__(self):
            self.bars = []

        def __call__(self, bar):
            self.bars.append(bar)
            return bar

    recorder = Recorder()

    def f(x, look):
        return ad.hook(look, x * 2) * 3

    assert ad.gradient(f, 1.0, recorder)[0] == 6.0
    assert recorder.bars == [3.0]


# ---- evalpoly ------------------------------------------------------------------------------------


@pytest.mark.parametrize("x", [0.0, 1.5, -2.0])
@pytest.mark.parametrize(
    "coefficients", [np.array([2.0, 0.0, 3.0]), [2.0, 0.0, 3.0], (2.0, 0.0, 3.0)]
)
def test_evalpoly(x, coefficients):
    assert ad.evalpoly(x, coefficients) == pytest.approx(2.0 + 3.0 * x * x)
    x_bar, c_bar = ad.gradient(ad.evalpoly, x, coefficients)
    assert x_bar == pytest.approx(6.0 * x)
    assert type(c_bar) is type(coefficients)
    np.testing.assert_allclose(np.asarray(c_bar), [1.0, x, x * x])


def test_evalpoly_over_arrays():
    ad.testing.check_gradient(
        lambda x, c: ad.evalpoly(x, c).sum(), np.array([0.5, 2.0]), np.array([1.0, 2.0, 3.0])
    )


def test_evalpoly_of_few_coefficients():
    assert ad.evalpoly(2.0, [3.0]) == 3.0
    x_bar, c_bar = ad.gradient(ad.evalpoly, 2.0, [3.0])
    assert x_bar in (None, 0.0) and c_bar == [1.0]
