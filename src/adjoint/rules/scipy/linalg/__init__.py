"""The rules of `scipy.linalg` by topic; imported on the first call into it."""

from adjoint.rules.scipy.linalg import factors, solving, structured

__all__ = ["factors", "solving", "structured"]
