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

converted_operands[signal.lfilter] = 3


@shape_of(signal.lfilter, arrays=3)
def _(b: Any, a: Any, x: Any, axis: Any = -1, zi: Any = None) -> Any:
    given = [dtype_of(part) for part in (b, a, x, zi) if part is not None]
    dtype = np.result_type(*given)
    if dtype.char not in "fdFD" or not dims(x):
        raise TypeError("a signal of other numbers, or of one")
    y = array(dtype, dims(x))
    return y if zi is None else Several((y, array(dtype, dims(zi))))
