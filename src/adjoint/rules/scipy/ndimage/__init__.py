"""Rules for `scipy.ndimage`, one module per topic; imported on the first call into it."""

from adjoint.rules.scipy.ndimage import (  # noqa: F401  each registers its rules
    callback_filters,
    correlation,
    distances,
    magnitudes,
    rank_filters,
    spectra,
    spline_coefficients,
    spline_samples,
)
