"""Functions of `scipy.interpolate` in terms of operations of programs: the definitions that these
inline."""

from __future__ import annotations

from scipy.interpolate import BSpline, _interpolate

from adjoint.fast.evaluate.callees.definitions import definition


@definition(_interpolate._PPolyBase._ensure_c_contiguous, BSpline._ensure_c_contiguous)
def _ensure_c_contiguous(self):
    """Leave the arrays as they are: the functions that read them copy them where it is needed."""
