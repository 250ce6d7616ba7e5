"""`ad.grad` fills the cotangent with zeros where there is no path, whatever stands at the places
that a program does not read, now and later."""

import copy
import math

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.programs import store as tier
from tests.structures import difference

W = np.array([1.0, 2.0, 3.0])


class Layer:
    def __init__(self, w, bias):
        self.w, self.bias = w, bias


def scaled(factor):
    return lambda u: u * factor


CONTAINERS = {
    "dict": (lambda p: (p["w"] ** 2).sum(), lambda other: {"w": W, "bias": other}),
    "object": (lambda p: (p.w**2).sum(), lambda other: Layer(W, other)),
    "tuple": (lambda p: (p[0] ** 2).sum(), lambda other: (W, other)),
    "list": (lambda p: (p[1][0] ** 2).sum(), lambda other: [other, [W, other]]),
}
OTHERS = [
    None, "text", np.sin, math.sin, len, W.dot, abs, lambda u: u, scaled(2.0), scaled(np.ones(2)),
    [], {}, {"a": "b"}, [None], 2.0, 3, True, np.ones(2), [1.0, "b"], Layer(None, None),
    Layer(None, 1.0),
]  # fmt: skip


@pytest.mark.parametrize("name", CONTAINERS)
@pytest.mark.parametrize("first", range(len(OTHERS)))
def test_places_that_are_not_read(name, first):
    f, made = CONTAINERS[name]
    tier.forget()
    for other in (OTHERS[first], *OTHERS):
        p = made(copy.copy(other))
        found, expected = ad.grad(f)(p), ad.grad(f, tier="generic")(p)
        assert not difference(found, expected, rtol=1e-12), (other, found, expected)


def test_places_that_are_read_and_hold_no_numbers():
    def f(p):
        steps = 2 if p["options"]["name"] == "adam" else 1
        return (p["w"] ** 2).sum() * steps + len(p["history"])

    p = {"w": W, "options": {"name": "adam"}, "history": [], "layers": ()}
    assert ad.tier(f, p).tier == "fast"
    found = ad.grad(f)(p)
    assert found["options"] == {"name": None} and found["history"] == []
    assert not difference(found, ad.grad(f, tier="generic")(p), rtol=1e-12)
