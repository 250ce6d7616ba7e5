"""The rules of `scipy.linalg` by topic; imported on the first call into it."""

from adjoint.rules.scipy.linalg import (
    eigen,
    equations,
    factors,
    functions,
    hermitian,
    lapack,
    least_squares,
    refused,
    schur,
    solving,
    structured,
)

__all__ = [
    "eigen",
    "equations",
    "factors",
    "functions",
    "hermitian",
    "lapack",
    "least_squares",
    "refused",
    "schur",
    "solving",
    "structured",
]
