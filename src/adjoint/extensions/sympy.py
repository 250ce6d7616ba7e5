"""`sympy`: numbers that become its own are those of `mpmath`, whichever way they take.

NumPy's scalars go by their ratio of integers, zeros and infinities become what is no float.
"""

from __future__ import annotations

import importlib
from typing import Any

from adjoint.extensions.mpmath import entered_by
from adjoint.rulekit.loading import registering


@registering("sympy")
def _(sympy: Any) -> None:
    convert = importlib.import_module("sympy.core.sympify")  # the package has a function so called
    for made_by in (getattr(convert, "_convert_numpy_types", None), sympy.Float.__new__):
        if made_by is not None:
            entered_by(made_by)
