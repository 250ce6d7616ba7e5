"""Types whose values hold nothing that can be changed."""

from __future__ import annotations

from types import FunctionType

import numpy as np

from adjoint.primal.value_kinds import ATOMS

CHILDLESS_TYPES: frozenset[type] = (ATOMS - {FunctionType, type, slice}) | {
    float,
    complex,
    bytes,
    np.float64,
    np.float32,
    np.int64,
    np.bool_,
    type(np.mean),
}
"""Types whose values hold nothing that can be changed."""
