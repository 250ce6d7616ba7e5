"""The rules of `numpy.linalg` by topic; imported on the first call into it."""

from adjoint.rules.numpy.linalg import (  # noqa: F401  each registers its rules
    determinants,
    eigen,
    factors,
    least_squares,
    norms,
    powers,
    singular,
    solving,
)
