import functools
from collections import namedtuple
from dataclasses import dataclass, field

import numpy as np
import pytest

import adjoint as ad
from adjoint import nn
from adjoint.tangent import Tangent


@dataclass
class Affine:
    W: np.ndarray
    b: np.ndarray
    name: str = "affine"
    parts: list = field(default_factory=list)


class Slotted:
    __slots__ = ("a", "b", "unset")

    def __init__(self, a, b):
        self.a, self.b = a, b


class SlottedChild(Slotted):
    __slots__ = ("c",)


def arrays(n):
    return [np.full(2, float(i)) for i in range(n)]


def test_every_kind_of_model():
    a, b, c, d = arrays(4)
    child = SlottedChild(a, b)
    child.c = c
    pair = namedtuple("pair", "left right")(c, d)
    for model, expected in [
        (a, [a]),
        ({"x": a, "y": [b, (c, d)]}, [a, b, c, d]),
        (Affine(a, b, parts=[c]), [a, b, c]),
        (Slotted(a, b), [a, b]),
        (child, [a, b, c]),
        (pair, [c, d]),
        (lambda x: a @ x + b, [a, b]),
        (functools.partial(np.dot, a), [a]),
        (Affine(a, b).__repr__, [a, b]),
        (3.0, []),
        ("text", []),
        (None, []),
        (np, []),
        (Affine, []),
        ([1, 2.0, np.arange(3), np.float64(1.0), np.array(["s"])], []),
    ]:
        found = nn.parameters(model)
        assert [id(p) for p in found] == [id(p) for p in expected], model


def test_dense_chain():
    model = nn.Chain(nn.Dense(2, 3, nn.relu), nn.Dense(3, 1))
    assert [p.shape for p in nn.parameters(model)] == [(2, 3), (3,), (3, 1), (1,)]


def test_tied_arrays_and_cycles_are_listed_once():
    (a, b) = arrays(2)
    model = {"encoder": a, "decoder": a, "b": b}
    model["self"] = model
    node = Affine(a, b)
    node.parts.append(node)
    model["node"] = node
    assert [id(p) for p in nn.parameters(model)] == [id(a), id(b)]


def test_deep_models():
    a = np.ones(2)
    model = a
    for _ in range(50_000):
        model = [model]
    assert nn.parameters(model)[0] is a
    gradient = np.ones(2)
    for _ in range(50_000):
        gradient = [gradient]
    nn.update(model, gradient, 0.5)
    assert a.tolist() == [0.5, 0.5]


def test_update_of_every_kind_of_model():
    a, b, c, d = arrays(4)
    model = {"layer": Affine(a, b, parts=[c]), 0: (d, "text")}
    one = np.ones(2)
    gradient = {
        "layer": Tangent(Affine, {"W": one, "b": None, "name": None, "parts": [2 * one]}),
        0: (3 * one, None),
    }
    nn.update(model, gradient, 0.5)
    assert [p.tolist() for p in (a, b, c, d)] == [[-0.5] * 2, [1.0] * 2, [1.0] * 2, [1.5] * 2]


@pytest.mark.parametrize("shape", [(), (2,), (1, 2)])
def test_arrays_of_objects(shape):
    a, b = arrays(2)
    model, parts = np.empty(shape, object), [Affine(a, b), b + 1.0][: max(1, int(np.prod(shape)))]
    for index, part in zip(np.ndindex(shape), parts, strict=True):
        model[index] = part

    def loss(model):
        flat = model.reshape(-1)
        affine, others = flat[0], flat[1:]
        return ((affine.W + affine.b) ** 2).sum() + sum((part**2).sum() for part in others)

    expected = [p - 0.5 * 2.0 * (p if i == 2 else a + b) for i, p in enumerate([a, b, *parts[1:]])]
    (gradient,) = ad.gradient(loss, model)
    found = nn.parameters(model)
    assert [id(p) for p in found] == [id(p) for p in [a, b, *parts[1:]]]
    nn.update(model, gradient, 0.5)
    assert [p.tolist() for p in found] == [p.tolist() for p in expected]
    with pytest.raises(TypeError, match=r"gradient of model has no part"):
        nn.update(np.append(model, None), model, 0.5)


def test_tied_arrays_are_updated_once():
    a = np.zeros(2)
    nn.update([a, {"again": a}], [np.ones(2), {"again": np.ones(2)}], 1.0)
    assert a.tolist() == [-1.0, -1.0]


def test_float32_and_zero_dimensional_parameters():
    a, s = np.ones(2, np.float32), np.array(1.0)
    nn.update([a, s], [np.ones(2, np.float64), 0.5], 0.1)
    assert a.dtype == np.float32 and s == 0.95


def test_closures():
    a = np.ones(2)

    def model(x):
        return a * x

    nn.update(model, Tangent("model", {"a": np.ones(2)}), 1.0)
    assert a.tolist() == [0.0, 0.0]


def test_a_gradient_that_does_not_fit_changes_nothing():
    a, b = arrays(2)
    fits = np.ones(2)
    cases = [
        (
            [a, b],
            [fits, np.ones(3)],
            ValueError,
            r"model\[1\] has shape \(2,\), its gradient \(3,\)",
        ),
        ([a, b], [fits], TypeError, r"gradient of model has no part 1"),
        ({"w": Affine(a, b)}, {"w": fits}, TypeError, r"gradient of model\['w'\] has no part 'W'"),
        ([a, b], [fits, fits * 1j], TypeError, r"dtype float64, its gradient complex128"),
    ]
    for model, gradient, error, message in cases:
        with pytest.raises(error, match=message):
            nn.update(model, gradient, 1.0)
    frozen = np.broadcast_to(1.0, 2)
    with pytest.raises(ValueError, match=r"model\.b is a read-only array"):
        nn.update(Affine(a, frozen), Tangent(Affine, {"W": fits, "b": fits}), 1.0)
    assert a.tolist() == [0.0, 0.0] and b.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("learning_rate", [-0.1, np.nan, np.inf])
def test_bad_learning_rate(learning_rate):
    with pytest.raises(ValueError, match="learning_rate must be finite and not negative"):
        nn.update([np.ones(1)], [np.ones(1)], learning_rate)


def test_an_update_of_nothing_warns():
    with pytest.warns(RuntimeWarning, match="nothing was updated: dict holds no arrays of floats"):
        nn.update({"w": 1.0, "n": [1, 2]}, {"w": 1.0, "n": [1.0, 2.0]}, 0.1)
    with pytest.warns(RuntimeWarning, match="nothing was updated: the gradient is None"):
        nn.update({"w": np.ones(2)}, {"w": None}, 0.1)


def test_seeds_are_integers_or_generators():
    for make in (
        lambda rng: nn.Dense(2, 3, rng=rng).W,
        lambda rng: nn.datasets.make_moons(10, rng=rng)[0],
    ):
        np.testing.assert_array_equal(make(7), make(np.random.default_rng(7)))
