"""The rules of `scipy.special` by topic."""

from adjoint.rules.scipy.special import error_functions, gamma, incomplete

__all__ = ["error_functions", "gamma", "incomplete"]
