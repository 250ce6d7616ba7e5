"""Rules for packages beyond Python, NumPy and SciPy: a file or a folder for each.

They are imported on the first call into the package. The table `RULES` and the same entry points of
the group ``adjoint.rules`` in ``pyproject.toml`` name them, and no other module imports them. Any
package can ship its own rules in this way (docs/extending.md).
"""

RULES = {
    "_wrappers": "adjoint.extensions.wrapt",
    "astropy": "adjoint.extensions.astropy.quantities",
    "astropy.coordinates": "adjoint.extensions.astropy.coordinates",
    "bottleneck": "adjoint.extensions.bottleneck",
    "erfa": "adjoint.extensions.erfa",
    "mpmath": "adjoint.extensions.mpmath",
    "pandas": "adjoint.extensions.pandas",
    "pint": "adjoint.extensions.pint",
    "sklearn._isotonic": "adjoint.extensions.sklearn",
    "statsmodels": "adjoint.extensions.statsmodels",
    "sympy": "adjoint.extensions.sympy",
    "wrapt": "adjoint.extensions.wrapt",
}
"""Module with the rules, by package: the entry points of ``pyproject.toml``."""
