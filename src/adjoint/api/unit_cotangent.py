"""The cotangent of the result with which the sweep of a gradient starts."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.errors import NotScalarError
from adjoint.primal.compiled_functions import refuse_foreign_arrays
from adjoint.primal.value_kinds import by_value
from adjoint.rulekit.projection import project


def cotangent_one(f: Any, y: Any) -> Any:
    """Return the cotangent 1 of a real scalar; refuse other results."""
    if type(y) is float or type(y) is np.float64:
        return 1.0
    refuse_foreign_arrays(y, ())
    name = getattr(f, "__name__", type(f).__name__)
    if isinstance(y, complex | np.complexfloating) or (
        isinstance(y, np.ndarray) and y.dtype.kind == "c"
    ):
        raise NotScalarError(
            f"'{name}' returned a complex number; a gradient needs a real one",
            hint="take its real part or its modulus, or use pullback",
        )
    if not by_value(y) or np.shape(y) != ():
        what = f"an array of shape {np.shape(y)}" if by_value(y) else f"a {type(y).__name__}"
        raise NotScalarError(
            f"'{name}' returned {what}; a gradient needs one real number",
            hint="use pullback with a cotangent of the result's shape; a jacobian is one for each"
            " entry of the result",
        )
    return project(1.0, y)
