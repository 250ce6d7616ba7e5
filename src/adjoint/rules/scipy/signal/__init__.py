"""Rules for `scipy.signal`, one module per topic; imported on the first call into it."""

from adjoint.rules.scipy.signal import (
    convolving,
    designs,
    filtering,
    medians,
    peaks,
    resampling,
    splines,
)

__all__ = ["convolving", "designs", "filtering", "medians", "peaks", "resampling", "splines"]
