"""Rules of BLAS routines that other libraries get from `scipy.linalg`."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import get_blas_funcs

from adjoint.rulekit.registry import non_differentiable, primitive, substitute
from adjoint.rules.scipy.equivalents import with_derivative_of
from adjoint.rules.scipy.overwrite_options import lock, unlock
from adjoint.runtime.dispatch.source_call import call_function

TOLERANCE = {"f": 1e-4, "d": 1e-6, "F": 1e-4, "D": 1e-6}
"""Relative tolerance between the routine and the function that carries its derivative."""


def _norm(dtype: Any) -> None:
    f = get_blas_funcs("nrm2", dtype=dtype)

    @non_differentiable
    def plain(x: Any) -> Any:
        return f(x)

    @substitute(f)
    def nrm2(x):
        return with_derivative_of(plain(x), np.linalg.norm(x), f, TOLERANCE[dtype], 0.0)


# ---- exchanged vectors ---------------------------------------------------------------------------


def _exchange(dtype: Any) -> None:
    kind = np.dtype(dtype)

    @non_differentiable
    def is_taken(x: Any) -> bool:
        """Return whether the routine works in the memory of `x` instead of a copy."""
        return bool(x.dtype == kind and x.flags.c_contiguous and x.flags.aligned)

    def exchanged(x, y):
        first, second = np.array(x, kind), np.array(y, kind)
        a = x if is_taken(x) else np.empty_like(first)
        b = y if is_taken(y) else np.empty_like(second)
        locked = unlock(a) + unlock(b)
        a[...] = second
        b[...] = first
        lock(locked)
        return a, b

    def of_numbers(x, y):
        return np.array(y, kind), np.array(x, kind)

    @primitive(get_blas_funcs("swap", dtype=dtype))
    def _(record: list[Any], slot: int, /, *args: Any, **options: Any) -> Any:
        if options or len(args) != 2:
            return NotImplemented
        x, y = args
        if isinstance(x, np.floating) and isinstance(y, np.floating):
            return call_function(record, slot, of_numbers, (x, y), {})
        if type(x) is not np.ndarray or type(y) is not np.ndarray:
            return NotImplemented
        if x.ndim != 1 or x.shape != y.shape:
            return NotImplemented
        return call_function(record, slot, exchanged, (x, y), {})


for _dtype in "fdFD":
    _norm(_dtype)
    _exchange(_dtype)
