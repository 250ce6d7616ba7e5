"""Rules of packages other than Python, NumPy and SciPy; loaded when the package is first called.

Any package can ship its rules in the same way (docs/extending.md): nothing else imports these
modules, which are found by the entry points of the group ``adjoint.rules``.
"""

RULES = {
    "_wrappers": "adjoint.extensions.wrapt",
    "astropy": "adjoint.extensions.astropy.units",
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
"""By package, the module with its rules: the same as the entry points in ``pyproject.toml``."""
