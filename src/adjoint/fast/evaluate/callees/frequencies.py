"""Frequencies of Fourier transforms in terms of other functions: definitions that programs
inline."""

from __future__ import annotations

import numpy as np

from adjoint.fast.evaluate.callees.numpy_definitions import constant, definition


@definition(np.fft.fftfreq)
def _fftfreq(n, d=1.0, device=None):
    if not isinstance(n, int) or device is not None:
        raise TypeError("a length of another kind")
    places = np.concatenate([np.arange((n - 1) // 2 + 1), np.arange(-(n // 2), 0)])
    return places * (1.0 / (constant(float(n)) * d))


@definition(np.fft.rfftfreq)
def _rfftfreq(n, d=1.0, device=None):
    if not isinstance(n, int) or device is not None:
        raise TypeError("a length of another kind")
    return np.arange(n // 2 + 1) * (1.0 / (constant(float(n)) * d))
