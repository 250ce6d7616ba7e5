"""pandas: a series is Python around a block, which is an object of C that holds an array."""

from __future__ import annotations

from types import GetSetDescriptorType
from typing import Any

import numpy as np

from adjoint.rules.numpy.objects import numbers_of
from adjoint.rules.registry import non_differentiable, primitive, registering, substitute
from adjoint.run.accumulate import accumulate
from adjoint.run.by_source import call_function
from adjoint.run.kinds import by_value
from adjoint.run.memory import Memory
from adjoint.run.places import is_container

_FLOATS = frozenset({float, np.float64})


def _is_hiding(memory: Memory, block: Any) -> bool:
    """Whether C has made it of something active, on a level."""
    level = memory.level
    return level is not None and any(one.holds(block) for one in level.down())


def _kept_as_it_is(owner: Any, name: str) -> None:
    """An attribute of C that is the very thing that was put there, not made of anything."""

    @primitive((owner, name))
    def read(record: list[Any], slot: int, obj: Any) -> Any:
        return NotImplemented if _is_hiding(record[0], obj) else getattr(obj, name)


def _holes(indexer: Any, axis: int, shape: tuple[int, ...]) -> Any:
    """Where nothing is taken; ``None`` for nowhere."""
    empty = np.asarray(indexer) == -1
    if not empty.any():
        return None
    others = tuple([i for i in range(len(shape)) if i != axis])
    return np.broadcast_to(np.expand_dims(empty, others), shape)


non_differentiable(_holes)


@registering("pandas")
def _(_: Any) -> None:
    from pandas._libs import internals, lib, ops_dispatch, properties
    from pandas.core.array_algos import take
    from pandas.core.internals import blocks

    @primitive(blocks.NumpyBlock)
    def make(record: list[Any], slot: int, *args: Any, **kwargs: Any) -> Any:
        memory: Memory = record[0]
        block = blocks.NumpyBlock(*args, **kwargs)
        places = ["values"] * bool(args) + [""] * (len(args) - 1) + list(kwargs)

        def make_back(_: Any) -> tuple[Any, ...]:
            bar = accumulate(memory.take_entry(block, "values"), memory.take_entry(block, "*"))
            return None, *(bar if place == "values" else None for place in places)

        record[slot] = make_back
        return block

    @primitive((internals.Block, "values"))
    def values(record: list[Any], slot: int, block: Any) -> Any:
        memory: Memory = record[0]
        array = block.values
        if not by_value(array) or _is_hiding(memory, block):
            return NotImplemented

        def values_back(y_bar: Any) -> tuple[Any, ...]:
            memory.add_entry(block, "values", y_bar)
            return None, None

        record[slot] = values_back
        return array

    for owner in (internals.BlockManager, internals.Block):
        for name, attribute in vars(owner).items():
            if type(attribute) is GetSetDescriptorType and name != "values":
                _kept_as_it_is(owner, name)
    _kept_as_it_is(blocks.Block, "dtype")

    @primitive(lib.maybe_convert_objects)
    def converted(record: list[Any], slot: int, *args: Any, **kwargs: Any) -> Any:
        """Numbers where all elements are; else the same array, or one of text."""
        objects = args[0] if args else kwargs.get("objects")
        if type(objects) is not np.ndarray or not is_container(objects):
            return NotImplemented
        y = lib.maybe_convert_objects(*args, **kwargs)
        if y is objects or not any(map(by_value, objects.flat)):
            return y
        if type(y) is not np.ndarray or not all(type(part) in _FLOATS for part in objects.flat):
            return NotImplemented
        memory: Memory = record[0]
        inner: list[Any] = [memory, None]

        def converted_back(y_bar: Any) -> tuple[Any, ...]:
            inner[1](y_bar)
            return (None,) * (1 + len(args) + len(kwargs))

        record[slot] = converted_back
        return call_function(inner, 1, numbers_of, (objects, y), {})

    def taken_along(arr, indexer, axis, fill_value, allow_fill):
        """Elements by their places along an axis; -1 stands for the fill value."""
        plain = as_it_is(arr, indexer, axis, fill_value, allow_fill)
        made = np.take(arr, indexer, axis).astype(plain.dtype)
        holes = _holes(indexer, axis, plain.shape) if allow_fill else None
        if holes is not None:
            made[holes] = fill_value
        return made

    of_numbers = take._take_nd_ndarray

    @non_differentiable
    def as_it_is(*args: Any) -> Any:
        return of_numbers(*args)

    @primitive(of_numbers)
    def take_numbers(record: list[Any], slot: int, *args: Any, **kwargs: Any) -> Any:
        arr = args[0] if args else kwargs["arr"]
        if type(arr) is not np.ndarray or arr.dtype.kind == "O":
            return NotImplemented
        if arr.dtype.kind not in "fc":
            return of_numbers(*args, **kwargs)
        return call_function(record, slot, taken_along, args, kwargs)

    @substitute((properties.AxisProperty, "__set__"))
    def set_axis(self, obj, value):
        obj._set_axis(self.axis, value)

    @substitute(lib.item_from_zerodim)
    def item_from_zerodim(val):
        return val[()] if isinstance(val, np.ndarray) and val.ndim == 0 else val

    reflected = dict(ops_dispatch.REVERSED_NAMES)
    names, unary = dict(ops_dispatch.UFUNC_ALIASES), frozenset(ops_dispatch.UNARY_UFUNCS)
    taken = frozenset(ops_dispatch.DISPATCHED_UFUNCS)

    @substitute(ops_dispatch.maybe_dispatch_ufunc_to_dunder_op)
    def dispatch(self, ufunc, method, *inputs, **kwargs):
        name = names.get(ufunc.__name__, ufunc.__name__)
        if kwargs or ufunc.nin > 2 or method != "__call__" or name not in taken:
            return NotImplemented
        if inputs[0] is self:
            special = getattr(self, f"__{name}__", None)
            if special is None:
                return NotImplemented
            return special() if name in unary else special(inputs[1])
        if inputs[1] is self:
            special = getattr(self, reflected.get(name, f"__r{name}__"), None)
            return NotImplemented if special is None else special(inputs[0])
        return NotImplemented
