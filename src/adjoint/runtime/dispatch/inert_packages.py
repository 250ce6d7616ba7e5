"""Which functions are not differentiated by their source: what is left alone, and what
differentiates others, by the module that a function was written in."""

from __future__ import annotations

from types import FunctionType
from typing import Any

from adjoint.diagnostics.public_function import PublicFunction
from adjoint.primal.packages import FOLLOWED, LEFT_ALONE, package

HANDING = {
    "ast": ("NodeVisitor", "NodeTransformer", "iter_child_nodes", "iter_fields"),
    "inspect": tuple(
        """Signature Parameter BoundArguments signature _signature_from_ _signature_get_
        _signature_bound_method getfullargspec FullArgSpec getcallargs getclosurevars ClosureVars
        getattr_static _static_getmro _check_class _check_instance getmembers
        _getmembers get_annotations""".split()
    ),
}
"""How the names begin of what these modules have that hands values on, or calls methods of the
user's: defaults, arguments, captured variables, attributes, what was found at a node."""

COMPILED = ("numpy.fft", "scipy.fft")
"""Python that only prepares what gufuncs and C write into: of no use without rules of its own."""

OWN = tuple(
    f"adjoint.{part}"
    for part in (
        "api.generic_tier",
        "api.gradients",
        "api.printing",
        "cotangents",
        "diagnostics",
        "emit",
        "frontend",
        "ir",
        "primal",
        "runtime",
        "testing",
        "transform",
    )
)
"""The library itself, which is not differentiated,"""

DIFFERENTIATED = frozenset(
    {
        "adjoint.diagnostics.public_function",
        "adjoint.primal.callable_adapter",
        "adjoint.primal.flat_iterators",
        "adjoint.primal.numba_loops",
        "adjoint.runtime.arrays.object_conversion",
        "adjoint.runtime.arrays.object_layout",
        "adjoint.runtime.arrays.ufunc_keywords",
        "adjoint.runtime.arrays.wrap_results",
        "adjoint.runtime.leaves",
        "adjoint.runtime.operators.object_ufuncs",
        "adjoint.runtime.operators.ufunc_output",
        "adjoint.runtime.python.dict_fromkeys",
        "adjoint.runtime.steering",
    }
)
"""but for these modules, in which stands Python that is run in the place of C."""

OPERATORS = frozenset(
    {
        "adjoint.api.gradients",
        "adjoint.api.generic_tier",
        "adjoint.levels.reverse",
        "adjoint.levels.transforms",
        "adjoint.derivatives.linear",
        "adjoint.derivatives.jacobians",
        "adjoint.derivatives.hessians",
        "adjoint.derivatives.sparse",
        "adjoint.fast.programs.pullback",
    }
)
"""Functions that differentiate others, and stand on what differentiates them."""


def home_of(f: Any) -> str:
    """The module that a function was written in, or that a class belongs to.

    Anybody may have set the ``__module__`` of a function: a decorator, whoever made it.
    """
    known = f.__globals__.get("__name__") if type(f) is FunctionType else f.__module__
    return known if isinstance(known, str) else ""


def is_operator(f: Any) -> bool:
    """Whether `f` is a function of this library that differentiates others, or says so."""
    return type(f) in _OF_OURS and f.__module__ in OPERATORS


_OF_OURS = frozenset({FunctionType, PublicFunction})


def is_inert(f: Any) -> bool:
    """Whether a function or class is of a package that is left alone."""
    module = home_of(f)
    if package(module) not in LEFT_ALONE or module in FOLLOWED:
        return False
    return not f.__qualname__.startswith(HANDING.get(module, ()))
