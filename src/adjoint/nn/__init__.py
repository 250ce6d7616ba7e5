"""Layers, losses and training in plain Python and NumPy, differentiated like any other code.

A model is any object, dict, list, tuple or dataclass that holds arrays; there is no base class.
Samples are rows, features are columns.
"""

import adjoint.nn.rules  # noqa: F401 - registers them
from adjoint.nn import datasets
from adjoint.nn.activations import logsoftmax, relu, sigmoid, softmax, tanh
from adjoint.nn.classification import accuracy
from adjoint.nn.files import load, save
from adjoint.nn.labels import onecold, onehot
from adjoint.nn.layers import Chain, Dense
from adjoint.nn.losses import (
    binary_cross_entropy,
    cross_entropy,
    hinge_loss,
    logit_binary_cross_entropy,
    logit_cross_entropy,
    mse,
)
from adjoint.nn.model_table import summary
from adjoint.nn.parameters import parameters, update
from adjoint.nn.training import gradient_descent

__all__ = [
    "Chain",
    "Dense",
    "accuracy",
    "binary_cross_entropy",
    "cross_entropy",
    "datasets",
    "gradient_descent",
    "hinge_loss",
    "load",
    "logit_binary_cross_entropy",
    "logit_cross_entropy",
    "logsoftmax",
    "mse",
    "onecold",
    "onehot",
    "parameters",
    "relu",
    "save",
    "sigmoid",
    "softmax",
    "summary",
    "tanh",
    "update",
]
