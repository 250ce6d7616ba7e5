"""Substitute in Python for ``_array_converter``, the C object that converts operands to arrays.

NumPy's functions without a rule are differentiated by their source, and some begin with
``_array_converter(x)``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.rulekit.registry import non_differentiable, substitute
from adjoint.runtime.arrays.wrap_results import may_wrap, wrap_calls, wrapped_result

_core: Any = getattr(np, "_core", None)  # NumPy 1 has none, and needs none
_array_converter: Any = getattr(getattr(_core, "_multiarray_umath", None), "_array_converter", None)


class Converter:
    """The operands as arrays, and the conversion of results."""

    def __init__(self, *operands: Any) -> None:
        self.operands = operands
        self.arrays: Any = [np.asanyarray(operand) for operand in operands]
        self.scalar_input: Any = tuple([np.isscalar(operand) for operand in operands])

    def __len__(self) -> int:
        return len(self.arrays)

    def __getitem__(self, index: Any) -> Any:
        return self.arrays[index]

    def as_arrays(self, /, subok: Any = True, pyscalars: Any = "convert_if_no_array") -> Any:
        return tuple([array if subok else np.asarray(array) for array in self.arrays])

    def result_type(self, /, extra_dtype: Any = None, ensure_inexact: Any = False) -> Any:
        dtypes = [array.dtype for array in self.arrays]
        if extra_dtype is not None:
            dtypes.append(extra_dtype)
        if ensure_inexact:
            dtypes.append(np.float64 if np.result_type(*dtypes).kind in "biu" else np.float16)
        return np.result_type(*dtypes)

    def wrap(self, arr: Any, /, to_scalar: Any = None) -> Any:
        if to_scalar is None:
            to_scalar = all(self.scalar_input)
        if not any(map(may_wrap, self.operands)):
            return arr[()] if to_scalar and arr.ndim == 0 else arr

        def ask(stand_ins):
            return _array_converter(*stand_ins).wrap(np.asarray(arr), to_scalar=to_scalar)

        answers = wrap_calls(ask, self.operands, self.arrays)
        if not to_scalar and _is_of_class(arr, self.operands, answers):
            return arr
        return wrapped_result(arr, self.operands, answers)


def _is_of_class(arr: Any, operands: Any, answers: Any) -> bool:
    """Return whether a result has the class of the wrapping operand, so that NumPy leaves it."""
    return answers is not None and type(arr) is type(operands[answers.place])


non_differentiable(_is_of_class)


if _array_converter is not None:

    @substitute(_array_converter)
    def convert(*operands: Any) -> Any:
        return Converter(*operands)
