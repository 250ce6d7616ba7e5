"""Results of filters of `scipy.signal`."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import signal

from adjoint.fast.evaluate.result_types.records import (
    Several,
    array,
    converted_operands,
    dims,
    dtype_of,
    shape_of,
)

converted_operands.update({signal.lfilter: 3, signal.sosfilt: 2})


def _filtered(x: Any, zi: Any, *others: Any) -> Any:
    """Return the type of a filtered signal, and that of the last state if there is a first one."""
    given = [dtype_of(part) for part in (x, zi, *others) if part is not None]
    dtype = np.result_type(*given)
    if dtype.char not in "fdFD" or not dims(x):
        raise TypeError("a signal of other numbers, or of one")
    y = array(dtype, dims(x))
    return y if zi is None else Several((y, array(dtype, dims(zi))))


@shape_of(signal.lfilter, arrays=3)
def _(b: Any, a: Any, x: Any, axis: Any = -1, zi: Any = None) -> Any:
    return _filtered(x, zi, b, a)


@shape_of(signal.sosfilt, arrays=2)
def _(sos: Any, x: Any, axis: Any = -1, zi: Any = None) -> Any:
    if dims(sos)[1:] != (6,):
        raise ValueError("sections of another form")
    return _filtered(x, zi, sos)
