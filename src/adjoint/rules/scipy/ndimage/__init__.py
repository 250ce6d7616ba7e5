"""Rules for `scipy.ndimage`, one module per topic; imported on the first call into it."""

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
