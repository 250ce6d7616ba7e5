"""Programs that write to lists, dicts and objects of their caller: the derivatives, and what is
stored, are those of the generic tier."""

from __future__ import annotations

import copy
import functools

import numpy as np
import pytest

import adjoint as ad
from adjoint.errors import MutationError
from adjoint.fast.programs import store
from adjoint.runtime.results import with_zeros
from tests.structures import difference


class Body:
    def __init__(self, x, v, m):
        self.x, self.v, self.m, self.name = x, v, m, "a body"

    def move(self, dt):
        self.x += self.v * dt

    @property
    def energy(self):
        return self.m * self.v**2


def bodies(bodies, dt):
    for _ in range(3):
        for i, a in enumerate(bodies):
            for b in bodies[i + 1 :]:
                d = a.x - b.x
                k = dt / (d * d + 0.1) ** 1.5
                a.v -= d * b.m * k
                b.v += d * a.m * k
        for b in bodies:
            b.move(dt)
    return sum([b.energy for b in bodies])


def of_list(xs, y):
    xs[0] = y * xs[1]
    xs.append(xs[0] * 3)
    return xs[-1] * xs[1]


def of_dict(d, y):
    d["a"] = d["b"] * y
    d["new"] = [d["a"], (y, 2)]
    return d["a"] * d["b"]


def of_object(o, y):
    o.x = np.array([y, y * y])
    o.history = [o.x, y, "text"]
    o.itself = o
    o.other = Body(y, 2.0, o.history)
    return (o.x * o.m).sum()


def unread(o, y):
    o.x = y * 2
    return y * y


def in_loops(xs, n):
    for i in range(n):
        xs[i] = xs[i - 1] * xs[i]
    return sum(xs)


def sometimes(o, xs, y):
    if y > 1:
        o.x = o.x * y
        xs[1] = o.x
    for _ in range(0):
        o.v = y
    return o.x * xs[1] + o.v


def arrays(o, y):
    o.x[0] = y
    o.x *= o.m
    o.v = o.x
    o.v[1] += y
    return (o.x * o.x).sum() * y


def stored_cotangent(o, a):
    b = np.sin(a)
    o.x = b
    return (a * b).sum()


def body(x=1.0):
    return Body(x, 2.0, 3.0)


CASES = [
    (bodies, ([Body(1.0, 0.0, 1.0), Body(2.0, 0.5, 2.0), Body(4.0, -0.5, 0.3)], 0.1)),
    (of_list, ([1.0, 2.0], 3.0)),
    (of_dict, ({"b": 2.0, "a": 1.0, "c": "text"}, 3.0)),
    (of_object, (body(), 2.0)),
    (unread, (body(), 2.0)),
    (in_loops, ([1.0, 2.0, 3.0, 4.0], 3)),
    (in_loops, ([1.0 + i / 10 for i in range(30)], 20)),
    (sometimes, (body(), [1.0, 2.0], 1.5)),
    (sometimes, (body(), [1.0, 2.0], 0.5)),
    (arrays, (body(np.array([1.0, 2.0, 3.0])), 1.5)),
    (stored_cotangent, (body(), np.array([1.0, 2.0]))),
]


def in_both_tiers(operator, args):
    found = []
    for is_fast in (True, False):
        given = copy.deepcopy(args)
        before, store.is_enabled[0] = store.is_enabled[0], is_fast
        try:
            found.append((operator(*given), given))
        finally:
            store.is_enabled[0] = before
    return found


@pytest.mark.parametrize(("f", "args"), CASES)
def test_gradients_and_contents_agree(f, args):
    for _ in range(2):
        found = in_both_tiers(lambda *args: ad.withgradient(f, *args), args)
        assert not difference(*found, rtol=1e-11)
    report = ad.tier(f, *copy.deepcopy(args))
    assert report.tier == "fast", report


@pytest.mark.parametrize(("f", "args"), CASES)
def test_pullbacks_agree(f, args):
    def twice(*args):
        before = copy.deepcopy(args)
        y, back = ad.pullback(f, *args)
        return y, [
            [with_zeros(x, bar) for x, bar in pairs]
            for pairs in (zip(before, back(1.0)[1:], strict=True) for _ in range(2))
        ]

    assert not difference(*in_both_tiers(twice, args), rtol=1e-11)


@pytest.mark.parametrize(("f", "args"), [case for case in CASES if type(case[1][-1]) is float])
def test_second_order_agrees(f, args):
    def product(*args):
        return ad.hvp(lambda last: f(*args[:-1], last), args[-1], 1.0)

    assert not difference(*in_both_tiers(product, args), rtol=1e-9)


total = [0.0]
counts = {"calls": 0, "sum": 0.0}


def counting(x):
    counts["calls"] += 1
    counts["sum"] = counts["sum"] + x
    total[0] += x * x
    return x * x + total[0]


def test_globals_are_written():
    found = []
    for tier in ("fast", "generic"):
        total[:], counts["calls"], counts["sum"] = [0.0], 0, 0.0
        bars = [ad.grad(counting, tier=tier)(x) for x in (1.0, 2.0, 3.0)]
        found.append((bars, [*total], dict(counts)))
    assert found[0] == found[1]
    assert ad.tier(counting, 1.0).tier == "fast"


def test_captured_variables_are_written():
    held = []

    def keep(x):
        held.append(x * x)
        return held[-1] * x

    for tier in ("fast", "generic"):
        held.clear()
        assert ad.grad(keep, tier=tier)(2.0) == 12.0
        assert held == [4.0]


def test_what_fails_is_not_committed():
    def f(xs, y):
        xs[0] = y
        xs.append(y)
        return 1 / y

    xs = [1.0]
    with pytest.raises(ZeroDivisionError):
        ad.gradient(f, xs, 0.0)
    assert xs == [0.0, 0.0]  # by the generic tier, once
    ad.gradient(f, xs, 2.0)
    assert xs == [2.0, 0.0, 2.0]


def test_a_list_that_is_given_twice_is_refused():
    def f(a, b):
        a.append(1.0)
        return b[0] * len(b)

    xs = [1.0]
    ad.gradient(f, [1.0], [1.0])
    with pytest.raises(MutationError, match="given twice"):
        ad.gradient(f, xs, xs)
    held = [xs]

    def g(a, x):
        a[0] = x
        return held[0][0] * x

    assert ad.gradient(g, [1.0], 3.0)[1] == 1.0
    with pytest.raises(MutationError, match="given twice"):
        ad.gradient(g, xs, 3.0)


def test_a_pullback_that_fails_runs_once_more_on_the_incoming_contents():
    def f(o, x):
        o.x *= x
        return np.sqrt(o.x).sum() * o.m

    found = []
    for is_fast in (True, False):
        store.is_enabled[0] = is_fast
        o = Body(np.array([0.0, 1.0]), 1.0, 2.0)
        _, back = ad.pullback(f, o, 2.0)
        with np.errstate(all="ignore"):
            found.append((back(1.0), o))
    store.is_enabled[0] = True
    assert not difference(*found, rtol=1e-12)


class Guarded:
    def __init__(self):
        self.x = 1.0

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)


def test_attributes_that_a_method_sets_are_generic():
    o = Guarded()
    assert ad.gradient(unread, o, 2.0)[1] == 4.0
    assert o.x == 4.0
    assert "by a method" in ad.tier(unread, o, 2.0).reason


def test_a_list_that_is_given_twice_and_put_back():
    def f(first, second, x):
        old = first[0]
        first[0] = x
        y = sum(second) * x
        first[0] = old
        return y

    assert ad.gradient(f, [1.0, 2.0], [1.0, 2.0], 3.0) == ([0.0, 0.0], [3.0, 3.0], 3.0)
    both = [1.0, 2.0]
    with pytest.raises(ad.AdjointError, match="given twice"):
        ad.gradient(f, both, both, 3.0)
    assert both == [1.0, 2.0]


# ---- attributes that go through ``__dict__`` -----------------------------------------------------


class Mesh:
    scale = 1.0

    def __init__(self):
        self.nodes, self.scale = np.array([0.0, 1.0, 3.0]), 3.0

    @functools.cached_property
    def lengths(self):
        return np.diff(self.nodes)

    def move(self, x):
        self.nodes = x * np.array([0.0, 1.0, 3.0])
        self.__dict__.pop("lengths", None)


def popped(mesh, x):
    mesh.nodes = x
    mesh.__dict__.pop("scale")
    return mesh.scale * x


def deleted(mesh, x):
    mesh.nodes = x
    del vars(mesh)["scale"]
    return mesh.scale * x


def cleared(mesh, x):
    mesh.nodes = x
    mesh.__dict__.clear()
    return mesh.scale * x


def computed_anew(mesh, x):
    mesh.move(x)
    return (mesh.lengths**2).sum() * mesh.scale


@pytest.mark.parametrize("is_captured", [False, True])
@pytest.mark.parametrize("f", [popped, deleted, cleared, computed_anew])
def test_attributes_that_go(f, is_captured):
    mesh, plain = Mesh(), Mesh()
    for x in (2.0, 3.0, 3.0):
        h = 1e-6
        slope = (f(copy.deepcopy(plain), x + h) - f(copy.deepcopy(plain), x - h)) / (2 * h)
        expected = f(plain, x)
        if is_captured:
            y, (dx,) = ad.withgradient(lambda x: f(mesh, x), x)
        else:
            y, (_, dx) = ad.withgradient(f, mesh, x)
        assert y == expected
        assert dx == pytest.approx(slope)
        assert not difference(vars(mesh), vars(plain))
        if f is not computed_anew:
            mesh, plain = Mesh(), Mesh()
