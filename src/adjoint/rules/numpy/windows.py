"""Rule of `as_strided`, which makes views such as windows that slide along axes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from adjoint.cotangents.accumulate import finish
from adjoint.cotangents.poison import Poison
from adjoint.primal.array_memory import address_of, bounds_of
from adjoint.rulekit.projection import projector
from adjoint.rulekit.registry import structural
from adjoint.runtime.memory.array_shadow import add_to_shadow
from adjoint.runtime.memory.memory import Memory


@structural(as_strided)
def _(memory: Memory, /, x: Any, *args: Any, **kwargs: Any) -> Any:
    """Make a view by strides, which may reach beyond `x` in the base array of `x`."""
    y = as_strided(x, *args, **kwargs)
    if not isinstance(x, np.ndarray) or x.dtype.kind not in "fc":
        return (y, None) if y.dtype.kind not in "fcO" else NotImplemented
    to_y = projector(y)
    if _is_within(y, x) and not memory.is_written(x):

        def strided_back(y_bar: Any) -> tuple[Any, ...]:
            y_bar = finish(y_bar)
            if y_bar is None or type(y_bar) is Poison:
                return None, y_bar
            x_bar = np.zeros(x.size, x.dtype)
            offset = address_of(y) - address_of(x)
            add_to_shadow(np.ndarray(y.shape, y.dtype, x_bar, offset, y.strides), ..., to_y(y_bar))
            return None, x_bar.reshape(x.shape)

    else:
        memory.mark_written(x)  # from now on its cotangent belongs to the memory

        def strided_back(y_bar: Any) -> tuple[Any, ...]:
            memory.add_array(y, finish(y_bar))
            return None, None

    return y, strided_back


def _is_within(y: np.ndarray[Any, Any], x: np.ndarray[Any, Any]) -> bool:
    """Return whether all memory of `y` is part of that of `x`."""
    (low, high), (lowest, highest) = bounds_of(y), bounds_of(x)
    return x.flags.c_contiguous and lowest <= low and high <= highest
