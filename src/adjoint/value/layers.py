"""Neurons, layers and a multi-layer perceptron, one `Value` per weight, as in Karpathy's micrograd.

https://github.com/karpathy/micrograd
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np

from adjoint.value.graph import Value

_activations: dict[str | None, Callable[[Value], Value]] = {
    None: lambda v: v,
    "relu": Value.relu,
    "sigmoid": Value.sigmoid,
    "tanh": Value.tanh,
}

Init: TypeAlias = Literal["scaled", "uniform"]


class Uniform(Protocol):
    """What draws numbers: a `numpy.random.Generator`, a `random.Random`, the module `random`."""

    @property
    def uniform(self) -> Callable[..., Any]: ...


Rng: TypeAlias = "Uniform | int | None"


class Module:
    """What has parameters: the base class of neurons, layers, networks, and of your own.

    Examples
    --------
    >>> class Scale(Module):
    ...     def __init__(self):
    ...         self.factor = Value(2.0)
    ...     def __call__(self, x):
    ...         return self.factor * x
    ...     def parameters(self):
    ...         return [self.factor]
    >>> scale = Scale()
    >>> scale(3.0).backward()
    >>> scale.factor.grad
    3.0
    >>> scale.zero_grad()
    >>> scale.factor.grad
    0.0
    """

    def parameters(self) -> list[Value]:
        """Return the weights and biases; none here."""
        return []

    def zero_grad(self) -> None:
        """Set ``grad`` of each parameter to 0."""
        for p in self.parameters():
            p.grad = 0.0


class Neuron(Module):
    """``activation(w · x + b)``.

    Parameters
    ----------
    inputs : int
        The length of the sequences that it takes; at least 1.
    activation : {"tanh", "relu", "sigmoid", None}
        By name; ``None`` is the identity.
    init : {"scaled", "uniform"}
        The weights are uniform in ±1/√inputs, or, as in micrograd, in ±1; the bias starts at 0.
    rng : numpy.random.Generator, random.Random or int, optional
        Draws the weights. For ``"uniform"``, an integer seeds `random.Random` and ``None`` is the
        module `random`, so ``random.seed(1337)`` gives the weights of micrograd; for ``"scaled"``
        they stand for `numpy.random.default_rng`.

    Attributes
    ----------
    weights, w : list of Value
    bias, b : Value
    activation : str or None

    Raises
    ------
    ValueError
        There are no inputs, or `activation` or `init` is unknown; when called: the sequence has
        another length.

    Examples
    --------
    >>> neuron = Neuron(2, "relu")
    >>> for weight, data in zip(neuron.w, [2.0, 3.0]):
    ...     weight.data = data
    >>> neuron([1.0, 10.0]).data
    32.0
    """

    def __init__(
        self,
        inputs: int,
        activation: str | None = "tanh",
        *,
        init: Init = "scaled",
        rng: Rng = None,
    ) -> None:
        if inputs < 1:
            raise ValueError(f"a neuron needs at least one input, got {inputs}")
        if activation not in _activations:
            known = ", ".join(map(repr, _activations))
            raise ValueError(f"unknown activation {activation!r}; known are {known}")
        source = _source(rng, init)
        bound = 1.0 if init == "uniform" else inputs**-0.5
        self.weights: list[Value] = [Value(source.uniform(-bound, bound)) for _ in range(inputs)]
        self.bias: Value = Value(0.0)
        self.activation = activation

    @property
    def w(self) -> list[Value]:
        return self.weights

    @property
    def b(self) -> Value:
        return self.bias

    def __call__(self, x: Sequence[Value | float]) -> Value:
        if len(x) != len(self.weights):
            raise ValueError(f"expected {len(self.weights)} inputs, got {len(x)}")
        total = self.bias
        for weight, xi in zip(self.weights, x, strict=True):
            total = total + weight * xi
        return _activations[self.activation](total)

    def parameters(self) -> list[Value]:
        """Return the weights, then the bias."""
        return [*self.weights, self.bias]

    def __repr__(self) -> str:
        return f"Neuron({len(self.weights)}, {self.activation!r})"


class Layer(Module):
    """Neurons with the same inputs; the result is a list, or, of one neuron, its `Value`.

    Parameters
    ----------
    inputs : int
        The length of the sequences that it takes; at least 1.
    outputs : int
        The number of neurons; at least 1.
    activation : {"tanh", "relu", "sigmoid", None}
    init : {"scaled", "uniform"}
    rng : numpy.random.Generator, random.Random or int, optional
        As for `Neuron`.

    Attributes
    ----------
    neurons : list of Neuron

    Raises
    ------
    ValueError
        There are no inputs or outputs, or `activation` or `init` is unknown.

    Examples
    --------
    >>> layer = Layer(3, 2, "relu", rng=0)
    >>> len(layer([1.0, 2.0, 3.0])), len(layer.parameters())  # 2 * (3 + 1)
    (2, 8)
    """

    def __init__(
        self,
        inputs: int,
        outputs: int,
        activation: str | None = "tanh",
        *,
        init: Init = "scaled",
        rng: Rng = None,
    ) -> None:
        if outputs < 1:
            raise ValueError(f"a layer needs at least one output, got {outputs}")
        source = _source(rng, init)
        self.neurons: list[Neuron] = [
            Neuron(inputs, activation, init=init, rng=source) for _ in range(outputs)
        ]

    def __call__(self, x: Sequence[Value | float]) -> Value | list[Value]:
        outputs = [neuron(x) for neuron in self.neurons]
        return outputs[0] if len(outputs) == 1 else outputs

    def parameters(self) -> list[Value]:
        """Return the parameters of each neuron in turn."""
        return [p for neuron in self.neurons for p in neuron.parameters()]

    def __repr__(self) -> str:
        first = self.neurons[0]
        return f"Layer({len(first.weights)}, {len(self.neurons)}, {first.activation!r})"


class MLP(Module):
    """A chain of layers; the result is a list, or, of one output, its `Value`.

    Parameters
    ----------
    inputs : int
        The length of the sequences that it takes; at least 1.
    sizes : sequence of int
        The number of outputs of each layer.
    activation : {"tanh", "relu", "sigmoid", None}
        The activation of every layer but the last.
    output_activation : {"tanh", "relu", "sigmoid", None}
        The activation of the last layer.
    init : {"scaled", "uniform"}
    rng : numpy.random.Generator, random.Random or int, optional
        As for `Neuron`.

    Attributes
    ----------
    layers : list of Layer

    Raises
    ------
    ValueError
        `sizes` is empty or holds a zero, or an activation or `init` is unknown.

    Examples
    --------
    The network of micrograd's demo:

    >>> mlp = MLP(2, [16, 16, 1], "relu", init="uniform", rng=1337)
    >>> mlp
    MLP(Layer(2, 16, 'relu'), Layer(16, 16, 'relu'), Layer(16, 1, None))
    >>> len(mlp.parameters())
    337
    >>> mlp([1.0, -2.0]).backward()
    """

    def __init__(
        self,
        inputs: int,
        sizes: Sequence[int],
        activation: str | None = "tanh",
        output_activation: str | None = None,
        *,
        init: Init = "scaled",
        rng: Rng = None,
    ) -> None:
        if not sizes:
            raise ValueError("an MLP needs the size of at least one layer")
        source = _source(rng, init)
        widths = [inputs, *sizes]
        activations = [*[activation] * (len(sizes) - 1), output_activation]
        self.layers: list[Layer] = [
            Layer(n_in, n_out, kind, init=init, rng=source)
            for n_in, n_out, kind in zip(widths[:-1], sizes, activations, strict=True)
        ]

    def __call__(self, x: Sequence[Value | float]) -> Value | list[Value]:
        y: Sequence[Value | float] = x
        for layer in self.layers[:-1]:
            outputs = layer(y)
            y = [outputs] if isinstance(outputs, Value) else outputs
        return self.layers[-1](y)

    def parameters(self) -> list[Value]:
        """Return the parameters of each layer in turn."""
        return [p for layer in self.layers for p in layer.parameters()]

    def __repr__(self) -> str:
        return f"MLP({', '.join(map(repr, self.layers))})"


def _source(rng: Rng, init: str) -> Uniform:
    if init not in ("scaled", "uniform"):
        raise ValueError(f"unknown init {init!r}; known are 'scaled', 'uniform'")
    if rng is not None and not isinstance(rng, int | np.integer):
        if not hasattr(rng, "uniform"):
            raise TypeError(
                f"rng is a seed, a numpy.random.Generator or a random.Random, got {rng!r}"
            )
        return rng
    if init == "scaled":
        return np.random.default_rng(rng)
    return random if rng is None else random.Random(int(rng))
