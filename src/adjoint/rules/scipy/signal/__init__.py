"""Rules for `scipy.signal`, one module per topic; imported on the first call into it."""

from adjoint.rules.scipy.signal import (  # noqa: F401  each registers its rules
    convolution,
    designs,
    medians,
    peaks,
    recursive_filters,
    splines,
    upfirdn,
)
