"""Rules for `scipy.interpolate`, one module per topic; imported on the first call into it."""

from adjoint.rules.scipy.interpolate import (  # noqa: F401  each registers its rules
    bsplines,
    cells,
    fitpack,
    grids,
    integrals,
    piecewise,
    radial,
    scattered,
    splines,
    surfaces,
)
from adjoint.rules.scipy.linalg import lapack  # noqa: F401  SciPy's interpolation calls them
