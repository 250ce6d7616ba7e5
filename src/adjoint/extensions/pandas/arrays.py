"""Rules of pandas arrays such as ``Series.array``: compiled objects around a NumPy array."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.cotangents.accumulate import accumulate
from adjoint.primal.value_kinds import by_value
from adjoint.rulekit.registry import non_differentiable, primitive, substitute
from adjoint.runtime.memory.memory import Memory


def register(backed: type) -> None:
    """Register the rules of `pandas._libs.arrays.NDArrayBacked`."""
    non_differentiable((backed, "__new__"), (backed, "_dtype"))
    for name in ("shape", "ndim", "size", "nbytes"):
        non_differentiable((backed, name))
    _around(backed)
    _read(backed)
    _delegating_methods(backed)


def _around(backed: Any) -> None:
    @primitive((backed, "__init__"))
    def init(record: list[Any], slot: int, self: Any, values: Any, dtype: Any) -> None:
        memory: Memory = record[0]
        backed.__init__(self, values, dtype)

        def init_back(_: Any) -> tuple[Any, ...]:
            bar = accumulate(memory.take_entry(self, "_ndarray"), memory.take_entry(self, "*"))
            return None, None, bar, None

        record[slot] = init_back

    @substitute(vars(backed)["_simple_new"].__func__)
    def simple_new(cls, values, dtype):
        made = cls.__new__(cls)
        backed.__init__(made, values, dtype)
        return made

    @substitute((backed, "_from_backing_data"))
    def around(self, values):
        kind: Any = type(self)
        made = kind.__new__(kind)
        backed.__init__(made, values, self._dtype)
        return made

    @substitute(vars(backed)["_concat_same_type"].__func__)
    def joined(cls, to_concat, axis=0):
        if any(array.dtype != to_concat[0].dtype for array in to_concat):
            raise ValueError("to_concat must have the same dtype", to_concat)
        values = np.concatenate([array._ndarray for array in to_concat], axis)
        return to_concat[0]._from_backing_data(values)


def _read(backed: Any) -> None:
    @primitive((backed, "_ndarray"))
    def ndarray(record: list[Any], slot: int, self: Any) -> Any:
        memory: Memory = record[0]
        level = memory.level
        if level is not None and any(one.holds(self) for one in level.down()):
            return NotImplemented  # compiled code has made it from active values
        array = self._ndarray

        def ndarray_back(y_bar: Any) -> tuple[Any, ...]:
            memory.add_entry(self, "_ndarray", y_bar)
            return None, None

        if by_value(array):
            record[slot] = ndarray_back
        return array


def _delegating_methods(backed: Any) -> None:
    """Register methods that call the method of the array inside."""

    @substitute((backed, "copy"))
    def copy(self, order="C"):
        return self._from_backing_data(self._ndarray.copy(order))

    @substitute((backed, "delete"))
    def delete(self, loc, axis=0):
        return self._from_backing_data(np.delete(self._ndarray, loc, axis))

    @substitute((backed, "swapaxes"))
    def swapaxes(self, axis1, axis2):
        return self._from_backing_data(self._ndarray.swapaxes(axis1, axis2))

    @substitute((backed, "repeat"))
    def repeat(self, repeats, axis=0):
        axis = 0 if axis is None else axis
        return self._from_backing_data(np.repeat(self._ndarray, repeats, axis))

    @substitute((backed, "reshape"))
    def reshape(self, *args, **kwargs):
        return self._from_backing_data(self._ndarray.reshape(*args, **kwargs))

    @substitute((backed, "ravel"))
    def ravel(self, order="C"):
        return self._from_backing_data(self._ndarray.ravel(order))

    @substitute((backed, "transpose"))
    def transpose(self, *axes):
        return self._from_backing_data(self._ndarray.transpose(*axes))

    @substitute((backed, "T"))
    def transposed(self):
        return self._from_backing_data(self._ndarray.transpose())
