"""NumPy's older polynomials in terms of others: definitions that programs inline."""

from __future__ import annotations

import numpy as np

from adjoint.fast.evaluate.callees.numpy_definitions import definition
from adjoint.rules.numpy.polynomials import without_leading_zeros


@definition(np.polymul)
def _polymul(a1, a2):
    is_object = isinstance(a1, np.poly1d) or isinstance(a2, np.poly1d)
    y = np.convolve(np.poly1d(a1).coeffs, np.poly1d(a2).coeffs)
    return np.poly1d(y) if is_object else y


@definition(without_leading_zeros)
def _as_they_are(coefficients):
    if len(coefficients) == 0 or coefficients[0] == 0:
        raise ValueError("leading zeros")
    return coefficients
