"""The rules of `scipy.special` by topic."""

from adjoint.rules.scipy.special import error_functions

__all__ = ["error_functions"]
