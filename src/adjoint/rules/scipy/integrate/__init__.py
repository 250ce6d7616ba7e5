"""Rules for `scipy.integrate`, one module per topic; imported on the first call into it."""

from adjoint.rules.scipy.integrate import quadrature, trajectories  # noqa: F401
