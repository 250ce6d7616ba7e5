"""What this library offers, called inside differentiated code: it has its derivative, which finite
differences confirm, or no numbers come out of it."""

import inspect
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint import nn

POINT = np.array([0.7, 1.3, -0.4])
EYE = np.eye(3)


def quartic(v: Any) -> Any:
    return np.sum(v**4)


def cube(v: Any) -> Any:
    return v**3


def by_rule(x: Any) -> Any:
    y, back = ad.rrule(np.exp, x)
    return np.sum(y * back(x)[1])


def by_forward_rule(x: Any) -> Any:
    y, y_dot = ad.frule(np.exp, (x,), x)
    return np.sum(y * y_dot)


def flattened(x: Any) -> Any:
    vector, unflatten = ad.flatten({"a": x, "b": [2.0 * x]})
    return np.sum(vector**2) + np.sum(unflatten(vector**3)["b"][0])


def linearised(x: Any) -> Any:
    y, f = ad.linearize(cube, x)
    return np.sum(y * f(x))


def pulled(x: Any) -> Any:
    y, back = ad.pullback(cube, x)
    return np.sum(y * back(x)[1])


def updated(x: Any) -> Any:
    model = {"w": x.copy(), "n": 3}
    nn.update(model, {"w": x**2}, 0.1)
    return np.sum(model["w"] ** 3)


def trained(x: Any) -> Any:
    model = nn.Dense(3, 1, rng=0)
    samples = np.stack([x, x * x])
    nn.gradient_descent(model, nn.mse, samples, np.ones((2, 1)), learning_rate=0.1, max_iters=3)
    return np.sum(model.W**2)


def dense(x: Any) -> Any:
    layer = nn.Dense(3, 2, nn.tanh, rng=0)
    layer.W = layer.W * x[:, None]
    return np.sum(nn.Chain(layer)(x))


def penalised(x: Any) -> Any:
    model = {"w": x, "parts": [x, x**2, (2.0 * x, "text", None)]}
    return np.sum(model["w"]) + sum(np.sum(p * p) for p in nn.parameters(model))


def saved_and_loaded(x: Any, change: Any) -> Any:
    """What a file holds is constant."""
    with tempfile.TemporaryDirectory() as folder:
        model = {"w": np.zeros(3)}
        nn.save(f"{folder}/model.npz", {"w": POINT})
        model["w"][:] = x
        before = np.sum(model["w"] ** 2)
        nn.save(f"{folder}/other.npz", {"w": x * x})
        return before + np.sum(change(f"{folder}/model.npz", model)["w"] * x)


def by_class(x: Any) -> Any:
    return np.stack([x, x * x])


custom = ad.custom(lambda v: v * v, reverse=lambda v: (v * v, lambda bar: 2 * v * bar))
TRUTH = nn.onehot([0, 2], 3)

DIFFERENTIATED: dict[str, Callable[[Any], Any]] = {
    "Tangent": lambda x: np.sum(ad.Tangent("M", {"a": x * x}).a * ad.Tangent("M", {"b": x})["b"]),
    "checkpoint": lambda x: np.sum(ad.checkpoint(lambda v: np.sin(v) * v)(x)),
    "checkpoint_loop": lambda x: np.sum(ad.checkpoint_loop(lambda s, k: np.sin(s) + x, x, 3)),
    "custom": lambda x: np.sum(custom(x)),
    "derivative": lambda x: ad.derivative(lambda t: t**3)(x[0]) * x[1],
    "directional": lambda x: ad.directional(quartic, x, x),
    "evalpoly": lambda x: ad.evalpoly(x[0], [x[1], x[2], 2.0]),
    "flatten": flattened,
    "frule": by_forward_rule,
    "gauss_newton_product": lambda x: np.sum(ad.gauss_newton_product(cube, x, x)),
    "grad": lambda x: np.sum(ad.grad(quartic)(x)),
    "gradient": lambda x: np.sum(ad.gradient(quartic, x)[0]),
    "gradient_and_hvp": lambda x: sum(map(np.sum, ad.gradient_and_hvp(quartic, x, x))),
    "hessian": lambda x: np.sum(ad.hessian(quartic, x)),
    "hessian_diagonal": lambda x: np.sum(ad.hessian_diagonal(quartic, x)),
    "hook": lambda x: np.sum(ad.hook(lambda bar: bar, x) ** 2),
    "hvp": lambda x: np.sum(ad.hvp(quartic, x, x)),
    "jacobian": lambda x: np.sum(ad.jacobian(cube, x)),
    "jacobian_forward": lambda x: np.sum(ad.jacobian_forward(cube, x)),
    "jacobian_reverse": lambda x: np.sum(ad.jacobian_reverse(cube, x)),
    "jacfwd": lambda x: np.sum(ad.jacfwd(cube)(x)),
    "jacrev": lambda x: np.sum(ad.jacrev(cube)(x)),
    "jvp": lambda x: np.sum(ad.jvp(cube, (x,), (x,))[1]),
    "linearize": linearised,
    "pullback": pulled,
    "pushforward": lambda x: np.sum(ad.pushforward(cube, (x,), (x,))[1]),
    "rrule": by_rule,
    "sparse_hessian": lambda x: ad.sparse_hessian(quartic, x).sum(),
    "sparse_jacobian": lambda x: ad.sparse_jacobian(cube, x).sum(),
    "tree_leaves": lambda x: sum(
        np.sum(leaf**3) for leaf in ad.tree_leaves({"a": x, "b": [x, "t"]})
    ),
    "tree_map": lambda x: ad.tree_map(lambda a, b: np.sum(a * b), [x], [x * x])[0],
    "tree_norm": lambda x: ad.tree_norm({"a": x, "b": [x * x, "text"]}),
    "value_and_grad": lambda x: np.sum(ad.value_and_grad(quartic)(x)[1]),
    "value_and_jacobian": lambda x: np.sum(ad.value_and_jacobian(cube, x)[1]),
    "vhp": lambda x: np.sum(ad.vhp(quartic, x, x)),
    "vjp": lambda x: np.sum(ad.vjp(cube, x)[1](x)[0]),
    "vmap": lambda x: np.sum(ad.vmap(ad.grad(quartic))(np.outer(x, x)) ** 2),
    "withgradient": lambda x: np.sum(ad.withgradient(quartic, x).gradient[0]),
    "nn.Chain": dense,
    "nn.Dense": dense,
    "nn.binary_cross_entropy": lambda x: nn.binary_cross_entropy(nn.sigmoid(x), [0, 1, 1]),
    "nn.cross_entropy": lambda x: nn.cross_entropy(nn.softmax(by_class(x)), TRUTH),
    "nn.gradient_descent": trained,
    "nn.hinge_loss": lambda x: nn.hinge_loss(x, np.array([1.0, -1.0, 1.0])),
    "nn.load": lambda x: saved_and_loaded(x, nn.load),
    "nn.logit_binary_cross_entropy": lambda x: nn.logit_binary_cross_entropy(x, [0, 1, 1]),
    "nn.logit_cross_entropy": lambda x: nn.logit_cross_entropy(by_class(x), TRUTH),
    "nn.logsoftmax": lambda x: nn.logsoftmax(x)[0],
    "nn.mse": lambda x: nn.mse(x, x * x),
    "nn.parameters": penalised,
    "nn.relu": lambda x: np.sum(nn.relu(x) * x),
    "nn.save": lambda x: saved_and_loaded(x, lambda path, model: model),
    "nn.sigmoid": lambda x: np.sum(nn.sigmoid(x)),
    "nn.softmax": lambda x: nn.softmax(x)[0],
    "nn.tanh": lambda x: np.sum(nn.tanh(x)),
    "nn.update": updated,
}

CONSTANT: dict[str, Callable[[Any], Any]] = {
    "code": lambda x: len(ad.code(cube, x)) * np.sum(x),
    "explain": lambda x: len(str(ad.explain(quartic, x))) ** 0 * np.sum(x),
    "ir": lambda x: len(ad.ir(cube)) * np.sum(x),
    "tier": lambda x: len(str(ad.tier(cube, x))) ** 0 * np.sum(x),
    "nn.accuracy": lambda x: nn.accuracy([x, -x], [0, 0]) * np.sum(x),
    "nn.summary": lambda x: len(nn.summary({"w": x})) * np.sum(x),
    "nn.onecold": lambda x: x[nn.onecold(x)] ** 2,
    "nn.onehot": lambda x: np.sum(nn.onehot([0, 2], 3) @ x),
}
"""Text, integers and truth values, beside what has a derivative."""

ELSEWHERE = {
    "export": "export",
    "linear_rule": "rule_families",
    "not_implemented": "rule_families",
    "rules": "rule_families",
    "scalar_rule": "rule_families",
    "non_differentiable": "registering",
    "stop_gradient": "stopping",
}
"""Those that have their meaning here, and their tests in the file of that name."""


def offered() -> set[str]:
    """Every callable but the errors."""
    found = {name: getattr(ad, name) for name in ad.__all__}
    found |= {f"nn.{name}": getattr(nn, name) for name in nn.__all__}
    return {
        name
        for name, x in found.items()
        if not inspect.ismodule(x) and not (isinstance(x, type) and issubclass(x, Exception))
    }


def test_all_that_is_offered_is_here():
    assert offered() == {*DIFFERENTIATED, *CONSTANT, *ELSEWHERE}


def differences(f: Callable[[Any], Any], x: Any) -> Any:
    h = 1e-5
    return np.array([(f(x + h * e) - f(x - h * e)) / (2 * h) for e in EYE])


@pytest.mark.parametrize("name", [*DIFFERENTIATED, *CONSTANT])
def test_derivative_in_every_mode(name):
    f = (DIFFERENTIATED | CONSTANT)[name]
    expected = differences(f, POINT)
    found = [
        ad.grad(f)(POINT),
        ad.grad(f, tier="generic")(POINT),
        np.array([ad.pushforward(f, (POINT,), (e,))[1] for e in EYE]),
    ]
    for bar in found:
        np.testing.assert_allclose(bar, expected, rtol=1e-6, atol=1e-8)
    second = differences(ad.grad(f), POINT)
    np.testing.assert_allclose(ad.hessian(f, POINT), second, rtol=1e-5, atol=1e-6)
    nested = ad.jacobian(ad.grad(f), POINT)
    np.testing.assert_allclose(nested, second, rtol=1e-5, atol=1e-6)
