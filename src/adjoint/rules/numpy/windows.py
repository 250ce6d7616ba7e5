"""Windows that slide along axes: NumPy looks at the same memory, we take copies."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.rules.registry import substitute


@substitute(np.lib.stride_tricks.sliding_window_view)
def sliding_window_view(
    x: Any, window_shape: Any, axis: Any = None, *, subok: Any = False, writeable: Any = False
) -> Any:
    if writeable:
        raise ValueError("a writeable view of sliding windows cannot be differentiated")
    x = np.asarray(x)
    windows = (window_shape,) if np.ndim(window_shape) == 0 else tuple(window_shape)
    if axis is None:
        axes = tuple(range(x.ndim))
        if len(windows) != x.ndim:
            raise ValueError(
                "Since axis is None, must provide window_shape for all dimensions of `x`; got "
                f"{len(windows)} window_shape elements and `x.ndim` is {x.ndim}."
            )
    else:
        axes = (axis,) if np.ndim(axis) == 0 else tuple(axis)
        axes = tuple([a + x.ndim if a < 0 else a for a in axes])
    for window, a in zip(windows, axes, strict=True):
        n = x.shape[a] - window + 1
        if n < 1:
            raise ValueError("window shape cannot be larger than input array shape")
        places = np.arange(n)[:, None] + np.arange(window)
        x = np.moveaxis(np.take(x, places, axis=a), a + 1, -1)
    return x
