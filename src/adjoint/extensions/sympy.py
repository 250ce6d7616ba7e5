"""Rules of `sympy`: conversions of floats to its numbers, which are those of `mpmath`.

Two conversions bypass the functions of `mpmath`: NumPy scalars become ratios of integers, and zeros
and infinities become other objects.
"""

from __future__ import annotations

import importlib
from typing import Any

from adjoint.extensions.mpmath import register_entry
from adjoint.rulekit.loading import registering


@registering("sympy")
def _(sympy: Any) -> None:
    convert = importlib.import_module("sympy.core.sympify")  # a function hides the module
    for made_by in (getattr(convert, "_convert_numpy_types", None), sympy.Float.__new__):
        if made_by is not None:
            register_entry(made_by)
