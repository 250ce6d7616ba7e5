"""Functions of `scipy.signal` that design windows and filters: where all that they take is known,
programs hold what they give."""

from __future__ import annotations

from scipy import signal

from adjoint.fast.evaluate.callees.constant_calls import designs

_OF_FILTERS = (
    "bessel butter buttord cheb1ord cheb2ord cheby1 cheby2 ellip ellipord firls firwin firwin2 "
    "iircomb iirdesign iirfilter iirnotch iirpeak kaiser_atten kaiser_beta kaiserord lfilter_zi "
    "minimum_phase remez savgol_coeffs sos2tf sosfilt_zi tf2sos tf2zpk zpk2sos zpk2tf"
)

designs.update(getattr(signal, name) for name in _OF_FILTERS.split())
designs.update(getattr(signal.windows, name) for name in signal.windows.__all__)
designs.add(signal.get_window)
