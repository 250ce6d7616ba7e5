"""Modules whose functions are not differentiated by their source."""

from __future__ import annotations

from types import FunctionType
from typing import Any

from adjoint.diagnostics.public_function import PublicFunction
from adjoint.primal.packages import FOLLOWED, INERT, package

DIFFERENTIATED_NAMES: dict[str, tuple[str, ...]] = {
    "ast": ("NodeVisitor", "NodeTransformer", "iter_child_nodes", "iter_fields"),
    "inspect": tuple(
        """Signature Parameter BoundArguments signature _signature_from_ _signature_get_
        _signature_bound_method getfullargspec FullArgSpec getcallargs getclosurevars ClosureVars
        getattr_static _static_getmro _check_class _check_instance getmembers
        _getmembers get_annotations""".split()
    ),
}
"""By inert module: prefixes of the qualified names that are differentiated all the same, because
these functions return values of user code or call its methods."""

COMPILED = ("numpy.fft", "scipy.fft")
"""Modules whose Python only prepares calls of C: differentiating the source gives nothing."""

OWN = tuple(
    f"adjoint.{part}"
    for part in (
        "api.generic_tier",
        "api.gradients",
        "api.code_text",
        "api.tier_report",
        "api.unit_cotangent",
        "cotangents",
        "diagnostics",
        "emit",
        "explanation",
        "frontend",
        "ir",
        "primal",
        "runtime",
        "standalone",
        "testing",
        "transform",
    )
)
"""Parts of the library itself, which are not differentiated, except for `DIFFERENTIATED`."""

DIFFERENTIATED = frozenset(
    {
        "adjoint.diagnostics.public_function",
        "adjoint.primal.callable_adapter",
        "adjoint.primal.flat_iterators",
        "adjoint.primal.numba_loops",
        "adjoint.runtime.arrays.ufunc_keywords",
        "adjoint.runtime.arrays.wrap_results",
        "adjoint.runtime.dispatch.number_protocols",
        "adjoint.runtime.leaves",
        "adjoint.runtime.operators.ufunc_output",
        "adjoint.runtime.python.dict_fromkeys",
        "adjoint.runtime.steering",
    }
)
"""Modules in `OWN` that hold substitutes: Python that is differentiated in place of C."""

OPERATORS = frozenset(
    {
        "adjoint.api.gradients",
        "adjoint.api.generic_tier",
        "adjoint.api.program_choice",
        "adjoint.levels.reverse",
        "adjoint.levels.transforms",
        "adjoint.derivatives.linear_map",
        "adjoint.derivatives.jacobians",
        "adjoint.derivatives.jax_forms",
        "adjoint.derivatives.hessians",
        "adjoint.derivatives.sparse",
        "adjoint.fast.programs.pullback",
    }
)
"""Modules of functions that differentiate others; a level runs their calls."""


def home_of(f: Any) -> str:
    """Return the module that a function was defined in, or that a class belongs to.

    The ``__module__`` of a function may be another one: decorators set it.
    """
    known = f.__globals__.get("__name__") if type(f) is FunctionType else f.__module__
    return known if isinstance(known, str) else ""


def is_operator(f: Any) -> bool:
    """Return whether `f` is a function of this library that differentiates others."""
    return type(f) in _FUNCTION_TYPES and f.__module__ in OPERATORS


_FUNCTION_TYPES = frozenset({FunctionType, PublicFunction})


def is_inert(f: Any) -> bool:
    """Return whether a function or class belongs to an inert package."""
    module = home_of(f)
    if package(module) not in INERT or module in FOLLOWED:
        return False
    return not f.__qualname__.startswith(DIFFERENTIATED_NAMES.get(module, ()))
