"""Neurons, layers and a multi-layer perceptron, one `Value` per weight."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from adjoint.value.graph import Value

_activations: dict[str | None, Callable[[Value], Value]] = {
    None: lambda v: v,
    "relu": Value.relu,
    "sigmoid": Value.sigmoid,
    "tanh": Value.tanh,
}


class Neuron:
    """``activation(w · x + b)``.

    Parameters
    ----------
    inputs : int
    activation : {"tanh", "relu", "sigmoid", None}
    rng : numpy.random.Generator, optional
        Draws the weights, uniform in ±1/√inputs; the bias starts at 0.
    """

    def __init__(
        self,
        inputs: int,
        activation: str | None = "tanh",
        *,
        rng: np.random.Generator | None = None,
    ) -> None:
        if inputs < 1:
            raise ValueError(f"a neuron needs at least one input, got {inputs}")
        if activation not in _activations:
            known = ", ".join(map(repr, _activations))
            raise ValueError(f"unknown activation {activation!r}; known are {known}")
        rng = np.random.default_rng() if rng is None else rng
        bound = inputs**-0.5
        self.weights: list[Value] = [Value(w) for w in rng.uniform(-bound, bound, inputs)]
        self.bias: Value = Value(0.0)
        self.activation = activation

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


class Layer:
    """`outputs` neurons with the same inputs; the other parameters are those of `Neuron`."""

    def __init__(
        self,
        inputs: int,
        outputs: int,
        activation: str | None = "tanh",
        *,
        rng: np.random.Generator | None = None,
    ) -> None:
        if outputs < 1:
            raise ValueError(f"a layer needs at least one output, got {outputs}")
        rng = np.random.default_rng() if rng is None else rng
        self.neurons: list[Neuron] = [Neuron(inputs, activation, rng=rng) for _ in range(outputs)]

    def __call__(self, x: Sequence[Value | float]) -> list[Value]:
        return [neuron(x) for neuron in self.neurons]

    def parameters(self) -> list[Value]:
        """Return the parameters of each neuron in turn."""
        return [p for neuron in self.neurons for p in neuron.parameters()]

    def __repr__(self) -> str:
        first = self.neurons[0]
        return f"Layer({len(first.weights)}, {len(self.neurons)}, {first.activation!r})"


class MLP:
    """A chain of layers.

    Parameters
    ----------
    inputs : int
    sizes : sequence of int
        The number of outputs of each layer.
    activation : {"tanh", "relu", "sigmoid", None}
        The activation of every layer but the last.
    output_activation : {"tanh", "relu", "sigmoid", None}
        The activation of the last layer.
    rng : numpy.random.Generator, optional
        Draws the weights.

    Examples
    --------
    >>> mlp = MLP(2, [16, 16, 1])
    >>> len(mlp.parameters())
    337
    """

    def __init__(
        self,
        inputs: int,
        sizes: Sequence[int],
        activation: str | None = "tanh",
        output_activation: str | None = None,
        *,
        rng: np.random.Generator | None = None,
    ) -> None:
        if not sizes:
            raise ValueError("an MLP needs the size of at least one layer")
        rng = np.random.default_rng() if rng is None else rng
        widths = [inputs, *sizes]
        activations = [*[activation] * (len(sizes) - 1), output_activation]
        self.layers: list[Layer] = [
            Layer(n_in, n_out, kind, rng=rng)
            for n_in, n_out, kind in zip(widths[:-1], sizes, activations, strict=True)
        ]

    def __call__(self, x: Sequence[Value | float]) -> list[Value]:
        y: Sequence[Value | float] = x
        for layer in self.layers[:-1]:
            y = layer(y)
        return self.layers[-1](y)

    def parameters(self) -> list[Value]:
        """Return the parameters of each layer in turn."""
        return [p for layer in self.layers for p in layer.parameters()]

    def __repr__(self) -> str:
        return f"MLP({', '.join(map(repr, self.layers))})"
