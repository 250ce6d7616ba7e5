"""`checkpoint` and `checkpoint_loop`: the same derivatives, with less memory."""

import functools
import random
import tracemalloc

import numpy as np
import pytest

import adjoint as ad
from tests.fast.agreeing import generic_tier
from tests.structures import difference

rng = np.random.default_rng(3)
x3 = np.array([0.5, -1.0, 2.0])


def peak(run):
    run()
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


# ---- functions, each with a way to call it -------------------------------------------------------


class Layer:
    def __init__(self, w):
        self.w = w

    def __call__(self, x):
        return np.tanh(self.w * x)

    def scaled(self, x):
        return self.w * x


def fills(x):
    out = np.zeros_like(x)
    for i in range(len(x)):
        out[i] = x[i] ** 2 * (i + 1)
    return out


def collects(x):
    parts = []
    for v in x:
        parts.append(v * v)
    parts[0] = parts[0] * parts[1]
    return parts


def named(x):
    return {"a": x * x, "b": [x.sum(), (x[0], np.sin(x))]}


def makes(x):
    layer = Layer(x * 2.0)
    layer.extra = layer(x)
    return layer


def accumulates(x):
    held = [0.0] * 3
    for i in range(3):
        held[i] = held[i] + x[i] * x[0]
    return held[2] + held[1] * held[2]


def use_array(f, x):
    y = f(x)
    return (y * f(y)).sum()


def use_written(f, x):
    x = x * 1.0
    y = f(x)
    before = y.sum()
    y[0] = y[1] * x[2]
    z = f(x + y)
    return (z * before).sum() + y[0] * y[2]


def use_list(f, x):
    parts = f(x)
    first = parts[0]
    parts[1] = first * parts[2]
    parts.append(parts[1] * x[0])
    return sum(parts) + parts[-1] ** 2


def use_dict(f, x):
    y = f(x)
    y["a"][1] = y["b"][0]
    return (y["a"] * y["b"][1][1]).sum() + y["b"][1][0] * y["a"][0]


def use_object(f, x):
    y = f(x)
    y.w = y.w * y.extra
    return (y(x) * y.extra).sum()


def use_number(f, x):
    return f(x) * f(x * 2.0)


CASES = {
    "an array": (lambda x: np.sin(x) * x, use_array),
    "an array that is filled": (fills, use_array),
    "an array that is written later": (fills, use_written),
    "what is returned is written later": (lambda x: x * x, use_written),
    "a list": (collects, use_list),
    "a dict": (named, use_dict),
    "an object": (makes, use_object),
    "a number": (accumulates, use_number),
    "its argument": (lambda x: x, use_written),
    "a view of its argument": (lambda x: x[::-1], use_written),
}


@pytest.mark.parametrize("f, use", CASES.values(), ids=CASES)
def test_reverse(f, use):
    g = ad.checkpoint(f)
    x = x3.copy()
    y, back = ad.pullback(lambda x: use(f, x), x)
    again, back_again = ad.pullback(lambda x: use(g, x), x)
    assert y == again
    for y_bar in (1.0, -2.5):
        np.testing.assert_allclose(back_again(y_bar)[1], back(y_bar)[1], rtol=1e-12)
    np.testing.assert_array_equal(x, x3)
    ad.testing.check_gradient(lambda x: use(g, x.copy()), x)


@pytest.mark.parametrize("f, use", CASES.values(), ids=CASES)
def test_other_modes(f, use):
    g = ad.checkpoint(f)
    v = np.array([0.3, 1.0, -0.7])

    def slope(x, f=f):
        return ad.directional(lambda x: use(f, x), x, v)

    def product(x, f=f):
        return np.sum(ad.gradient(lambda x: use(f, x), x)[0] * v)

    x = x3.copy()
    expected = ad.gradient(lambda x: use(f, x), x)[0] @ v
    assert slope(x, g) == pytest.approx(expected)
    second = (product(x + 1e-5 * v) - product(x - 1e-5 * v)) / 2e-5
    for way in (slope, product):
        assert ad.directional(lambda x: way(x, g), x, v) == pytest.approx(second, rel=1e-6)
        assert ad.gradient(lambda x: way(x, g), x)[0] @ v == pytest.approx(second, rel=1e-6)


# ---- what it captures, is given and changes ------------------------------------------------------


def test_captured_variables_and_objects():
    def f(w, layer, x):
        @ad.checkpoint
        def inner(x):
            return layer(x) * w

        return inner(inner(x)).sum()

    plain = ad.gradient(
        lambda w, layer, x: (layer(layer(x) * w) * w).sum(), 1.5, Layer(0.7 * x3), x3
    )
    found = ad.gradient(f, 1.5, Layer(0.7 * x3), x3)
    assert difference(list(found), list(plain), rtol=1e-12) is None
    w_bar = ad.gradient(lambda m, x: ad.checkpoint(m)(x).sum(), Layer(0.7 * x3), x3)[0].w
    np.testing.assert_allclose(w_bar, x3 / np.cosh(0.7 * x3 * x3) ** 2)
    w_bar = ad.gradient(lambda m, x: ad.checkpoint(m.scaled)(x).sum(), Layer(2 * x3), x3)[0].w
    np.testing.assert_allclose(w_bar, x3)


def test_methods_keywords_and_defaults():
    class Model:
        def __init__(self, w):
            self.w = w

        @ad.checkpoint
        def __call__(self, x, *, scale, shift=1.0):
            """Its words."""
            return self.w * x * scale + shift * x

    assert Model.__call__.__doc__ == "Its words."
    assert Model(2.0)(3.0, scale=4.0) == 27.0
    bars = ad.gradient(lambda m, x, s: m(x, scale=s), Model(2.0), 3.0, 4.0)
    assert (bars[0].w, *bars[1:]) == (12.0, 9.0, 6.0)
    bars = ad.gradient(lambda m, x, s: m(x, scale=2.0, shift=s), Model(2.0), 3.0, 4.0)
    assert (bars[0].w, *bars[1:]) == (6.0, 8.0, 3.0)


def test_functions_that_change_what_they_are_given():
    def doubles(xs, total):
        xs[0] = xs[0] * xs[1]
        total.append(xs[0])
        return xs[0] * 2.0

    def f(double, x):
        xs, total = [x, x * 3.0], []
        y = double(xs, total)
        z = double(xs, total)
        return y * z + sum(total) * xs[0]

    expected = ad.gradient(lambda x: f(doubles, x), 1.3)
    assert ad.gradient(lambda x: f(ad.checkpoint(doubles), x), 1.3) == pytest.approx(expected)

    def in_place(x):
        x *= 2.0
        x[0] = x[1] * x[2]
        return x

    def g(change, x):
        y = x * 1.0
        return (change(y) * x).sum() + (change(y) * x[0]).sum()

    expected = ad.gradient(lambda x: g(in_place, x), x3)[0]
    np.testing.assert_allclose(
        ad.gradient(lambda x: g(ad.checkpoint(in_place), x), x3)[0], expected
    )


def written_and_held(x):
    out = np.zeros(3)
    out[:] = x * x
    out[1] = out[0] * x[2]
    return out, {"view": out[::-1]}, [x * 3.0]


def test_results_inside_a_checkpoint_that_are_written():
    def uses(call, x):
        out, d, parts = call(written_and_held)(x)
        first = out.sum() * parts[0][1]
        d["view"][0] = out[1] * first
        parts[0][2] = d["view"][1] * x[0]
        y = call(fills)(out + parts[0])
        y /= y[0] + 3.0
        return (out * d["view"] * parts[0]).sum() + first + y

    for outer in (lambda f: f, ad.checkpoint):
        expected = ad.gradient(lambda x: uses(lambda f: f, x).sum(), x3)[0]
        found = ad.gradient(lambda x: outer(lambda x: uses(ad.checkpoint, x))(x).sum(), x3)[0]
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_decomposed_functions():
    m = np.array([[0.3, -0.8, 1.4], [0.9, 0.2, -0.5], [0.6, 0.1, 0.4]])
    cov = ad.checkpoint(np.cov)

    @ad.checkpoint
    def scaled(m):
        c = cov(m)
        c /= np.sqrt(np.diag(c))[:, None]
        return c

    ad.testing.check_gradient(lambda m: scaled(m)[0, 1] * scaled(m.T)[1, 2], m)


def test_what_changes_its_arguments_runs_once():
    calls = []

    @ad.checkpoint
    def f(layer, x, xs):
        calls.append(None)
        layer.w = layer.w * x
        xs[0] = xs[0] * x[1]
        return layer.w * xs[0]

    def loss(x):
        layer, xs = Layer(x * x), [1.0]
        return (f(layer, x, xs) * f(layer, x, xs)).sum()

    expected = ad.gradient(lambda x: (x**7 * x[1] ** 3).sum(), x3)[0]
    np.testing.assert_allclose(ad.gradient(loss, x3)[0], expected)
    assert len(calls) == 2


def test_memory_is_as_it_was_at_the_call():
    def f(call):
        def run(x):
            state = [x, 2.0]
            weights = np.array([1.0, 2.0, 3.0]) * x
            scale = x

            def inner(v):
                return v * state[0] * weights[1] * scale

            y = call(inner)(x)
            state[0] = x * x
            weights[1] = x**3
            scale = y
            return y * call(inner)(y) + state[0]

        return run

    expected = ad.gradient(f(lambda g: g), 1.1)
    assert ad.gradient(f(ad.checkpoint), 1.1) == pytest.approx(expected)
    expected = ad.derivative(ad.grad(f(lambda g: g)))(1.1)
    assert ad.derivative(ad.grad(f(ad.checkpoint)))(1.1) == pytest.approx(expected)
    assert ad.gradient(ad.grad(f(ad.checkpoint)), 1.1)[0] == pytest.approx(expected)


def test_nested_checkpoints_in_loops():
    @ad.checkpoint
    def inner(x, k):
        return np.tanh(x) * k

    @ad.checkpoint
    def outer(x):
        for k in (0.5, 1.5):
            x = x + inner(x, k) * inner(x * k, 2.0)
        return x

    def f(x):
        for _ in range(3):
            x = outer(x)
        return x.sum()

    ad.testing.check_gradient(f, x3)


def test_exceptions_that_are_caught():
    @ad.checkpoint
    def fails(x, held):
        held.append(x * x)
        raise ValueError

    def f(x):
        held = []
        try:
            fails(x, held)
        except ValueError:
            pass
        return held[0] * x

    assert ad.gradient(f, 2.0) == (12.0,)


def test_exceptions_inside_a_checkpoint():
    @ad.checkpoint
    def fails(x, held):
        held.append(x * x)
        if len(held) > 1:
            raise ValueError

    @ad.checkpoint
    def outer(x):
        held = []
        try:
            fails(x, held)
            fails(x * 2.0, held)
        except ValueError:
            pass
        return held[0] * held[1]

    assert ad.gradient(outer, 2.0)[0] == pytest.approx(16 * 8.0)
    assert ad.gradient(lambda x: outer(outer(x)), 1.0)[0] == pytest.approx(16 * 4.0**4 * 4.0)


def test_iterators_are_not_stepped_twice():
    @ad.checkpoint
    def takes(xs):
        return next(xs) * next(xs)

    def f(x):
        xs = (v * v for v in [x, x * 2.0, x * 3.0, x * 4.0])
        return takes(xs) + takes(xs)

    assert ad.gradient(f, 1.0)[0] == pytest.approx(4 * (4.0 + 9.0 * 16.0))


def test_results_without_a_path():
    calls = []

    @ad.checkpoint
    def f(x):
        calls.append(1)
        return x * x

    @ad.checkpoint
    def g(x):
        return np.floor(x), x

    assert ad.gradient(lambda x: (f(x), x)[1], 2.0) == (1.0,)
    assert ad.gradient(lambda x: g(x)[1] * 3.0, 2.0) == (3.0,)


# ---- random numbers ------------------------------------------------------------------------------

mask_rng = np.random.default_rng(1)


def by_argument(x, g):
    return x * g.normal(size=3)


def by_name(x, g):
    return x * mask_rng.normal(size=3)


def by_numpy(x, g):
    return x * np.random.normal(size=3)  # noqa: NPY002


def by_python(x, g):
    return x * random.random()


@pytest.mark.parametrize("f", [by_argument, by_name, by_numpy, by_python])
def test_random_generators_are_put_back(f):
    g = np.random.default_rng(2)
    y, back = ad.pullback(lambda x: ad.checkpoint(f)(x, g) * x, x3)
    expected = 2 * y / x3
    for _ in range(2):
        np.testing.assert_allclose(back(np.ones(3))[1], expected)
    after = g.normal()
    g = np.random.default_rng(2)
    if f is by_argument:
        g.normal(size=3)
    assert g.normal() == after


def test_another_result_is_an_error():
    hidden = {"calls": 0}

    def f(x):
        return x * count()

    def count():
        hidden["calls"] += 1
        return float(hidden["calls"])

    ad.non_differentiable(count)
    with pytest.raises(ad.errors.NoDerivativeError, match="another result"):
        ad.gradient(ad.checkpoint(f), 2.0)


# ---- memory --------------------------------------------------------------------------------------


def deep(x):
    for _ in range(20):
        x = np.tanh(x) * 1.01
    return x


def test_memory_of_a_checkpoint():
    x = np.ones(2000)

    def f(call, x):
        for _ in range(10):
            x = call(x)
        return x.sum()

    with generic_tier():  # a program of the whole keeps a quarter of what a record keeps
        full = peak(lambda: ad.gradient(functools.partial(f, deep), x))
        less = peak(lambda: ad.gradient(functools.partial(f, ad.checkpoint(deep)), x))
    assert less < full / 4


# ---- loops ---------------------------------------------------------------------------------------


def step(state, i, rate):
    return state + rate * np.sin(state * (i % 3))


def plain_loop(step, state, n, *args):
    for i in range(n):
        state = step(state, i, *args)
    return state


@pytest.mark.parametrize("n", [0, 1, 5, 32, 33, 100, 700])
@pytest.mark.parametrize("snapshots", [None, 1, 3])
def test_loops(n, snapshots):
    def loss(loop, x, rate):
        return (loop(step, x, n, rate) ** 2).sum()

    def checkpointed(*args):
        return ad.checkpoint_loop(*args, snapshots=snapshots)

    expected = ad.withgradient(functools.partial(loss, plain_loop), x3, 0.1)
    found = ad.withgradient(functools.partial(loss, checkpointed), x3, 0.1)
    assert found.value == expected.value
    assert difference(list(found.gradient), list(expected.gradient), rtol=1e-10) is None


def test_loops_of_structures_and_captured_variables():
    def f(loop):
        def loss(p, q, k):
            def leap(state, i):
                q = state["q"] + 0.1 * state["p"]
                return {"p": state["p"] - 0.1 * k * q, "q": q, "sum": state["sum"] + q}

            end = loop(leap, {"p": p, "q": q, "sum": 0.0}, 90)
            return end["q"] ** 2 + end["p"] * k + end["sum"]

        return loss

    expected = ad.gradient(f(plain_loop), 1.0, 0.5, 0.8)
    assert ad.gradient(f(ad.checkpoint_loop), 1.0, 0.5, 0.8) == pytest.approx(expected)


def test_loops_of_steps_in_place():
    def turn(u, i):
        u[1:] += 0.1 * u[:-1] * u[1:]
        return u

    def loss(loop, u):
        return (loop(turn, u * 1.0, 70) ** 2).sum()

    expected = ad.gradient(functools.partial(loss, plain_loop), 0.1 * x3)[0]
    found = ad.gradient(functools.partial(loss, ad.checkpoint_loop), 0.1 * x3)[0]
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_loops_in_other_modes():
    def loss(rate):
        return ad.checkpoint_loop(step, 1.0, 70, rate)

    def plain(rate):
        return plain_loop(step, 1.0, 70, rate)

    first = ad.derivative(plain)(0.1)
    assert ad.derivative(loss)(0.1) == pytest.approx(first)
    second = ad.derivative(ad.derivative(plain))(0.1)
    for way in (ad.derivative, ad.grad):
        for over in (ad.derivative, ad.grad):
            assert over(way(loss))(0.1) == pytest.approx(second, rel=1e-9)


def test_memory_of_a_loop():
    x = np.ones(500)

    def loss(n, x):
        return ad.checkpoint_loop(step, x, n, 0.1).sum()

    def plain(x):
        return plain_loop(step, x, 1000, 0.1).sum()

    few, more = (peak(lambda: ad.gradient(functools.partial(loss, n), x)) for n in (250, 1000))
    assert more < 2 * few
    kept = peak(lambda: ad.grad(plain, tier="generic")(x))  # loops of checkpoints run there, too
    assert more < kept / 5


def test_loops_refuse_what_is_no_number_of_steps():
    with pytest.raises(ad.errors.ArgumentError, match="2.5"):
        ad.checkpoint_loop(step, 1.0, 2.5, 0.1)
    with pytest.raises(ad.errors.ArgumentError, match="snapshots"):
        ad.checkpoint_loop(step, 1.0, 2, 0.1, snapshots=0)
