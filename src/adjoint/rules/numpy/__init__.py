"""The rules of NumPy by topic; imported on the first call into NumPy."""

from adjoint.rules.numpy import (
    constants,
    creation,
    cumulative,
    einsum,
    joining,
    methods,
    products,
    reductions,
    sampling,
    selection,
    shaping,
    sorting,
    statistics,
    ufunc_methods,
    ufuncs,
)

__all__ = [
    "constants",
    "creation",
    "cumulative",
    "einsum",
    "joining",
    "methods",
    "products",
    "reductions",
    "sampling",
    "selection",
    "shaping",
    "sorting",
    "statistics",
    "ufunc_methods",
    "ufuncs",
]
