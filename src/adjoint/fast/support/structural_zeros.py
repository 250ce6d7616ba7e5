"""Products in careful programs."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.cotangents.finiteness import finite


def zero_beside(bar: Any, factor: Any) -> Any:
    """Return a product, `bar`, with zero where one `factor` is zero and another one infinite."""
    if finite(bar):
        return bar
    if type(bar) is not np.ndarray:
        return bar if factor else type(bar)(0)
    return np.where(factor == 0, bar.dtype.type(0), bar)
