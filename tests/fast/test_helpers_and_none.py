"""Functions that take or return a number or ``None``, in specialised programs."""

import math

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.programs import store


def better(b, v):
    return v if b is None or v < b else b


def least(x):
    best = None
    for v in x:
        best = better(best, v * v - v)
    return best * 3


def damped(v, scale=None, *, shift=None):
    if scale is not None:
        v = v * scale
    return v if shift is None else v + shift


def by_default(x):
    last, total = None, damped(x[0])
    for v in x:
        total += damped(v, last, shift=None if last is None else last * 0.5)
        last = v
    return total


def root(v, r=0.1):
    d = v * v - r
    if d < 0:
        return None
    return math.sqrt(d)


def roots(x):
    total = 0.0
    for v in x:
        h = root(v)
        if h is None:
            continue
        total += h * v
    return total


def first_root(x):
    best = None
    for v in x:
        h = root(v)
        if h and (not best or h < best):
            best = h
    return x.sum() if best is None else best * x[0]


def root_or_other(x):
    return sum((root(v, 0.5) or v * 2) * v for v in x)


class Sphere:
    def __init__(self, centre, radius):
        self.centre, self.radius, self.last = centre, radius, None

    def hit(self, x, y):
        d = self.radius**2 - (y - self.centre) ** 2
        self.last = None if d < 0 else x - math.sqrt(d)
        return self.last


def rays(x):
    spheres = [Sphere(x[0], 0.5), Sphere(0.2, 0.3 + x[1] * x[1])]
    total = 0.0
    for i in range(len(x)):
        nearest = None
        for s in spheres:
            h = s.hit(x[i], 0.1 * i)
            if h is not None:
                nearest = better(nearest, h)
        total += 1.0 if nearest is None else nearest * nearest
    if spheres[0].last is not None:
        total = total + spheres[0].last
    return total


def mapped(x):
    found = [*filter(None, map(root, x))]
    return sum(h for h in map(root, x) if h is not None) + sum(found, x[0] * x[0])


PROGRAMS = [least, by_default, roots, first_root, root_or_other, rays]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_program(f):
    rng = np.random.default_rng(1)
    store.forget()
    for n in (4, 40):
        for scale in (0.2, 0.5, 1.0, 2.0):
            x, v = rng.normal(size=(2, n)) * scale
            g, product = ad.gradient(f, x)[0], ad.hvp(f, x, v)
            np.testing.assert_allclose(g, ad.grad(f, tier="generic")(x), rtol=1e-12)
            h = 1e-6
            ends = [ad.gradient(f, x + sign * h * v)[0] for sign in (1, -1)]
            np.testing.assert_allclose(
                product, (ends[0] - ends[1]) / (2 * h), rtol=1e-4, atol=1e-4 * np.abs(g).max()
            )
    kept = [*store._kept.values()]
    assert [one.reason for known in kept for one in known.refused.values()] == []
    assert {entry.failures.last for known in kept for entry in known.entries} == {""}


OTHERS = {
    "star": lambda x: sum(v for v in (lambda *vs: vs)(root(x[0]), x[1]) if v is not None),
    "stars": lambda x: (lambda **vs: sum(v for v in vs.values() if v is not None))(a=root(x[0])),
    "display": lambda x: x[0] * [root(x[0]), root(x[1])].count(None),
    "mapped": mapped,
    "listed": lambda x: sum(h for h in [root(v) for v in x] if h is not None) * x[0],
    "map": lambda x: x[0] * [*map(root, x)].count(None) + x[1],
    "sort": lambda x: sorted(x, key=lambda v: root(v) or 9.0)[0] * x[0],
    "max": lambda x: max([h for h in map(root, x) if h is not None], default=x[0]),
    "equal": lambda x: x[0] if root(x[0]) == None else x[1],  # noqa: E711
    "class": lambda x: x[0] * isinstance(root(x[0]), float) + x[1],
    "in": lambda x: x[0] * (root(x[0]) in (None, 3.0)) + x[1],
    "text": lambda x: x[0] * len(str(root(x[0]))[:4]),
    "array": lambda x: x[0] * np.array([root(x[0]), 1.0]).size,
}


@pytest.mark.parametrize("name", OTHERS)
def test_as_in_the_generic_tier(name):
    f = OTHERS[name]
    for a in (0.1, 0.7, -0.2, 1.5):
        x = np.array([a, 0.3, 0.9, -0.1])
        np.testing.assert_allclose(ad.gradient(f, x)[0], ad.grad(f, tier="generic")(x), rtol=1e-12)
