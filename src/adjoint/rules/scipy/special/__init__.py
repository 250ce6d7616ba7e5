"""The rules of `scipy.special` by topic."""

from adjoint.rules.scipy.special import (
    bessel,
    bessel_integrals,
    error_functions,
    gamma,
    incomplete,
    spherical,
)

__all__ = ["bessel", "bessel_integrals", "error_functions", "gamma", "incomplete", "spherical"]
