"""The rules of `scipy.linalg` by topic; imported on the first call into it."""

from adjoint.rules.scipy.linalg import (
    eigen,
    factors,
    hermitian,
    solving,
    structured,
)

__all__ = [
    "eigen",
    "factors",
    "hermitian",
    "solving",
    "structured",
]
