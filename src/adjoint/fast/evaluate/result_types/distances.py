"""Results of functions of `scipy.spatial.distance`."""

from __future__ import annotations

import math
from typing import Any

from scipy.spatial import distance

from adjoint.fast.evaluate.result_types.lengths import Derived, Length
from adjoint.fast.evaluate.result_types.records import (
    array,
    converted_operands,
    dims,
    dtype_of,
    shape_of,
)
from adjoint.fast.evaluate.types import Array

converted_operands.update({distance.cdist: 2, distance.pdist: 1, distance.squareform: 1})


@shape_of(distance.squareform)
def _(X: Any, force: Any = "no", checks: Any = True) -> Array:
    shape, dtype = dims(X), dtype_of(X)
    if force != "no" or len(shape) not in (1, 2):
        raise TypeError("another conversion")
    if len(shape) == 1:
        n = _points(shape[0])
        return array(dtype, (n, n))
    m, n = shape
    return array(dtype, (m * (m - 1) // 2 if isinstance(m, int) else Derived(("pairs", m)),))


def _points(pairs: Length) -> Length:
    """Return the number of points with a given number of pairs."""
    if isinstance(pairs, int):
        return math.isqrt(2 * pairs) + 1
    return pairs.key[1] if pairs.key[:1] == ("pairs",) else Derived(("points", pairs))
