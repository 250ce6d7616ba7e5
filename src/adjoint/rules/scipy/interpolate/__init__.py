"""Rules for `scipy.interpolate`, one module per topic; imported on the first call into it."""

from adjoint.rules.scipy.interpolate import (
    bsplines,
    fitpack,
    grids,
    integrals,
    piecewise,
    radial,
    scattered,
    surfaces,
)
from adjoint.rules.scipy.linalg import lapack  # SciPy's interpolation calls these routines

__all__ = [
    "bsplines",
    "fitpack",
    "grids",
    "integrals",
    "lapack",
    "piecewise",
    "radial",
    "scattered",
    "surfaces",
]
