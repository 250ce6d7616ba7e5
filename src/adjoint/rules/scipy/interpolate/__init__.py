"""The rules of `scipy.interpolate` by topic; imported on the first call into it."""

from adjoint.rules.scipy.interpolate import grids, integrals, piecewise

__all__ = ["grids", "integrals", "piecewise"]
