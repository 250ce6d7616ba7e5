"""Adjoint: automatic differentiation of the Python that exists.

>>> import adjoint as ad
>>> import math
>>> ad.gradient(lambda x: math.sin(x) * x, 0.0)
(0.0,)
"""

from adjoint import errors, nn, testing, value
from adjoint.api import grad, gradient, pullback, value_and_grad, withgradient
from adjoint.checkpoints import checkpoint, checkpoint_loop
from adjoint.errors import AdjointError
from adjoint.levels.transforms import derivative, directional, jvp, pushforward
from adjoint.looking import code, ir
from adjoint.operators import hook, stop_gradient
from adjoint.registering import frule, non_differentiable, rrule
from adjoint.rules.evalpoly import evalpoly
from adjoint.tangent import Tangent

__all__ = [
    "AdjointError",
    "Tangent",
    "checkpoint",
    "checkpoint_loop",
    "code",
    "derivative",
    "directional",
    "errors",
    "evalpoly",
    "frule",
    "grad",
    "gradient",
    "hook",
    "ir",
    "jvp",
    "nn",
    "non_differentiable",
    "pullback",
    "pushforward",
    "rrule",
    "stop_gradient",
    "testing",
    "value",
    "value_and_grad",
    "withgradient",
]
__version__ = "0.1.0"
