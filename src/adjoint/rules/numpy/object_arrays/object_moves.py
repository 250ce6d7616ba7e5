"""Rules of NumPy's functions that move the elements of arrays of objects."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from adjoint.primal.object_array_places import is_container
from adjoint.primal.value_kinds import is_objects
from adjoint.rulekit.registry import on_objects
from adjoint.rules.numpy.object_arrays.object_move_primitives import moving, objects_in
from adjoint.runtime.arrays.object_conversion import as_objects, boxed
from adjoint.runtime.dispatch.source_call import call_function

_MOVING = (
    "broadcast_to copy expand_dims moveaxis ravel repeat reshape rollaxis squeeze swapaxes take"
    " transpose diagonal roll flip tile resize rot90 fliplr flipud"
)
_MOVING_METHODS = (
    "T real copy __copy__ flatten ravel repeat reshape squeeze swapaxes take transpose diagonal"
    " compress view"
)
for _name in _MOVING.split():
    on_objects(getattr(np, _name))(moving(getattr(np, _name)))
for _name in _MOVING_METHODS.split():
    _f = getattr(np.ndarray, _name)
    if _name in ("T", "real"):
        _f = operator.attrgetter(_name)
    on_objects((np.ndarray, _name))(moving(_f))


def _joins(f: Any) -> None:
    """Register a function that joins arrays; numbers joined with objects become Python's."""
    move = moving(f)

    def joined(parts, axis=0, out=None, dtype=None, casting="same_kind"):
        boxes = [part if is_objects(part) else boxed(np.asarray(part)) for part in parts]
        return f(boxes, axis)

    @on_objects(f)
    def join(record: list[Any], slot: int, parts: Any, *args: Any, **kwargs: Any) -> Any:
        if type(parts) not in (list, tuple) or len(args) > 1:
            return NotImplemented
        if kwargs.get("out") is not None or kwargs.get("dtype") is not None:
            return NotImplemented
        if not any(map(is_objects, parts)):
            return NotImplemented
        if all(map(is_objects, parts)):
            return move(record, slot, parts, *args, **kwargs)
        if type(f(parts, *args, **kwargs)) is not np.ndarray:  # or NumPy's own error
            return NotImplemented
        return call_function(record, slot, joined, (parts, *args), kwargs)


for _f in (np.concatenate, np.stack):
    _joins(_f)
_joins(getattr(np.concatenate, "_implementation", np.concatenate))  # as np.block calls it


def _where():
    move = moving(np.where, (1, 2))

    def chosen(condition, x, y):
        return np.where(condition, as_objects(x), as_objects(y))

    @on_objects(np.where)
    def where(record: list[Any], slot: int, *args: Any) -> Any:
        if len(args) != 3 or is_objects(args[0]) or not any(map(is_objects, args[1:])):
            return NotImplemented
        if all(map(is_objects, args[1:])):
            return move(record, slot, *args)
        return call_function(record, slot, chosen, args, {})


_where()


def to_list(a):
    if a.ndim > 1:
        return [to_list(a[i]) for i in range(len(a))]
    return [a[i] for i in range(len(a))] if a.ndim else a[()]


def substitute_on_objects(source: Any, *keys: Any, or_asked: bool = False) -> None:
    """Register `source` for the functions of `keys` on arrays of objects and, if `or_asked`, for
    results of dtype object."""

    @on_objects(*keys)
    def run(record: list[Any], slot: int, *args: Any, **kwargs: Any) -> Any:
        if not args or not all(map(is_container, objects_in((*args, *kwargs.values())))):
            return NotImplemented
        if kwargs.get("out") is not None:
            return NotImplemented
        if not any(True for _ in objects_in(args)) and not (
            or_asked and _wants_objects(args, kwargs)
        ):
            return NotImplemented
        return call_function(record, slot, source, args, kwargs)


def _wants_objects(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Return whether the dtype of the result, the second option, is that of objects."""
    dtype = args[2] if len(args) > 2 else kwargs.get("dtype")
    return type(args[0]) is np.ndarray and dtype is not None and np.dtype(dtype).char == "O"


substitute_on_objects(to_list, (np.ndarray, "tolist"))


def broadcast_all(*args, subok=False):
    arrays = [np.asarray(arg) for arg in args]
    shape = np.broadcast_shapes(*[a.shape for a in arrays])
    return _kind([a if a.shape == shape else widened(a, shape) for a in arrays])


def widened(a, shape):
    """Broadcast to a view that is writable as far as NumPy allows."""
    return np.broadcast_arrays(a, np.empty(shape))[0]


_kind = type(np.broadcast_arrays(0.0))  # a list in NumPy 1
on_objects(widened)(moving(widened))
substitute_on_objects(broadcast_all, np.broadcast_arrays)
