"""The rules of `scipy.special` by topic."""

from adjoint.rules.scipy.special import (
    bessel,
    bessel_integrals,
    carlson,
    elliptic,
    error_functions,
    gamma,
    hypergeometric,
    incomplete,
    spherical,
)

__all__ = [
    "bessel",
    "bessel_integrals",
    "carlson",
    "elliptic",
    "error_functions",
    "gamma",
    "hypergeometric",
    "incomplete",
    "spherical",
]
