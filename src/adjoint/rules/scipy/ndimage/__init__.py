"""The rules of `scipy.ndimage` by topic; imported on the first call into it."""

from adjoint.rules.scipy.ndimage import (
    calling,
    correlating,
    distances,
    magnitudes,
    picking,
    prefiltering,
    sampling,
    spectra,
)

__all__ = [
    "calling",
    "correlating",
    "distances",
    "magnitudes",
    "picking",
    "prefiltering",
    "sampling",
    "spectra",
]
