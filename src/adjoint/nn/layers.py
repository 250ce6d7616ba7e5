"""`Dense` and `Chain`: ordinary callables, which any other callable can replace."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from adjoint.rulekit.registry import non_differentiable


class Dense:
    """``activation(x @ W + b)``.

    Parameters
    ----------
    inputs, outputs : int
        Numbers of features.
    activation : callable, optional
        Acts on the array of shape ``(samples, outputs)``; by default the identity.
    rng : numpy.random.Generator or int, optional
        Draws the weights.
    dtype : dtype, optional
        A floating one.

    Attributes
    ----------
    W : array of shape (inputs, outputs)
        Uniform in ±√(6 / (inputs + outputs)) at first.
    b : array of shape (outputs,)
        Zero at first.
    activation : callable or None

    Raises
    ------
    TypeError, ValueError
        A number of features is below 1, `activation` is not callable, or `dtype` is not floating;
        when called: the last axis of ``x`` has not `inputs` entries.

    References
    ----------
    Glorot & Bengio, *Understanding the difficulty of training deep feedforward neural networks*,
    AISTATS 2010, eq. 16.

    Examples
    --------
    >>> layer = Dense(2, 1)
    >>> layer.W[:] = [[2.0], [3.0]]
    >>> layer(np.array([[1.0, 1.0], [0.0, 10.0]]))
    array([[ 5.],
           [30.]])
    """

    def __init__(
        self,
        inputs: int,
        outputs: int,
        activation: Callable[[Any], Any] | None = None,
        *,
        rng: np.random.Generator | int | None = None,
        dtype: DTypeLike = np.float64,
    ) -> None:
        if inputs < 1 or outputs < 1:
            raise ValueError(f"inputs and outputs must be at least 1, got {inputs} and {outputs}")
        if activation is not None and not callable(activation):
            raise TypeError(f"activation must be callable, got {activation!r}")
        if np.dtype(dtype).kind != "f":
            raise TypeError(f"weights must have a floating dtype, got {np.dtype(dtype)}")
        rng = np.random.default_rng(rng)
        bound = np.sqrt(6.0 / (inputs + outputs))
        self.W: NDArray[Any] = rng.uniform(-bound, bound, (inputs, outputs)).astype(dtype)
        self.b: NDArray[Any] = np.zeros(outputs, dtype)
        self.activation = activation

    def __call__(self, x: Any) -> Any:
        check_features(x, self.W)
        y = x @ self.W + self.b
        return y if self.activation is None else self.activation(y)

    def __repr__(self) -> str:
        inputs, outputs = self.W.shape
        activation = "" if self.activation is None else f", {_name(self.activation)}"
        return f"Dense({inputs}, {outputs}{activation})"


class Chain:
    """Callables one after the other: ``Chain(f, g)(x)`` is ``g(f(x))``.

    Parameters
    ----------
    *layers : callable
        Layers, activations, any functions of one argument. A chain has their number as its length,
        and they are its items.

    Raises
    ------
    TypeError
        A layer is not callable.

    Examples
    --------
    >>> from adjoint.nn import relu
    >>> model = Chain(Dense(2, 16, relu), Dense(16, 1), np.ravel)
    >>> model
    Chain(Dense(2, 16, relu), Dense(16, 1), ravel)
    >>> model(np.ones((3, 2))).shape
    (3,)
    """

    def __init__(self, *layers: Callable[[Any], Any]) -> None:
        for layer in layers:
            if not callable(layer):
                raise TypeError(f"a layer must be callable, got {layer!r}")
        self.layers = layers

    def __call__(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
        return x

    def __len__(self) -> int:
        return len(self.layers)

    def __iter__(self) -> Iterator[Callable[[Any], Any]]:
        return iter(self.layers)

    def __getitem__(self, i: int) -> Callable[[Any], Any]:
        return self.layers[i]

    def __repr__(self) -> str:
        return f"Chain({', '.join(map(_name, self.layers))})"


def check_features(x: Any, W: NDArray[Any]) -> None:
    """Refuse inputs of a wrong shape with a message that names the layer."""
    shape = np.shape(x)
    if not shape or shape[-1] != len(W):
        inputs, outputs = W.shape
        raise ValueError(
            f"Dense({inputs}, {outputs}) takes {inputs} features along the last axis,"
            f" got an array of shape {shape}"
        )


non_differentiable(check_features)


def _name(f: Callable[..., Any]) -> str:
    return getattr(f, "__name__", None) or repr(f)
