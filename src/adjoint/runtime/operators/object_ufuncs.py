"""Ufuncs of arrays of objects, element by element."""

from __future__ import annotations

import gc
import operator
from typing import Any

import numpy as np

from adjoint.primal.array_classes import is_subclassed
from adjoint.primal.array_memory import address_of, names_twice
from adjoint.primal.object_array_places import is_container
from adjoint.primal.value_kinds import is_objects, is_one_object
from adjoint.runtime.arrays.object_conversion import as_objects
from adjoint.runtime.arrays.object_layout import in_order, is_buffered, steps, visits
from adjoint.runtime.dispatch.source_call import call_function
from adjoint.runtime.memory.memory import Memory
from adjoint.runtime.operators.binary import has_ufuncs


def each(f, args):
    """Return ``f(*args)`` of a ufunc of arrays of objects, computed for each element."""
    operands = [as_objects(arg) for arg in args]
    shape = np.broadcast_shapes(*[a.shape for a in operands])
    op, several = operation_of(f), f.nout > 1
    if not shape:
        return op(*[a[()] for a in operands])
    when = _visits(args, operands)
    operands = [np.broadcast_to(a, shape) for a in operands]
    results = [np.empty_like(when, object) for _ in range(f.nout)]
    for index in in_order(when):
        y = op(*[a[index] for a in operands])
        if several:
            for made, part in zip(results, y, strict=True):
                made[index] = part
        else:
            results[0][index] = y
    return tuple(results) if several else results[0]


def each_into(f, out, where, args):
    """Compute a ufunc of arrays of objects into `out`, each result before the next one, so that
    earlier results are in `out` if an operator raises."""
    operands = [as_objects(arg) for arg in args]
    when = _visits(args, operands, out, where)
    operands = [np.broadcast_to(a, out.shape) for a in operands]
    op = operation_of(f)
    for index in in_order(when):
        out[index] = op(*[a[index] for a in operands])
    return out


def writes_directly(f: Any, out: Any, where: Any, args: tuple[Any, ...]) -> bool:
    """Return whether a ufunc of objects writes each result to `out` at once: NumPy buffers all
    results if `out` overlaps operands that it has yet to read."""
    if type(out) is not np.ndarray or not is_container(out) or names_twice(out) or f.nout > 1:
        return False
    if len(args) != f.nin or not is_of_objects(f, args):
        return False
    arrays = [arg for arg in (*args, where) if isinstance(arg, np.ndarray)]
    if any(type(a) is not np.ndarray or _overlaps(a, out) for a in arrays):
        return False
    operands = [as_objects(x) for x in args]
    try:
        shape = np.broadcast_shapes(*[x.shape for x in operands], np.shape(where))
    except ValueError:
        return False  # NumPy has its own message
    return bool(shape == out.shape) and not is_buffered(_in_the_loop(args, operands), out)


def update_objects(record: list[Any], slot: int, op: Any, x: Any, value: Any) -> Any:
    """Run ``x op= value`` element by element; `NotImplemented` where NumPy does something else."""
    f, args = UPDATES.get(op), (x, value)
    if f is None or has_ufuncs(x, value) or not writes_directly(f, x, True, args):
        return NotImplemented
    memory: Memory = record[0]
    inner: list[Any] = [memory, None]

    def update_back(_: Any) -> tuple[Any, ...]:
        inner[1](None)
        return None, None, memory.take_items(args, 2)[1]

    record[slot] = update_back
    return call_function(inner, 1, each_into, (f, x, True, args), {})


_LITTLE_WORK: Any = 1  # an int, whatever the stubs of NumPy say


def _overlaps(a: Any, out: Any) -> bool:
    """Return whether an operand overlaps an output other than element by element."""
    if (address_of(a), a.shape, steps(a)) == (address_of(out), out.shape, steps(out)):
        return False
    try:
        return np.shares_memory(a, out, max_work=_LITTLE_WORK)
    except np.exceptions.TooHardError:
        return True


def _visits(args: Any, operands: Any, out: Any = None, where: Any = True) -> Any:
    return visits(*_in_the_loop(args, operands), out=out, where=where)


def _in_the_loop(args: Any, operands: Any) -> list[Any]:
    """Return the arrays that NumPy loops over: the arguments that are arrays, else `operands`."""
    pairs = zip(args, operands, strict=True)
    return [arg if isinstance(arg, np.ndarray) else made for arg, made in pairs]


def _maximum(a, b):
    return a if a >= b else b


def _minimum(a, b):
    return a if a <= b else b


def _clip(x, low, high):
    return _minimum(_maximum(x, low), high)


def _sign(x):
    if x < 0:
        return -1
    if x > 0:
        return 1
    if x == 0:
        return 0
    raise TypeError("unorderable types for comparison")


_core: Any = getattr(np, "_core", None) or np.core


_OPERATORS: dict[Any, Any] = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.true_divide: operator.truediv,
    np.floor_divide: operator.floordiv,
    np.remainder: operator.mod,
    np.power: operator.pow,
    np.negative: operator.neg,
    np.positive: operator.pos,
    np.absolute: abs,
    np.square: lambda x: x * x,
    np.reciprocal: lambda x: 1 / x,
    np.maximum: _maximum,
    np.minimum: _minimum,
    np.fmax: _maximum,
    np.fmin: _minimum,
    np.logical_and: lambda a, b: a and b,
    np.logical_or: lambda a, b: a or b,
    np.conjugate: lambda x: x.conjugate(),
    np.sign: _sign,
    _core.umath.clip: _clip,
}


UPDATES = {
    getattr(operator, f"i{op.__name__.strip('_')}"): f
    for f, op in _OPERATORS.items()
    if f.nin == 2 and hasattr(operator, f"i{op.__name__.strip('_')}")
}


def _function_of(f: Any) -> Any:
    """Return the function behind a ufunc of `np.frompyfunc`, ``None`` for other ufuncs."""
    if f.ntypes != 1 or set(f.types[0]) - set("O->"):
        return None
    held = [part for part in gc.get_referents(f) if callable(part)]
    return held[0] if len(held) == 1 else None


def is_of_objects(f: Any, args: tuple[Any, ...]) -> bool:
    """Return whether a ufunc calls Python's operators or a Python function for each element."""
    if f in _OPERATORS:
        return any(map(_gives_objects, args)) and not any(map(is_subclassed, args))
    return _function_of(f) is not None


def _gives_objects(x: Any) -> bool:
    """Return whether NumPy converts an operand to an array of objects."""
    if type(x) is list or type(x) is tuple:
        return any(map(_gives_objects, x))
    return is_objects(x) or (x is not None and is_one_object(x))


def operation_of(f: Any) -> Any:
    """Return the function that a ufunc applies to objects, ``None`` if unknown."""
    return _OPERATORS[f] if f in _OPERATORS else _function_of(f)
