"""The rules of `numpy.linalg` by topic; imported on the first call into it."""

from adjoint.rules.numpy.linalg import (
    determinants,
    eigen,
    factors,
    least_squares,
    norms,
    powers,
    products,
    singular,
    solving,
)

__all__ = [
    "determinants",
    "eigen",
    "factors",
    "least_squares",
    "norms",
    "powers",
    "products",
    "singular",
    "solving",
]
