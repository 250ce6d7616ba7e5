"""What is given at two positions, or is given and held by the function, is two variables: each
operator gives what it gives for copies."""

from __future__ import annotations

import copy
import enum
import functools
from collections import OrderedDict, deque
from dataclasses import dataclass
from types import FunctionType, MappingProxyType, SimpleNamespace

import numpy as np
import pytest

import adjoint as ad
from adjoint.errors import MutationError
from adjoint.fast.programs import store
from adjoint.levels.reverse import nested
from tests.structures import difference, is_leaf, mapped

A = np.array([1.0, 2.0, -0.5])


class Kind(enum.Enum):
    PLAIN = 1
    SQUARED = 2


class Layer:
    def __init__(self, w, config=None):
        self.w, self.config, self.kind = w, config, Kind.SQUARED

    def of(self, other):
        return (self.w * other.w**2).sum() * self.config["rate"]

    def __call__(self, x):
        assert self.kind is Kind.SQUARED
        return self.w * x * (1.0 if self.config is None else self.config["rate"])


@dataclass(frozen=True)
class Frozen:
    w: object
    rate: float = 3.0


class Slotted:
    __slots__ = ("w",)

    def __init__(self, w):
        self.w = w


def objects(*items):
    made = np.empty(len(items), dtype=object)
    made[:] = items
    return made


def scaled(k):
    return lambda x: k * x


def counted():
    k = [2.0]

    def get(x):
        return k[0] * x

    def other(x):
        return k[0] ** 2 * x

    return get, other


def of_layers(p, q):
    return (p(A) * q(A) ** 2).sum()


def unread(f):
    """`f`, which has to run in the generic tier."""

    @functools.wraps(f)
    def generic(*args):
        eval("0")
        return f(*args)

    return generic


def _twice(x):
    return x, x


READ = {
    "arrays": (lambda p, q: (p * q**2).sum(), lambda: _twice(A)),
    "one of them": (lambda p, q: (p * p).sum(), lambda: _twice(A)),
    "three arrays": (lambda p, q, r: (p * q**2 * r**3).sum(), lambda: (A, A, A)),
    "views": (lambda p, q: (p * q**2).sum(), lambda: (A[:2], A[1:])),
    "lists": (lambda p, q: p[0] * q[0] ** 2 + q[1], lambda: _twice([2.0, 3.0])),
    "lists of arrays": (lambda p, q: (p[0] * q[0] ** 2).sum(), lambda: _twice([A])),
    "dicts": (lambda p, q: p["a"] * q["a"] ** 2, lambda: _twice({"a": 2.0, "n": "text"})),
    "ordered": (lambda p, q: p["a"] * q["a"] ** 2, lambda: _twice(OrderedDict(a=2.0))),
    "in dicts": (lambda p, q: (p["w"] * q["w"] ** 2).sum(), lambda: ({"w": A}, {"w": A})),
    "in a dict": (lambda p, q: (p["w"] * q**2).sum(), lambda: ({"w": A}, A)),
    "beside a dict": (lambda p, q: (p * q["w"] ** 2).sum(), lambda: (A, {"w": A})),
    "twice inside": (lambda p, q: (p[0] * p[1] * q).sum(), lambda: ([A, A], A)),
    "objects": (of_layers, lambda: _twice(Layer(A, {"rate": 2.0}))),
    "objects of one config": (
        of_layers,
        lambda: (lambda c: (Layer(A, c), Layer(A + 1.0, c)))({"rate": 2.0}),
    ),
    "part of an object": (
        lambda p, q: (p.w * q["rate"] ** 2).sum() * p.config["rate"],
        lambda: (lambda c: (Layer(A, c), c))({"rate": 2.0}),
    ),
    "frozen": (lambda p, q: (p.w * q.w**2).sum() * q.rate, lambda: _twice(Frozen(A))),
    "in frozen ones": (
        lambda p, q: p.w[0] * q.w[0] ** 2,
        lambda: (lambda w: (Frozen(w), Frozen(w)))([2.0]),
    ),
    "slots": (lambda p, q: (p.w * q.w**2).sum(), lambda: _twice(Slotted(A))),
    "in slots": (
        lambda p, q: p.w[0] * q.w[0] ** 2,
        lambda: (lambda w: (Slotted(w), Slotted(w)))([2.0]),
    ),
    "namespaces": (lambda p, q: p.a * q.a**2, lambda: _twice(SimpleNamespace(a=2.0))),
    "deques": (lambda p, q: p[0] * q[0] ** 2, lambda: _twice(deque([2.0]))),
    "tuples in lists": (
        lambda p, q: p[0][0] * q[0][0] ** 2,
        lambda: (lambda t: ([t], [t]))((2.0, 3.0)),
    ),
    "nested lists": (
        lambda p, q: p[0][0][0] * q[0][0] ** 2,
        lambda: (lambda inner: ([[inner]], [inner]))([2.0]),
    ),
    "arrays of objects": (
        lambda p, q: p[0] * q[0] ** 2 * p[1][0],
        lambda: _twice(objects(2.0, [3.0])),
    ),
    "views of objects": (
        lambda p, q: p[0] * q[1] ** 2,
        lambda: (lambda o: (o, o[::-1]))(objects(2.0, 3.0)),
    ),
    "closures": (lambda f, g: f(2.0) * g(3.0) ** 2, lambda: _twice(scaled(1.5))),
    "closures of one variable": (lambda f, g: f(2.0) * g(3.0) ** 2, counted),
    "a proxy": (
        lambda p, q: p["a"] * q["a"] ** 2,
        lambda: (lambda d: (MappingProxyType(d), d))({"a": 2.0}),
    ),
}
WITHOUT_TANGENTS = {"a proxy", "twice inside"}


def apart(args):
    return tuple(map(copied, args))


def copied(x):
    if isinstance(x, MappingProxyType):
        return MappingProxyType(dict(x))
    return mapped(x) if type(x) is FunctionType else copy.deepcopy(x)


def tangent(x, rng):
    if isinstance(x, np.ndarray) and x.dtype.kind == "O":
        return objects(*[tangent(item, rng) for item in x])
    if is_leaf(x):
        dot = rng.normal(size=np.shape(x))
        return dot if isinstance(x, np.ndarray) else float(dot)
    if isinstance(x, list | tuple | deque):
        return [tangent(item, rng) for item in x]
    if isinstance(x, dict):
        return {key: tangent(item, rng) for key, item in x.items()}
    if isinstance(x, str | enum.Enum | None):
        return None
    if callable(x) and not isinstance(x, Layer):
        names = x.__code__.co_freevars
        cells = x.__closure__
        return {
            name: tangent(cell.cell_contents, rng) for name, cell in zip(names, cells, strict=True)
        }
    fields = {"w": x.w} if isinstance(x, Slotted) else vars(x)
    return {name: tangent(item, rng) for name, item in fields.items()}


def _of_generic_tier(f, *args):
    return ad.grad(f, tuple(range(len(args))), tier="generic")(*args)


def _on_a_tape(f, *args):
    return nested(f, args, {}, of_function=False)[1](1.0)[1:]


def _inside(f, *args):
    """Inside differentiated code, with respect to something else."""

    def outer(t):
        bars = ad.gradient(lambda *xs: f(*xs) * t, *args)
        return _total(bars) * t

    return ad.gradient(outer, 1.5)[0], ad.pushforward(outer, (1.5,), (1.0,))[1]


def _total(bars):
    if bars is None or isinstance(bars, str):
        return 0.0
    if isinstance(bars, np.ndarray) and bars.dtype.kind != "O":
        return np.sum(bars)
    if isinstance(bars, float):
        return bars
    parts = bars.values() if isinstance(bars, dict | ad.Tangent) else bars
    total = 0.0
    for part in parts:
        total = total + _total(part)
    return total


OPERATORS = {
    "gradient": ad.gradient,
    "withgradient": ad.withgradient,
    "generic": _of_generic_tier,
    "printing": lambda f, *args: ad.gradient(unread(f), *args),
    "first": lambda f, *args: ad.grad(f)(*args),
    "second": lambda f, *args: ad.grad(f, 1)(*args),
    "pullback": lambda f, *args: ad.pullback(f, *args)[1](1.0)[1:],
    "generic pullback": lambda f, *args: ad.pullback(unread(f), *args)[1](1.0)[1:],
    "tape": _on_a_tape,
    "inside": _inside,
}


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("name", READ)
def test_reverse(name, operator):
    f, make = READ[name]
    args, run = make(), OPERATORS[operator]
    before = apart(args)
    found = run(f, *args)
    problem = difference(found, run(f, *apart(args)), rtol=1e-12)
    assert problem is None, problem
    assert not difference(args, before), "the caller's data"
    assert [*map(id, args)] == [*map(id, args)]


@pytest.mark.parametrize("name", sorted(READ.keys() - WITHOUT_TANGENTS))
def test_forward(name):
    f, make = READ[name]
    args, rng = make(), np.random.default_rng(1)
    dots = tuple(tangent(arg, rng) for arg in args)
    bars = _of_generic_tier(f, *apart(args))
    for i in (*range(len(args)), None):
        some = tuple(dot if i in (k, None) else None for k, dot in enumerate(dots))
        pairs = zip(bars, some, strict=True)
        expected = sum(_paired(bar, dot) for bar, dot in pairs)
        assert ad.pushforward(f, args, some)[1] == pytest.approx(expected, rel=1e-12)


def _paired(bar, dot):
    if bar is None or dot is None:
        return 0.0
    if isinstance(dot, dict):
        bar = dict(bar)
        return sum(_paired(bar.get(key), part) for key, part in dot.items())
    if isinstance(dot, list) or (isinstance(dot, np.ndarray) and dot.dtype.kind == "O"):
        return sum(_paired(*pair) for pair in zip(bar, dot, strict=True))
    return float(np.sum(bar * dot))


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("name", ["arrays", "lists", "in dicts", "objects", "views"])
def test_jacobians(name, mode):
    f, make = READ[name]
    args = make()
    for operator in (ad.jacobian, ad.hessian):
        if (operator, name) == (ad.hessian, "views"):
            continue  # copies would not share memory
        found, expected = (operator(f, *given, mode=mode) for given in (args, apart(args)))
        assert not difference(found, expected, rtol=1e-12)


def test_the_kernel_of_a_gaussian_process():
    def kernel(x, y):
        return np.exp(-0.5 * ((x[:, None] - y[None, :]) ** 2)).sum()

    expected = ad.grad(kernel)(A, A.copy())
    for tier in ("fast", "generic"):
        np.testing.assert_allclose(ad.grad(kernel, tier=tier)(A, A), expected)
    mixed = ad.jacobian(lambda y: ad.grad(kernel)(A, y), A)
    step = 1e-6 * np.eye(3)
    by_steps = [(ad.grad(kernel)(A, A + e) - ad.grad(kernel)(A, A - e)) / 2e-6 for e in step]
    np.testing.assert_allclose(mixed.T, by_steps, atol=1e-8)


# ---- what the function holds ---------------------------------------------------------------------

STATE = {"w": 2.0, "all": [3.0]}


def of_state(state):
    return state["w"] * STATE["w"] ** 2 * STATE["all"][0]


def of_state_elsewhere(state):
    return state["w"] * _weight() ** 2


def _weight():
    return STATE["w"]


def capturing(held):
    return lambda p: p["w"] * held["w"] ** 2


class Holding:
    def __init__(self, held):
        self.held = held

    def of(self, p):
        return p["w"] * self.held["w"] ** 2

    __call__ = of


HELD = {
    "global": of_state,
    "global of a function that is called": of_state_elsewhere,
    "captured": capturing(STATE),
    "bound": Holding(STATE).of,
    "called": Holding(STATE),
    "default": lambda p, held=STATE: p["w"] * held["w"] ** 2,
    "partial": functools.partial(lambda held, p: p["w"] * held["w"] ** 2, STATE),
}


WEIGHTS = np.array([1.0, 2.0, 3.0])
MODEL = {"w": Holding(WEIGHTS)}


def doubled_first(w):
    w[0] *= 2.0
    return w.sum() * MODEL["w"].held.sum()


def doubled_first_elsewhere(w):
    w[0] *= 2.0
    return w.sum() * _whole()


def _whole():
    return MODEL["w"].held.sum()


def doubled_with_a_base(w):
    assert w.base is None
    return doubled_first(w)


def doubled_of_a_view(w):
    assert w.base.size == 3
    return doubled_first(w)


@pytest.mark.parametrize(
    "f", [doubled_first, doubled_first_elsewhere, doubled_with_a_base, doubled_of_a_view]
)
def test_an_array_in_a_global_object_is_written(f):
    """The write is seen in both, so the other holds ``2 w[0]``, too."""
    dot = np.array([1.0, -2.0, 0.5])
    whole = np.array([1.0, 2.0, 3.0])
    MODEL["w"].held = whole[:] if f is doubled_of_a_view else whole
    expected = np.array([28.0, 7.0, 7.0])
    for run in (ad.gradient, _of_generic_tier):
        whole[0] = 1.0
        np.testing.assert_array_equal(run(f, MODEL["w"].held)[0], expected)
    whole[0] = 1.0
    assert ad.pushforward(f, (MODEL["w"].held,), (dot,)) == (49.0, expected @ dot)


@pytest.mark.parametrize("name", HELD)
def test_what_the_function_holds(name):
    f, other = HELD[name], copied(STATE)
    for run in (ad.gradient, _of_generic_tier, _on_a_tape):
        assert not difference(run(f, STATE), run(f, other), rtol=1e-14)
    dot = {"w": 1.0}
    assert ad.pushforward(f, (STATE,), (dot,)) == ad.pushforward(f, (other,), (dot,))
    found, expected = ad.pullback(f, STATE)[1](1.0), ad.pullback(f, other)[1](1.0)
    assert not difference(found[1], expected[1], rtol=1e-14)


def test_the_object_of_a_method():
    layer = Layer(A, {"rate": 2.0})
    other = copied(layer)
    for tier in ("fast", "generic"):
        found, expected = (ad.grad(layer.of, tier=tier)(given) for given in (layer, other))
        assert not difference(found, expected, rtol=1e-14)
    for f in (layer.of, unread(layer.of)):
        (own, found), (expected_own, expected) = (
            ad.pullback(f, given)[1](1.0) for given in (layer, other)
        )
        assert not difference(found, expected, rtol=1e-14)
        assert not difference(own, expected_own, rtol=1e-14)


def test_a_keyword_argument_is_a_constant():
    def f(p, *, held):
        return p["w"] * held["w"] ** 2

    for tier in ("fast", "generic"):
        assert ad.grad(f, tier=tier)(STATE, held=STATE)["w"] == 4.0
        first, second = ad.grad(f, (0, "held"), tier=tier)(STATE, held=STATE)
        assert first["w"] == 4.0 and second["w"] == 8.0
    assert ad.pushforward(f, (STATE,), ({"w": 1.0},), held=STATE) == (8.0, 4.0)


def test_the_outer_derivative_sees_one_array():
    def inner(v, take):
        bars = take(lambda x, y: (x * y**2).sum(), v, v)
        return (bars[0] * bars[1]).sum()  # v² · 2 v²

    operators = {"slope": ad.gradient}
    for take in (ad.gradient, operators["slope"], lambda *given: operators["slope"](*given)):
        assert inner(A, take) == pytest.approx((2.0 * A**4).sum())
        for operator in (ad.grad, lambda f: ad.grad(f, tier="generic")):
            found = operator(lambda v, take=take: inner(v, take))(A)
            np.testing.assert_allclose(found, 8.0 * A**3)
        pushed = ad.pushforward(lambda v, take=take: inner(v, take), (A,), (A,))
        assert pushed[1] == pytest.approx((8.0 * A**4).sum())


def test_captured_in_an_outer_derivative():
    def outer(v):
        return (ad.gradient(lambda x: (x * v**2).sum(), v)[0] * v).sum()

    np.testing.assert_allclose(ad.gradient(outer, A)[0], 3.0 * A**2)
    np.testing.assert_allclose(ad.jacobian(outer, A, mode="forward"), 3.0 * A**2)


# ---- writes --------------------------------------------------------------------------------------


def _set(p, q):
    p[0] = 5.0
    return q[0] * q[1]


def _set_and_put_back(p, q):
    old = p[0]
    p[0] = 5.0
    y = q[0] * q[1]
    p[0] = old
    return y


def _set_through_the_second(p, q):
    q[0] = p[0] * 2.0
    return p[0] * q[0]


def _append(p, q):
    p.append(p[0])
    return q[0] * len(q)


def _key(p, q):
    p["b"] = p["a"] * 2.0
    return q["a"]


def _field(p, q):
    p.w = 2.0 * p.w
    return q.w.sum()


def _deep(p, q):
    p["all"][0] *= 2.0
    return q[0]


def _add(p, q):
    p.add(3.0)
    return sum(q) * 1.0


def _assign(f, g):
    f(5.0)
    return g(1.0)


def _cell():
    k = 2.0

    def f(x):
        nonlocal k
        k = x * k
        return k

    return f


WRITTEN = {
    "list": (_set, lambda: _twice([2.0, 3.0])),
    "put back": (_set_and_put_back, lambda: _twice([2.0, 3.0])),
    "through the second": (_set_through_the_second, lambda: _twice([2.0, 3.0])),
    "append": (_append, lambda: _twice([2.0, 3.0])),
    "deque": (_append, lambda: _twice(deque([2.0, 3.0]))),
    "dict": (_key, lambda: _twice({"a": 2.0})),
    "object": (_field, lambda: _twice(Layer(A))),
    "slot": (_field, lambda: _twice(Slotted(A))),
    "deep": (_deep, lambda: (lambda xs: ({"all": xs}, xs))([2.0, 3.0])),
    "set": (_add, lambda: _twice({1.0, 2.0})),
    "captured variable": (_assign, lambda: _twice(_cell())),
}
MODES = {
    "gradient": ad.gradient,
    "generic": _of_generic_tier,
    "pullback": ad.pullback,
    "tape": _on_a_tape,
    "forward": lambda f, *args: ad.pushforward(
        f, args, tuple(tangent(arg, np.random.default_rng(1)) for arg in args)
    ),
    "jacobian": ad.jacobian,
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", WRITTEN)
def test_a_container_that_is_given_twice_is_not_written(name, mode):
    if name == "set" and mode in ("forward", "jacobian"):
        pytest.skip("sets have no tangents")
    if name == "captured variable" and mode == "jacobian":
        pytest.skip("functions have no Jacobian")
    f, make = WRITTEN[name]
    with pytest.raises(MutationError, match="is written that is given twice, as argument"):
        MODES[mode](f, *make())


def test_what_is_captured_and_given_is_not_written():
    xs = [2.0, 3.0]

    def f(p):
        xs[0] = 5.0
        return p[0] * p[1]

    with pytest.raises(MutationError, match="as argument 0 and in what 'f' holds"):
        ad.gradient(f, xs)


def test_what_only_holds_it_is_written():
    """Layers of one configuration keep what they are given."""

    def f(p, q):
        p.x = 2.0 * p.config["rate"]
        q.x = [p.x * q.config["rate"] ** 2, q.config]
        return q.x[0]

    for run in (ad.gradient, _of_generic_tier, _on_a_tape):
        config = {"rate": 3.0}
        p, q = Layer(A, config), Layer(A, config)
        bars = run(f, p, q)
        assert bars[0].config["rate"] == 18.0 and bars[1].config["rate"] == 36.0
        assert p.config is q.config is config
        assert float(p.x) == 6.0 and float(q.x[0]) == 54.0
    config = {"rate": 3.0}
    p, q = Layer(A, config), Layer(A, config)
    pushed = ad.pushforward(f, (p, q), ({"config": {"rate": 1.0}}, None))
    assert pushed == (54.0, 18.0) and p.config is q.config is config


def test_a_constant_that_is_given_twice_is_written():
    def f(x, p, q):
        p.append(1)
        return x * len(q)

    log = []
    assert ad.grad(f)(2.0, log, log) == 1.0
    assert ad.grad(f, tier="generic")(2.0, log, log) == 2.0 and log == [1, 1]
    assert ad.pushforward(f, (2.0, log, log), (1.0, None, None)) == (6.0, 3.0)


def test_arrays_in_containers_are_written():
    def f(p, q):
        p["w"][0] = 7.0
        p["w"] *= 2.0
        return (p["w"] * q["w"] ** 2).sum()

    values = 2.0 * np.array([7.0, 2.0, -0.5])
    expected = [0.0, *(2.0 * (values**2 + 2.0 * values**2))[1:]], [0.0, 0.0, 0.0]
    for run in (ad.gradient, _of_generic_tier, _on_a_tape):
        for held in (lambda a: ({"w": a}, {"w": a}), lambda a: _twice({"w": a})):
            a = A.copy()
            args = held(a)
            bars = run(f, *args)
            np.testing.assert_allclose(bars[0]["w"], expected[0])
            np.testing.assert_allclose(0.0 if bars[1] is None else bars[1]["w"], expected[1])
            np.testing.assert_array_equal(a, values)
            assert args[0]["w"] is args[1]["w"] is a


def test_a_call_that_fails_puts_everything_back():
    config = {"rate": 3.0}
    p, q = Layer(A, config), Layer(A, config)

    def f(p, q):
        p.x = q.config["rate"]
        raise ValueError("no")

    for run in (ad.gradient, _of_generic_tier, _on_a_tape):
        with pytest.raises(ValueError, match="no"):
            run(f, p, q)
        assert p.config is q.config is config


def test_one_object_at_two_positions_is_one_object_to_the_caller():
    a = A.copy()
    y, back = ad.pullback(unread(lambda p, q: q), a, a)
    assert y is a
    np.testing.assert_array_equal(back(A)[2], A)
    assert back(A)[1] is None


def test_sharing_is_found_by_what_arguments_hold_alone():
    """A function that holds much is not searched."""
    data = [np.ones(2) for _ in range(200_000)]

    def f(p):
        return unread(lambda: p["w"] * data[0].sum())()

    assert ad.grad(f, tier="generic")({"w": 2.0}) == {"w": 2.0}


# ---- identity ------------------------------------------------------------------------------------


class Particle:
    def __init__(self, x):
        self.x = x


PARTICLES = [Particle(1.0), Particle(2.0), Particle(3.0)]
ARRAYS = [np.array([1.0, 2.0]), np.array([3.0, 5.0])]


def of_the_others(p):
    return sum(p.x * o.x for o in PARTICLES if o is not p)


def of_unequal_ones(p):
    return sum(p.x * o.x for o in PARTICLES if o != p)


def of_one_of_them(p):
    return p.x * (10.0 if p in PARTICLES else 1.0)


@pytest.mark.parametrize(
    "f, slope", [(of_the_others, 5.0), (of_unequal_ones, 5.0), (of_one_of_them, 10.0)]
)
def test_a_copy_is_what_it_stands_for(f, slope):
    """The loop over all pairs of bodies leaves out the one that is given."""
    p = PARTICLES[0]
    assert ad.withgradient(f, p).value == f(p) == ad.pullback(f, p)[0]
    for tier in ("fast", "generic"):
        assert ad.grad(f, tier=tier)(p).x == slope
    assert ad.pushforward(f, (p,), ({"x": 1.0},)) == (f(p), slope)
    nested = ad.gradient(lambda s: ad.gradient(lambda p: f(p) * s, p)[0].x, 2.0)
    assert nested == (slope,)


def test_identity_of_two_arguments():
    def f(p, q):
        return p["a"] * 2.0 if p is q else p["a"] * q["a"]

    d = {"a": 3.0}
    assert ad.withgradient(f, d, d) == (6.0, ({"a": 2.0}, {"a": 0.0}))
    assert ad.pushforward(f, (d, d), ({"a": 1.0}, {"a": 1.0})) == (6.0, 2.0)


def test_identity_of_arrays():
    def f(v):
        return sum(v @ o for o in ARRAYS if o is not v)

    v = ARRAYS[0]
    assert ad.withgradient(f, v).value == f(v) == 13.0
    for tier in ("fast", "generic"):
        np.testing.assert_array_equal(ad.grad(f, tier=tier)(v), ARRAYS[1])
    assert ad.pushforward(f, (v,), (np.ones(2),)) == (13.0, 8.0)


WHOLE_LISTS = [
    lambda items: np.array(items)[0],
    lambda items: np.stack(items)[0],
    lambda items: np.concatenate(items)[:4],
    lambda items: np.sum(items, axis=0),
    lambda items: np.array({"a": items}["a"])[0],
]


@pytest.mark.parametrize("read", WHOLE_LISTS)
def test_an_array_that_is_read_with_its_list_is_another_variable_than_the_written_one(read):
    def twice(a, x, items):
        x[0] = a
        return a * np.sum(read(items) ** 2) + np.sum(x**3)

    def once(a, x, items):
        x[0] = items[0][0] = a
        return a * np.sum(read(items) ** 2) + np.sum(x**3)

    x, y = np.array([0.1, 0.2, 0.3, 0.4]), np.array([1.0, 2.0, 3.0, 4.0])
    expected = ad.gradient(once, 0.5, x.copy(), [x.copy(), y])
    value, back = ad.pullback(twice, 0.5, x, items := [x, y])
    for _ in range(2):
        assert difference(back(1.0)[1:], expected) is None
        assert items[0] is x and np.array_equal(x, [0.5, 0.2, 0.3, 0.4])


_NAMED = [1.0, 2.0, 3.0]


def _by_the_named(xs):
    return sum(xs) * _NAMED[0]


def test_what_a_captured_function_names_is_constant():
    def through(g):
        return lambda xs: g(xs)

    for tier in ("fast", "generic"):
        found = ad.grad(through(_by_the_named), tier=tier)(_NAMED)
        assert found == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("is_fast", [True, False])
def test_what_a_function_holds_is_constant_in_second_derivatives(is_fast, monkeypatch):
    monkeypatch.setattr(store, "is_enabled", [is_fast])
    held = [1.0, 2.0, 3.0]

    def far(xs):
        return sum((x - y) ** 2 for x, y in zip(xs, held, strict=True))

    v = [1.0, 2.0, 3.0]
    assert ad.hvp(far, held, v) == [2.0, 4.0, 6.0]
    assert ad.pushforward(ad.grad(far), (held,), (v,))[1] == [2.0, 4.0, 6.0]
    assert ad.hvp(_by_the_named, _NAMED, v) == [0.0, 0.0, 0.0]
