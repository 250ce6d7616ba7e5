"""The rules of `scipy.integrate` by topic; imported on the first call into it."""

from adjoint.rules.scipy.integrate import quadrature, trajectories

__all__ = ["quadrature", "trajectories"]
