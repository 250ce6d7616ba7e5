"""`types.SimpleNamespace`, and the greatest length of deques, in specialised programs."""

import types
from collections import deque
from types import SimpleNamespace

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.programs import store


def made(x):
    p = types.SimpleNamespace(a=x[0], b=x[1], name="k")
    p.c = p.a * p.b
    p.a += 1.0
    return p.c * p.a + sum(v for k, v in vars(p).items() if k != "name") * len(p.name)


def carried(x):
    s = SimpleNamespace(place=x[0], speed=x[1])
    for v in x:
        s = SimpleNamespace(place=s.place + 0.1 * s.speed, speed=s.speed - 0.1 * np.sin(s.place))
        s.speed += v if v > 0 else v * v
    return s.place * s.speed


def copied(x):
    p = SimpleNamespace(u=x[0], w=SimpleNamespace(v=x[1]))
    q = SimpleNamespace(**vars(p), k=x[2])
    q.w.v *= 2.0
    return p.w.v * q.k + getattr(q, "none", x[1]) * hasattr(q, "u")


def of_length(x):
    last, total = deque(maxlen=3), 0.0
    for v in x:
        last.appendleft(v)
        if len(last) == last.maxlen:
            total += last[0] * last[-1]
    return total


@pytest.mark.parametrize("f", [made, carried, copied, of_length], ids=lambda f: f.__name__)
def test_program(f):
    store.forget()
    for n in (4, 60):
        x, v = np.random.default_rng(n).normal(size=(2, n))
        g, product = ad.gradient(f, x)[0], ad.hvp(f, x, v)
        np.testing.assert_allclose(g, ad.grad(f, tier="generic")(x), rtol=1e-11)
        h = 1e-6
        ends = [ad.gradient(f, x + sign * h * v)[0] for sign in (1, -1)]
        slope = (ends[0] - ends[1]) / (2 * h)
        np.testing.assert_allclose(product, slope, rtol=1e-5, atol=1e-6 * np.abs(g).max())
    kept = [*store._kept.values()]
    assert [one.reason for known in kept for one in known.refused.values()] == []
    assert {entry.failures.last for known in kept for entry in known.entries} == {""}


def given(p):
    p.a = p.a * 2
    return p.a * p.inner.b.sum() + (p.a if p.name == "k" else 0.0)


def test_arguments():
    store.forget()
    for name in ("k", "m", "k"):
        found, other = (
            SimpleNamespace(a=1.5, inner=SimpleNamespace(b=np.array([1.0, 2.0])), name=name)
            for _ in range(2)
        )
        g = ad.gradient(given, found)[0]
        expected = ad.grad(given, tier="generic")(other)
        assert g.a == expected.a
        np.testing.assert_array_equal(g.inner.b, expected.inner.b)
        assert found.a == other.a == 3.0
    (kept,) = (known for known in store._kept.values() if known.entries)
    assert not kept.refused and {entry.failures.last for entry in kept.entries} == {""}


OTHERS = {
    "equal": lambda x: x[0] * (SimpleNamespace(a=x[0]) == SimpleNamespace(a=x[1])) + x[1],
    "text": lambda x: x[0] * len(repr(SimpleNamespace(a=1))),
    "missing": lambda x: getattr(SimpleNamespace(), "a", None) or x[0],
    "position": lambda x: SimpleNamespace().__dict__.setdefault("a", x[0]) * x[1],
    "deleted": lambda x: _deleted(SimpleNamespace(a=x[0], b=x[1])),
}


def _deleted(p):
    del p.a
    return p.b * len(vars(p))


@pytest.mark.parametrize("name", OTHERS)
def test_as_in_the_generic_tier(name):
    for x in (np.array([0.3, 0.7]), np.array([0.5, 0.5])):
        found, expected = ad.gradient(OTHERS[name], x), ad.grad(OTHERS[name], tier="generic")(x)
        np.testing.assert_array_equal(found[0], expected)
