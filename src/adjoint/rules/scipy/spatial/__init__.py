"""Rules for `scipy.spatial`, one module per topic; imported on the first call into it."""

from adjoint.rules.scipy.spatial import distance, nearest, rotations, triangulations  # noqa: F401
