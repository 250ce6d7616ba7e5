"""Adjoint: automatic differentiation of the Python that exists.

>>> import adjoint as ad
>>> import math
>>> ad.gradient(lambda x: math.sin(x) * x, 0.0)
(0.0,)
"""

import importlib as _importlib
import os as _os
import typing as _typing

from adjoint import errors
from adjoint.api.checkpoint import checkpoint, checkpoint_loop
from adjoint.api.code_text import code, ir
from adjoint.api.custom import custom
from adjoint.api.extension_points import frule, non_differentiable, rrule
from adjoint.api.gradients import grad, gradient, pullback, value_and_grad, withgradient
from adjoint.api.rule_families import linear_rule, not_implemented, scalar_rule
from adjoint.api.rule_listing import rules as rules  # hides the package of that name
from adjoint.api.tier_report import tier
from adjoint.derivatives import elementwise as _elementwise  # noqa: F401  for `derivative`
from adjoint.derivatives.flat_vector import flatten
from adjoint.derivatives.hessians import (
    gauss_newton_product,
    gradient_and_hvp,
    hessian,
    hessian_diagonal,
    hvp,
    vhp,
)
from adjoint.derivatives.jacobians import (
    jacobian,
    jacobian_forward,
    jacobian_reverse,
    value_and_jacobian,
)
from adjoint.derivatives.jax_forms import jacfwd, jacrev, vjp
from adjoint.derivatives.linear_map import linearize
from adjoint.derivatives.sparse import sparse_hessian, sparse_jacobian
from adjoint.derivatives.tree_functions import tree_leaves, tree_map, tree_norm
from adjoint.derivatives.vmap import vmap
from adjoint.diagnostics.missing_names import missing_name as _missing_name
from adjoint.errors import (
    AdjointError,
    ArgumentError,
    CotangentError,
    MutationError,
    NoDerivativeError,
    NotScalarError,
    RuleError,
    SourceError,
    UnsupportedSyntaxError,
)
from adjoint.explanation.explain import explain
from adjoint.levels.transforms import derivative, directional, jvp, pushforward
from adjoint.rules.python.evalpoly import evalpoly
from adjoint.runtime.steering import hook, stop_gradient
from adjoint.standalone.export import export
from adjoint.tangent import Tangent

__all__ = [
    "AdjointError",
    "ArgumentError",
    "CotangentError",
    "MutationError",
    "NoDerivativeError",
    "NotScalarError",
    "RuleError",
    "SourceError",
    "Tangent",
    "UnsupportedSyntaxError",
    "checkpoint",
    "checkpoint_loop",
    "code",
    "custom",
    "derivative",
    "directional",
    "errors",
    "evalpoly",
    "explain",
    "export",
    "flatten",
    "frule",
    "gauss_newton_product",
    "grad",
    "gradient",
    "gradient_and_hvp",
    "hessian",
    "hessian_diagonal",
    "hook",
    "hvp",
    "ir",
    "jacfwd",
    "jacobian",
    "jacobian_forward",
    "jacobian_reverse",
    "jacrev",
    "jvp",
    "linear_rule",
    "linearize",
    "nn",
    "non_differentiable",
    "optim",
    "not_implemented",
    "pullback",
    "pushforward",
    "rrule",
    "rules",
    "scalar_rule",
    "sparse_hessian",
    "sparse_jacobian",
    "stop_gradient",
    "testing",
    "tier",
    "tree_leaves",
    "tree_map",
    "tree_norm",
    "value",
    "value_and_grad",
    "value_and_jacobian",
    "vhp",
    "vjp",
    "vmap",
    "withgradient",
]
__version__ = "0.1.0"

_ON_FIRST_USE = frozenset({"nn", "optim", "testing", "value"})

if _typing.TYPE_CHECKING:  # type checkers report missing names themselves
    from adjoint import nn, optim, testing, value
else:

    def __getattr__(name: str) -> object:
        """Import a package on first use; else say what to write in place of a name that another
        library has."""
        if name in _ON_FIRST_USE:
            return _importlib.import_module(f"adjoint.{name}")
        raise _missing_name(name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *_ON_FIRST_USE})


if _os.environ.get("ADJOINT_CHECK"):
    from adjoint import testing  # checks each rule from now on
