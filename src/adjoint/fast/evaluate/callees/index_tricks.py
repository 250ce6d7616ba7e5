"""`np.r_` and `np.c_` in terms of other functions of NumPy: the definition that programs inline."""

from __future__ import annotations

import numpy as np

from adjoint.fast.evaluate.callees.numpy_definitions import definition
from adjoint.rulekit.partials import is_constant


def _range(s):
    if isinstance(s.step, complex):
        raise TypeError("a number of steps")
    return np.arange(0 if s.start is None else s.start, s.stop, 1 if s.step is None else s.step)


@definition(type(np.r_).__getitem__, type(np.c_).__getitem__)
def _joined(self, key):
    by_columns = isinstance(self, type(np.c_))
    if not by_columns and not isinstance(self, type(np.r_)):
        raise ValueError("arrays that are joined otherwise")
    parts, is_float, has_number = [], False, False
    for item in key if isinstance(key, tuple) else (key,):
        if isinstance(item, str | bool):
            raise TypeError("a directive")
        if isinstance(item, int) and not is_constant(item):  # of the kind of the others
            part, has_number = np.atleast_1d(float(item)), True
        else:
            part = _range(item) if isinstance(item, slice) else np.atleast_1d(item)
            if part.dtype not in (np.float64, np.int64):
                raise TypeError("numbers of another kind")
            is_float = is_float or part.dtype == np.float64
        parts.append(part[:, None] if by_columns and part.ndim == 1 else part)
    if has_number and not is_float:
        raise TypeError("integers")
    return np.concatenate(parts, axis=1) if by_columns else np.concatenate(parts)
