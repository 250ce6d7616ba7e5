"""Rules for `scipy.ndimage`, one module per topic; imported on the first call into it."""

from adjoint.rules.scipy.ndimage import (  # noqa: F401  each registers its rules
    calling,
    correlating,
    distances,
    magnitudes,
    picking,
    prefiltering,
    sampling,
    spectra,
)
