"""Rules for `scipy.linalg`, one module per topic; imported on the first call into it."""

from scipy import linalg

from adjoint.rules.scipy.linalg import (  # noqa: F401  each registers its rules
    blas,
    eigen,
    factors,
    hermitian,
    lapack,
    least_squares,
    matrix_equations,
    matrix_functions,
    schur,
    solving,
    structured,
    unsupported,
)
from adjoint.rules.scipy.overwrite_options import take_overwritten

take_overwritten(getattr(linalg, name) for name in linalg.__all__)
