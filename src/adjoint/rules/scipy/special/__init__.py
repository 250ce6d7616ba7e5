"""The rules of `scipy.special` by topic."""

from adjoint.rules.scipy.special import (
    bessel,
    bessel_integrals,
    carlson,
    distributions,
    elementary,
    elliptic,
    error_functions,
    gamma,
    hypergeometric,
    incomplete,
    information,
    noncentral,
    normalizing,
    polynomials,
    spherical,
)

__all__ = [
    "bessel",
    "bessel_integrals",
    "carlson",
    "distributions",
    "elementary",
    "elliptic",
    "error_functions",
    "gamma",
    "hypergeometric",
    "incomplete",
    "information",
    "noncentral",
    "normalizing",
    "polynomials",
    "spherical",
]
