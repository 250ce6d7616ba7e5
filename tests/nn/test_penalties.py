"""A penalty of all that a model holds, however its parameters are listed, has its derivative."""

import copy
import dataclasses
import functools
import inspect
import itertools
import operator
import types
from collections import OrderedDict, UserDict, namedtuple

import numpy as np
import pytest

import adjoint as ad
from adjoint import nn
from adjoint.nn.parameters import _pairs

W, B = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([0.5, -1.0])


class Affine:
    def __init__(self, w, b):
        self.w, self.b = w, b

    def parameters(self):
        yield from self.__dict__.values()

    def named(self):
        yield from vars(self).items()

    def __call__(self, x):
        return self.w @ x + self.b


class Stack:
    def __init__(self, *layers):
        self.layers = list(layers)

    def parameters(self):
        found = []
        for layer in self.layers:
            found.extend(layer.parameters())
        return found


class Module:
    """Looks for its parameters among all that it holds."""

    def __init__(self, **parts):
        for name, part in parts.items():
            setattr(self, name, part)

    def parameters(self):
        for name in sorted(vars(self)):
            part = getattr(self, name)
            if isinstance(part, Module):
                yield from part.parameters()
            elif isinstance(part, np.ndarray):
                yield part
            elif isinstance(part, list | tuple):
                for item in part:
                    yield from item.parameters() if isinstance(item, Module) else [item]


class Registering:
    """Keeps parameters and parts in dicts of its own, as they are set."""

    def __init__(self, **parts):
        object.__setattr__(self, "_parameters", {})
        object.__setattr__(self, "_parts", {})
        for name, part in parts.items():
            setattr(self, name, part)

    def __setattr__(self, name, value):
        (self._parts if isinstance(value, Registering) else self._parameters)[name] = value

    def named_parameters(self, prefix=""):
        for name, parameter in self._parameters.items():
            yield prefix + name, parameter
        for name, part in self._parts.items():
            yield from part.named_parameters(prefix + name + ".")


@dataclasses.dataclass
class Fields:
    w: object
    b: object


class Slotted:
    __slots__ = ("b", "w")

    def __init__(self, w, b):
        self.w, self.b = w, b


Pair = namedtuple("Pair", "w b")


def walked(model):
    if isinstance(model, np.ndarray):
        return [model]
    if isinstance(model, dict):
        return [p for part in model.values() for p in walked(part)]
    if isinstance(model, list | tuple):
        return [p for part in model for p in walked(part)]
    return walked(model.__dict__) if hasattr(model, "__dict__") else []


def closure(w, b):
    return lambda x: w @ x + b


def squares(parameters):
    return sum(np.sum(p * p) for p in parameters)


LISTED = {
    "nn.parameters": (nn.parameters, Stack(Affine(W, B), {"x": Affine(B, W)}, 3, "text", None)),
    "nn.parameters of a dict": (nn.parameters, {"w": W, 7: [B, (W + 1.0, 3)]}),
    "nn.parameters of fields": (nn.parameters, Fields(W, Slotted(B, W + 1.0))),
    "nn.parameters of a closure": (nn.parameters, closure(W, B)),
    "nn.parameters of a method": (nn.parameters, Affine(W, B).__call__),
    "nn.parameters of an array": (nn.parameters, np.array([W, None, [B]], dtype=object)),
    "nn.parameters of a list": (lambda m: nn.parameters([m["b"], m["w"]]), {"w": W, "b": B}),
    "nn.parameters of a copy": (lambda m: nn.parameters(copy.deepcopy(m)), [Affine(W, B)]),
    "flatten": (lambda m: [ad.flatten(m)[0]], Stack(Affine(W, B), {"x": Affine(B, W)})),
    "vars": (lambda m: vars(m).values(), Affine(W, B)),
    "__dict__": (lambda m: [getattr(m, name) for name in m.__dict__], Affine(W, B)),
    "dir": (
        lambda m: [getattr(m, n) for n in dir(m) if isinstance(getattr(m, n), np.ndarray)],
        Affine(W, B),
    ),
    "getmembers": (
        lambda m: [v for _, v in inspect.getmembers(m, lambda v: isinstance(v, np.ndarray))],
        Affine(W, B),
    ),
    "generator": (lambda m: m.parameters(), Affine(W, B)),
    "generator of pairs": (lambda m: (p for _, p in m.named()), Affine(W, B)),
    "list of layers": (lambda m: m.parameters(), Stack(Affine(W, B), Affine(B, W))),
    "recursive": (lambda m: m.parameters(), Module(w=W, p=Module(b=B, l=[W, Module(c=B)]))),
    "registered": (
        lambda m: (p for _, p in m.named_parameters()),
        Registering(w=W, p=Registering(b=B, q=Registering(c=W + 1.0))),
    ),
    "fields": (lambda m: [getattr(m, f.name) for f in dataclasses.fields(m)], Fields(W, B)),
    "asdict": (lambda m: dataclasses.asdict(m).values(), Fields(W, B)),
    "astuple": (dataclasses.astuple, Fields(W, B)),
    "replace": (lambda m: vars(dataclasses.replace(m, w=m.w**2)).values(), Fields(W, B)),
    "slots": (lambda m: [getattr(m, name) for name in m.__slots__], Slotted(W, B)),
    "attrgetter": (operator.attrgetter("w", "b"), Slotted(W, B)),
    "named tuple": (lambda m: m._asdict().values(), Pair(W, B)),
    "namespace": (lambda m: vars(m).values(), types.SimpleNamespace(w=W, b=B)),
    "UserDict": (lambda m: m.values(), UserDict(w=W, b=B)),
    "OrderedDict": (lambda m: m.values(), OrderedDict(w=W, b=B)),
    "walked": (walked, Stack(Affine(W, B), {"x": Affine(B, (W, B))})),
    "each once": (lambda m: {id(p): p for p in walked(m)}.values(), Stack(Affine(W, B), [W, B])),
    "chained": (
        lambda m: itertools.chain(*(vars(layer).values() for layer in m.layers)),
        Stack(Affine(W, B), Affine(B, W)),
    ),
    "reduced": (
        lambda m: functools.reduce(lambda found, part: [*found, *walked(part)], m.layers, []),
        Stack(Affine(W, B), Affine(B, W)),
    ),
    "after a write": (lambda m: (m.w.__imul__(2.0), *nn.parameters(m))[1:], Affine(W, B)),
    "after an assignment": (
        lambda m: (setattr(m, "w", m.w**2), *nn.parameters(m))[1:],
        Affine(W, B),
    ),
}


@pytest.mark.parametrize("name", LISTED)
def test_penalty_in_every_mode(name):
    """Its derivatives along its own gradient are those that differences give."""
    listed, model = LISTED[name]

    def penalty(m):
        return squares(listed(m)) ** 1.5

    def anew():
        return copy.deepcopy(model) if name.startswith("after") else model

    bar = ad.grad(penalty)(anew())
    slope, curvature = differences(lambda: penalty(anew()), model, bar)
    for found in (bar, ad.grad(penalty, tier="generic")(anew())):
        assert paired(model, found, bar) == pytest.approx(slope, rel=1e-6)
    y, y_dot = ad.pushforward(penalty, (anew(),), (bar,))
    assert y == pytest.approx(penalty(anew()), rel=1e-12)
    assert y_dot == pytest.approx(slope, rel=1e-6)
    for nested in (
        ad.hvp(penalty, anew(), bar),
        ad.grad(lambda m: ad.pushforward(penalty, (m,), (bar,))[1])(anew()),
    ):
        assert paired(model, nested, bar) == pytest.approx(curvature, rel=1e-4)


def differences(value, model, bar):
    """First and second derivative along the gradient, in steps against it that are taken back."""
    arrays = nn.parameters(model)
    before = [array.copy() for array in arrays]
    h = 1e-3 / np.sqrt(paired(model, bar, bar))
    values = []
    for _ in range(5):
        values.append(value())
        nn.update(model, bar, h)
    for array, old in zip(arrays, before, strict=True):
        array[...] = old
    slope = -np.dot([-25, 48, -36, 16, -3], values) / (12 * h)
    return slope, np.dot([35, -104, 114, -56, 11], values) / (12 * h**2)


def paired(model, bar, other):
    """The inner product of two cotangents: of each distinct array once."""
    pairs = zip(_pairs(model, bar), _pairs(model, other), strict=True)
    return sum(float(np.sum(a * b)) for (_, a), (_, b) in pairs)


def test_a_penalty_is_specialised_and_follows_the_structure():
    def penalty(m):
        return np.sum(m(B)) + squares(nn.parameters(m))

    model = Affine(W.copy(), B.copy())
    assert str(ad.tier(penalty, model)).splitlines()[0].endswith("fast tier")
    assert ad.grad(penalty)(model).b.tolist() == [2.0, -1.0]
    model.more = np.ones(2)
    assert ad.grad(penalty)(model).more.tolist() == [2.0, 2.0]
    model.more = model.b  # one array, at two places
    for tier in ("fast", "generic"):
        found = ad.grad(penalty, tier=tier)(model)
        assert found.b.tolist() == found.more.tolist() == [2.0, -1.0]
    model.more = 3
    assert ad.grad(penalty)(model).b.tolist() == [2.0, -1.0]
