"""Arguments that are given by name: both tiers give the same, and what differences give."""

from __future__ import annotations

import contextlib
import functools
import itertools

import numpy as np
import pytest

import adjoint as ad
from adjoint.errors import ArgumentError
from adjoint.fast.programs import store as fast
from tests.fast.agreeing import generic_tier
from tests.structures import difference

X = np.linspace(0.2, 1.4, 12).reshape(4, 3)
Y = np.array([0.3, -0.2, 0.5, 1.0])
W = np.array([0.4, -0.7, 0.2])


def loss(w, x, y=0.0, *, scale=1.0, power=2):
    return scale * np.sum(np.abs(x @ w - y) ** power)


def collecting(w, *rest, **named):
    total = np.sum(w * w)
    for x in rest:
        total = total + np.sum(x * w)
    return total * named["scale"] + named.get("shift", 0.0)


def only_by_position(w, /, scale=2.0):
    return np.sum(w * w) * scale


class Model:
    def __init__(self, bias):
        self.bias = bias

    def loss(self, w, x, y, scale=1.0):
        return loss(w, x, y + self.bias, scale=scale)

    def __call__(self, w, *, x):
        return np.sum(x @ w) + self.bias


CALLS = {
    "the rest": (loss, (W, X), {"y": Y}),
    "not the next one": (loss, (W, X), {"scale": 3.0}),
    "all": (loss, (), {"w": W, "x": X, "y": Y, "scale": 0.5, "power": 4}),
    "in another order": (loss, (W,), {"power": 3, "y": Y, "x": X}),
    "collected": (collecting, (W, 2.0, W + 1.0), {"scale": 2.0}),
    "collected, more": (collecting, (W,), {"shift": 3.0, "scale": 2.0}),
    "method": (Model(0.5).loss, (W, X), {"scale": 2.0, "y": Y}),
    "object": (Model(0.5), (W,), {"x": X}),
    "partial": (functools.partial(loss, y=Y, scale=2.0), (W,), {"x": X}),
    "partial, replaced": (functools.partial(loss, W, y=Y, scale=2.0), (X,), {"scale": 4.0}),
    "partial by name": (functools.partial(loss, x=X, y=Y), (W,), {}),
    "behind /": (only_by_position, (W,), {"scale": 4.0}),
}


def derivative(f, args, kwargs, place):
    """By central differences."""
    values = dict(enumerate(args)) | kwargs
    x = np.asarray(values[place], dtype=float)
    found = np.zeros(x.shape)
    for index in np.ndindex(x.shape):
        ends = []
        for step in (1e-6, -1e-6):
            moved = x.copy()
            moved[index] += step
            given = values | {place: moved if x.shape else float(moved)}
            ends.append(f(*(given[i] for i in range(len(args))), **{k: given[k] for k in kwargs}))
        found[index] = (ends[0] - ends[1]) / 2e-6
    return found


def asked(args, kwargs):
    """All that `argnums` may be, and the places that it stands for."""
    places = [*range(len(args)), *kwargs]
    floats = [k for k in places if k != "power"]
    yield from ((place, [place]) for place in floats)
    for a, b in itertools.permutations(floats, 2):
        yield (a, b), [a, b]
    if args:
        yield -1, [len(args) - 1]
        yield None, [*range(len(args))]


@pytest.mark.parametrize("name", CALLS)
def test_both_tiers_give_what_differences_give(name):
    f, args, kwargs = CALLS[name]
    fast.forget()
    for argnums, places in asked(args, kwargs):
        expected = [derivative(f, args, kwargs, place) for place in places]
        is_single = len(places) == 1 if argnums is None else not isinstance(argnums, tuple)
        for tier in ("generic", "fast"):
            for _ in range(2):
                made = ad.value_and_grad(f, argnums, tier=tier)
                for _ in range(2):
                    value, found = made(*args, **kwargs)
                    assert np.isclose(value, f(*args, **kwargs), rtol=1e-14)
                    found = [found] if is_single else found
                    for bar, other in zip(found, expected, strict=True):
                        assert np.shape(bar) == other.shape
                        assert np.allclose(bar, other, rtol=1e-6, atol=1e-8)
            assert ad.tier(ad.grad(f, argnums), *args, **kwargs).tier == "fast"


@pytest.mark.parametrize("name", CALLS)
def test_gradient_and_pullback(name):
    f, args, kwargs = CALLS[name]
    value, bars = ad.withgradient(f, *args, **kwargs)
    y, back = ad.pullback(f, *args, **kwargs)
    with generic_tier():
        assert not difference(ad.gradient(f, *args, **kwargs), bars, rtol=1e-12)
        _, generic = ad.pullback(f, *args, **kwargs)
        expected, *expected_bars = generic(2.0)
    for _ in range(2):
        f_bar, *found = back(2.0)
        assert not difference(found, expected_bars, rtol=1e-12)
        assert not difference(f_bar, expected, rtol=1e-12)
    assert value == y and len(bars) == len(args) == len(found)
    assert back(None) == (None,) * (1 + len(args))
    with np.errstate(all="ignore"):
        assert not difference(back(np.inf), generic(np.inf))


@pytest.mark.parametrize("argnums", [0, "w", "y", ("scale", 0), None])
def test_with_something_else(argnums):
    def both(w, x, y, *, scale=1.0):
        r = x @ w - y
        return scale * np.sum(r * r), r

    def value_of(*args, **kwargs):
        return both(*args, **kwargs)[0]

    for kwargs in ({"y": Y, "scale": 2.0}, {"scale": 2.0, "y": Y}):
        found, plain = [], ad.value_and_grad(functools.wraps(both)(value_of), argnums)
        for tier in ("fast", "generic"):
            made = ad.value_and_grad(both, argnums, has_aux=True, tier=tier)
            for _ in range(3):
                (value, r), bars = made(W, X, **kwargs)
                assert np.array_equal(r, X @ W - Y)
                found.append((value, bars))
        for one in found:
            assert not difference(one, plain(W, X, **kwargs), rtol=1e-12)


def test_by_paths():
    def f(model, *, data):
        return np.sum(model["w"] * data["x"]) * model["b"]

    model, data = {"w": W, "b": 2.0}, {"x": W + 1.0}
    for tier in ("fast", "generic"):
        for path, expected in (
            ([0, "b"], float(np.sum(W * (W + 1.0)))),
            (["data", "x"], 2.0 * W),
            ((["model", "w"], ["data", "x"]), (2.0 * (W + 1.0), 2.0 * W)),
        ):
            made = ad.grad(f, path, tier=tier)
            for _ in range(2):
                assert not difference(made(model, data=data), expected, rtol=1e-14)
    assert ad.tier(ad.grad(f, [0, "b"]), model, data=data).tier == "fast"


def test_one_object_by_position_and_by_name():
    """What is given by name is a constant, unless it is asked for, as any other variable."""

    def f(w, *, x):
        return np.sum(w * w * x)

    for tier in ("fast", "generic"):
        assert np.allclose(ad.grad(f, tier=tier)(W, x=W), 2.0 * W * W)
        first, second = ad.grad(f, (0, "x"), tier=tier)(W, x=W)
        assert np.allclose(first, 2.0 * W * W) and np.allclose(second, W * W)
    assert np.allclose(ad.gradient(f, W, x=W)[0], 2.0 * W * W)
    assert np.allclose(ad.pullback(f, W, x=W)[1](1.0)[1], 2.0 * W * W)


def test_what_is_given_may_change():
    made, by_name = ad.grad(loss), ad.grad(loss, "x")
    generic = ad.grad(loss, tier="generic")
    for scale, y, power in (
        (1.0, Y, 2),
        (2, Y, 2),
        (2.0, 1.0, 3),
        (np.float64(0.5), Y[:1], 2.0),
        (True, Y.astype(np.float32), 4),
    ):
        for _ in range(2):
            found = made(W, X, y=y, scale=scale, power=power)
            assert not difference(found, generic(W, X, y=y, scale=scale, power=power), rtol=1e-6)
            assert by_name(W, x=X, y=y, scale=scale, power=power).shape == X.shape


def test_parameters_may_change_their_places():
    def f(a, b):
        return a * a * b

    made = ad.grad(f, "a")
    assert made(2.0, 3.0) == 12.0
    f.__code__ = (lambda b, a: a * a * b).__code__
    assert made(2.0, 3.0) == 12.0 and made(b=2.0, a=5.0) == 20.0


def test_a_partial_may_change():
    def f(x, scale=1.0, shift=0.0):
        return x * x * scale + shift

    held = functools.partial(f, scale=2.0)
    made = ad.grad(held)
    assert made(3.0) == 12.0
    held.keywords["scale"] = 5.0
    assert made(3.0) == 30.0
    held.keywords["shift"] = 1.0
    assert ad.value_and_grad(held)(3.0) == (46.0, 30.0)
    del held.keywords["scale"]
    assert made(3.0) == 6.0
    held.__setstate__((lambda x, shift: x * shift, (), {"shift": 7.0}, None))
    assert made(3.0) == 7.0


@pytest.mark.parametrize(
    "call",
    [
        lambda of: of(loss)(W, X, z=1.0),
        lambda of: of(loss)(W, X, x=X),
        lambda of: of(loss)(W, y=Y),
        lambda of: of(only_by_position)(w=W),
        lambda of: of(loss, "z")(W, X, scale=2.0),
        lambda of: of(loss, 2)(W, X, scale=2.0),
        lambda of: of(loss, -3)(W, X, scale=2.0),
        lambda of: of(loss, "y")(W, X, scale=2.0),
        lambda of: of(loss, True)(W, X, scale=2.0),
    ],
)
@pytest.mark.parametrize("of", [ad.grad, ad.value_and_grad])
def test_errors_are_those_of_the_generic_tier(call, of):
    messages = []
    for tier in ("fast", "generic"):
        with pytest.raises((TypeError, ArgumentError)) as found:
            call(functools.partial(of, tier=tier))
        messages.append(str(found.value))
    assert messages[0] == messages[1]


def test_an_array_given_by_name_may_not_change_before_the_pullback():
    """With a cotangent with which the program fails, the function runs once more."""
    y = Y.copy()
    _, back = ad.pullback(lambda w, y: np.sum(w[:, None] * y), W, y=y)
    assert np.allclose(back(1.0)[1], y.sum())
    with np.errstate(all="ignore"):
        assert not np.any(np.isfinite(back(np.inf)[1]))


# ---- functions that go by the order of names, and programs that are forgotten --------------------


def horner(w, **more):
    y = w
    for r in more.values():
        y = y * 2.0 + r
    return y


@pytest.mark.parametrize("tier", ["fast", "generic"])
def test_names_keep_their_order(tier):
    """The first of them counts four times."""
    named = {"a": 1.0, "b": 10.0, "c": 100.0}
    bars = {0: 8.0, "a": 4.0, "b": 2.0, "c": 1.0}
    for argnums in (*bars, *itertools.permutations(bars, 2), *itertools.permutations(bars, 3)):
        expected = tuple(bars[i] for i in argnums) if isinstance(argnums, tuple) else bars[argnums]
        for _ in range(2):
            assert ad.value_and_grad(horner, argnums, tier=tier)(1.0, **named) == (132.0, expected)
    pair = lambda w, **more: (horner(w, **more), [*more])
    for argnums in ("c", ("b", 0)):
        value, bar = ad.value_and_grad(pair, argnums, has_aux=True, tier=tier)(1.0, **named)
        assert value == (132.0, ["a", "b", "c"])
        assert bar == (1.0 if argnums == "c" else (2.0, 8.0))
    of_lists = lambda w, **more: horner(w, **{name: xs[0] for name, xs in more.items()})
    lists = {name: [x] for name, x in named.items()}
    assert ad.value_and_grad(of_lists, ["c", 0], tier=tier)(1.0, **lists) == (132.0, 1.0)
    with generic_tier() if tier == "generic" else contextlib.nullcontext():
        assert ad.jacobian(lambda *a, **k: np.array([horner(*a, **k)]), 1.0, **named) == 8.0
        for mode in ("forward", "reverse"):
            found = ad.jacobian(horner, 1.0, **named, argnums="c", mode=mode)
            assert found == 1.0
        cubed = lambda w, **more: horner(w, **more) ** 3
        assert np.isclose(ad.hessian(cubed, 1.0, **named, argnums="c"), 6.0 * 132.0)


def test_a_rule_takes_effect_on_programs_that_are_no_longer_kept():
    def inner(x):
        return x * x

    def f(x, *, s=1.0):
        return inner(x) * s

    made = ad.grad(f)
    assert (made(3.0), made(3.0, s=2.0)) == (6.0, 12.0)
    scope = {}
    for i in range(fast.MOST_FUNCTIONS // 2 + 8):
        exec(f"def f{i}(x): return x", scope)
        ad.gradient(scope[f"f{i}"], 1.0)
        ad.pullback(scope[f"f{i}"], 1.0)

    @ad.rrule.register(inner)
    def _(x):
        return x * x, lambda y_bar: (None, 1000.0 * y_bar)

    assert (made(3.0), made(3.0, s=2.0)) == (1000.0, 2000.0)


def scored(w, **features):
    return sum(w * x for x in features.values())


def test_a_function_whose_arguments_have_other_names_each_time():
    """Few programs are made of it, and none of them costs others theirs."""
    fast.forget()
    made, both = ad.grad(scored), ad.value_and_grad(scored)
    for i in range(6 * fast.MOST_MODES):
        named = {f"x{i}": 2.0, f"y{i % 7}": 1.0 * i}
        assert made(3.0, **named) == 2.0 + i
        assert both(3.0, **named) == (3.0 * (2.0 + i), 2.0 + i)
        assert ad.gradient(scored, 3.0, **named) == (2.0 + i,)
    assert len(fast._kept) <= fast.MOST_MODES
    found = ad.tier(made, 3.0, z=2.0)
    assert (found.tier, found.reason) == ("generic", fast.TOO_MANY_MODES)
    assert made(3.0, x0=2.0, y0=5.0) == 7.0


def test_a_function_of_any_number_of_arguments():
    fast.forget()
    total = lambda *xs, s=1.0: sum(x * x for x in xs) * s
    for n in range(1, 3 * fast.MOST_KINDS):
        xs = [float(i) for i in range(n)]
        for _ in range(2):
            found = ad.grad(total, None)(*xs, s=2.0)
            assert found == (tuple(4.0 * x for x in xs) if n > 1 else 0.0)
            assert ad.gradient(total, *xs, s=2.0) == tuple(4.0 * x for x in xs)
    assert len(fast._kept) <= 3
    assert all(len(kept.entries) <= fast.MOST_KINDS for kept in fast._kept.values())


def test_a_path_is_what_it_was_when_it_was_given():
    path = [0]
    made = ad.grad(lambda a, b: a * a * b, path)
    assert made(2.0, 3.0) == 12.0
    path[0] = 1
    assert made(2.0, 3.0) == 12.0


def test_a_signature_may_change():
    @functools.wraps(lambda a, b: None)
    def f(*args):
        return args[0] * args[0] * args[1]

    made = [ad.grad(f, "a"), ad.grad(f, ["a"]), ad.grad(f, ("a",))]
    assert [one(2.0, 3.0) for one in made] == [12.0, 12.0, (12.0,)]
    f.__wrapped__ = lambda b, a: None
    assert [one(2.0, 3.0) for one in made] == [4.0, 4.0, (4.0,)]
    assert ad.grad(f, "a", tier="generic")(2.0, 3.0) == 4.0


def test_a_function_of_many_arguments_has_as_many_gradients():
    def f(*xs):
        return sum(i * x * x for i, x in enumerate(xs))

    xs = [float(i) for i in range(fast.MOST_MODES + 8)]
    for i, x in enumerate(xs):
        made = ad.grad(f, i)
        assert made(*xs) == 2.0 * i * x and ad.tier(made, *xs).tier == "fast"
    assert ad.tier(f, *xs).tier == "fast"
    assert repr(made) == f"<function grad of {f.__qualname__}>"


def test_code_calls_arguments_by_their_names():
    def f(x, a=1.0, b=2.0, *rest, **named):
        return x * x * a * b * b + sum(rest) + sum(named.values())

    def parameters(*args, **kwargs):
        assert ad.tier(f, *args, **kwargs).tier == "fast"
        return ad.code(f, *args, **kwargs).split("(")[1].split(")")[0].split(", ")

    assert parameters(3.0, b=2.0)[-2:] == ["x", "b"]
    assert parameters(b=2.0, x=3.0)[-2:] == ["b", "x"]
    assert parameters(3.0, 1.0, 2.0, 4.0, c=5.0)[-5:] == ["x", "a", "b", "x3", "c"]
    odd = {"a b": 1.0, "class": 2.0, "x=1, y": 3.0, "print": 4.0, "": 5.0}
    assert all(name.isidentifier() for name in parameters(3.0, **odd))
    assert ad.gradient(f, 3.0, **odd) == (24.0,)
