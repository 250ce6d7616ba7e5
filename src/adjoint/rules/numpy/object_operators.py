"""What NumPy does with arrays of objects by the operators and methods of each element: ufuncs, sums
and products.
"""

from __future__ import annotations

import gc
import operator
from typing import Any

import numpy as np

from adjoint.rules.numpy.object_layout import in_order, indices, is_buffered, steps, visits
from adjoint.rules.numpy.object_moves import in_place_of
from adjoint.rules.numpy.objects import as_objects
from adjoint.rules.registry import non_differentiable, on_objects, primitive
from adjoint.run.binary import has_ufuncs
from adjoint.run.by_source import call_function
from adjoint.run.kinds import is_objects, is_one_object
from adjoint.run.memory import Memory
from adjoint.run.places import is_container
from adjoint.run.subclasses import is_subclassed
from adjoint.run.views import address_of, names_twice

# ---- functions of each element -------------------------------------------------------------------


def each(f, args):
    """A ufunc of arrays of objects: what the operator or the function gives for each."""
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
    """The same, each result written before the next one is computed: they are there where an
    operator raises."""
    operands = [as_objects(arg) for arg in args]
    when = _visits(args, operands, out, where)
    operands = [np.broadcast_to(a, out.shape) for a in operands]
    op = operation_of(f)
    for index in in_order(when):
        out[index] = op(*[a[index] for a in operands])
    return out


def goes_into(f: Any, out: Any, where: Any, args: tuple[Any, ...]) -> bool:
    """Whether the ufunc writes into this output as it goes: it keeps all results apart until the
    end where they would be in the way of what is still to be read."""
    if type(out) is not np.ndarray or not is_container(out) or names_twice(out) or f.nout > 1:
        return False
    if len(args) != f.nin or not is_of_objects(f, args):
        return False
    arrays = [arg for arg in (*args, where) if isinstance(arg, np.ndarray)]
    if any(type(a) is not np.ndarray or _is_in_the_way(a, out) for a in arrays):
        return False
    operands = [as_objects(x) for x in args]
    try:
        shape = np.broadcast_shapes(*[x.shape for x in operands], np.shape(where))
    except ValueError:
        return False  # NumPy has its own message
    return bool(shape == out.shape) and not is_buffered(_in_the_loop(args, operands), out)


def update_objects(record: list[Any], slot: int, op: Any, x: Any, value: Any) -> Any:
    """``x op= value``; `NotImplemented` where NumPy does something else than the operator of each
    element."""
    f, args = UPDATES.get(op), (x, value)
    if f is None or has_ufuncs(x, value) or not goes_into(f, x, True, args):
        return NotImplemented
    memory: Memory = record[0]
    inner: list[Any] = [memory, None]

    def update_back(_: Any) -> tuple[Any, ...]:
        inner[1](None)
        return None, None, memory.take_items(args, 2)[1]

    record[slot] = update_back
    return call_function(inner, 1, each_into, (f, x, True, args), {})


_LITTLE_WORK: Any = 1  # an int, whatever the stubs of NumPy say


def _is_in_the_way(a: Any, out: Any) -> bool:
    """Whether an operand looks at an output, and not at each element when that is written."""
    if (address_of(a), a.shape, steps(a)) == (address_of(out), out.shape, steps(out)):
        return False
    try:
        return np.shares_memory(a, out, max_work=_LITTLE_WORK)
    except np.exceptions.TooHardError:
        return True


def _visits(args: Any, operands: Any, out: Any = None, where: Any = True) -> Any:
    return visits(*_in_the_loop(args, operands), out=out, where=where)


def _in_the_loop(args: Any, operands: Any) -> list[Any]:
    """Numbers count by how they are stored, lists as the arrays that are made of them."""
    pairs = zip(args, operands, strict=True)
    return [arg if isinstance(arg, np.ndarray) else made for arg, made in pairs]


def _square(x):
    return x * x


def _reciprocal(x):
    return 1 / x


def _maximum(a, b):
    return a if a >= b else b


def _minimum(a, b):
    return a if a <= b else b


def _clip(x, low, high):
    return _minimum(_maximum(x, low), high)


def _and(a, b):
    return a and b


def _or(a, b):
    return a or b


def _sign(x):
    if x < 0:
        return -1
    if x > 0:
        return 1
    if x == 0:
        return 0
    raise TypeError("unorderable types for comparison")


def _conjugate(x):
    return x.conjugate()


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
    np.square: _square,
    np.reciprocal: _reciprocal,
    np.maximum: _maximum,
    np.minimum: _minimum,
    np.fmax: _maximum,
    np.fmin: _minimum,
    np.logical_and: _and,
    np.logical_or: _or,
    np.conjugate: _conjugate,
    np.sign: _sign,
    _core.umath.clip: _clip,
}


UPDATES = {
    getattr(operator, f"i{op.__name__.strip('_')}"): f
    for f, op in _OPERATORS.items()
    if f.nin == 2 and hasattr(operator, f"i{op.__name__.strip('_')}")
}


def _function_of(f: Any) -> Any:
    """The function that a ufunc of `np.frompyfunc` calls; ``None`` for others."""
    if f.ntypes != 1 or set(f.types[0]) - set("O->"):
        return None
    held = [part for part in gc.get_referents(f) if callable(part)]
    return held[0] if len(held) == 1 else None


@primitive(np.frompyfunc)
def _(record: list[Any], slot: int, *args: Any, **kwargs: Any) -> Any:
    """It keeps the function, and calls it when it is called."""
    return np.frompyfunc(*args, **kwargs)


def is_of_objects(f: Any, args: tuple[Any, ...]) -> bool:
    """Whether a ufunc calls Python's operators or a function for each element."""
    if f in _OPERATORS:
        return any(map(_gives_objects, args)) and not any(map(is_subclassed, args))
    return _function_of(f) is not None


def _gives_objects(x: Any) -> bool:
    """Whether NumPy makes an array of objects of an operand."""
    if type(x) is list or type(x) is tuple:
        return any(map(_gives_objects, x))
    return is_objects(x) or (x is not None and is_one_object(x))


def operation_of(f: Any) -> Any:
    """What a ufunc does with elements; ``None`` where that is not known."""
    return _OPERATORS[f] if f in _OPERATORS else _function_of(f)


non_differentiable(is_of_objects, operation_of, _visits, goes_into)


def absolute(a):
    return np.absolute(a)


in_place_of(absolute, abs)

# ---- sums and products ---------------------------------------------------------------------------


def reduced(f, a, axis=0, dtype=None, out=None, keepdims=False, initial=np._NoValue, where=True, /):
    """``f.reduce(a, axis)``"""
    a = as_objects(a)
    op, places = operation_of(f), indices(a.shape)
    rows, steps = _reduction(a, axis, keepdims, not _is_missing(initial))
    made = np.empty_like(rows, object)
    values: dict[int, Any] = {}
    for row, i in steps:
        value = values[row] if row in values else _first(a, places, row, initial)
        values[row] = op(value, a[places[i]])
    for index in indices(rows.shape):
        row = rows[index]
        made[index] = values[row] if row in values else a[places[row]]
    return made if rows.ndim else made[()]


def _first(a, places, row, initial):
    return a[places[row]] if _is_missing(initial) else initial


def accumulated(f, a, axis=0, dtype=None, out=None):
    """``f.accumulate(a, axis)``"""
    a = as_objects(a)
    op, places = operation_of(f), indices(a.shape)
    plain, steps = _accumulation(a, axis)
    made = np.empty_like(plain)
    added = {i for _, i in steps}
    for index, place in enumerate(places):
        if index not in added:
            made[place] = a[place]
    for previous, i in steps:
        made[places[i]] = op(made[places[previous]], a[places[i]])
    return made


def _numbered(a: Any) -> Any:
    """An array of the numbers of the elements, stored in the order in which these are."""
    numbers = np.empty_like(a)
    numbers[...] = np.arange(a.size).reshape(a.shape)
    return numbers


def _reduction(a: Any, axis: Any, keepdims: Any, begun: bool) -> Any:
    """Which operations NumPy does, in order: the row, named by its first element, and the element;
    and which row each result is of."""
    steps: list[tuple[int, int]] = []

    def step(row: int, i: int) -> int:
        row = i if row == -1 else row
        steps.append((row, i))
        return row

    loop: Any = np.frompyfunc(step, 2, 1, identity=0)
    options = {"initial": -1} if begun else {}
    rows = loop.reduce(_numbered(a), axis=axis, keepdims=keepdims, **options)
    return np.asarray(rows, object), steps


def _accumulation(a: Any, axis: Any) -> Any:
    """Which operations NumPy does, in order: the element before and the element."""
    steps: list[tuple[int, int]] = []

    def step(previous: int, i: int) -> int:
        steps.append((previous, i))
        return i

    loop: Any = np.frompyfunc(step, 2, 1)
    return loop.accumulate(_numbered(a), axis), steps


def _is_missing(initial: Any) -> bool:
    return initial is np._NoValue or initial is None


non_differentiable(_accumulation, _is_missing, _reduction)


def folds_objects(f: Any, a: Any, dtype: Any) -> bool:
    """Whether NumPy folds objects: those of the array, or those that it makes of numbers."""
    if f.nin != 2 or f.nout != 1 or operation_of(f) is None:
        return False
    if is_objects(a):
        return is_container(a)
    return f not in _OPERATORS or (dtype is not None and np.dtype(dtype).char == "O")


def _is_one_axis(axis: Any, a: Any) -> bool:
    return a.ndim == 1 if axis is None else not isinstance(axis, tuple) or len(axis) == 1


def _is_of_objects(a: Any) -> bool:
    """Whether NumPy makes an array of objects of a list, one of each element."""
    kinds = set(map(type, a))
    if not kinds or kinds <= _FLAT or len(a) > _LONG:
        return False
    return all(type(x) in _FLAT or is_one_object(x) for x in a)


_FLAT = frozenset({float, int, bool, complex})
_LONG = 10_000


def _folds(name: str, source: Any, most: int) -> None:
    def of_list(f, a, /, *args, **kwargs):
        array = np.empty(len(a), object)
        for i, x in enumerate(a):
            array[i] = x
        return getattr(f, name)(array, *args, **kwargs)

    @on_objects((np.ufunc, name))
    def fold(record: list[Any], slot: int, f: Any, a: Any, *args: Any, **kwargs: Any) -> Any:
        if (type(a) is list or type(a) is tuple) and _is_of_objects(a):
            return call_function(record, slot, of_list, (f, a, *args), kwargs)
        names = ("axis", "dtype", "out", "keepdims", "initial", "where")
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        defaults = {"axis": 0, "dtype": None, "out": None, "keepdims": False, "where": True}
        options = {name: given.get(name, default) for name, default in defaults.items()}
        if type(a) is not np.ndarray or not folds_objects(f, a, options["dtype"]):
            return NotImplemented
        if not a.size or options["where"] is not True or options["out"] is not None:
            return NotImplemented
        if options["dtype"] is not None and np.dtype(options["dtype"]).char != "O":
            return NotImplemented
        if f not in _OPERATORS and f.identity is None and not _is_one_axis(options["axis"], a):
            return NotImplemented  # NumPy may have something against it
        if names_twice(a):
            return NotImplemented  # in which order NumPy goes through it is not known
        operands = tuple(
            given.get(name, np._NoValue if name == "initial" else defaults.get(name))
            for name in names
        )
        inner: list[Any] = [record[0], None]

        def fold_back(y_bar: Any) -> tuple[Any, ...]:
            bars = inner[1](y_bar)
            by_name = dict(zip(names, bars[3:], strict=False))
            positional = [by_name.get(name) for name in names[: len(args)]]
            return (*bars[:3], *positional, *map(by_name.get, kwargs))

        record[slot] = fold_back
        return call_function(inner, 1, source, (f, a, *operands[:most]), {})


_folds("reduce", reduced, 6)
_folds("accumulate", accumulated, 3)


def _method(name: str, f: Any) -> Any:
    def by_ufunc(
        a, axis=None, dtype=None, out=None, keepdims=False, initial=np._NoValue, where=True
    ):
        return f.reduce(a, axis, dtype, out, keepdims, initial, where)

    return by_ufunc


for _name, _f in (("sum", np.add), ("prod", np.multiply), ("max", np.maximum), ("min", np.minimum)):
    in_place_of(_method(_name, _f), (np.ndarray, _name), or_asked=_name in ("sum", "prod"))


def trace(a: Any, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    """``a.trace()``"""
    return a.diagonal(offset, axis1, axis2).sum(-1, dtype)


in_place_of(trace, (np.ndarray, "trace"))


def conjugate(a, out=None):
    """``a.conj()``"""
    return np.conjugate(a)


in_place_of(conjugate, (np.ndarray, "conj"), (np.ndarray, "conjugate"))
in_place_of(_core._methods._clip, (np.ndarray, "clip"))
_truth: Any = np.array([2.0], object).any()
if type(_truth) is float:  # NumPy 1: an element, not whether there is one
    for _name in ("any", "all"):
        in_place_of(getattr(_core._methods, f"_{_name}"), (np.ndarray, _name))
        in_place_of(getattr(np, _name).__wrapped__, getattr(np, _name))

for _name in ("mean", "var", "std"):  # NumPy's own text, behind a method of C
    _f = getattr(np, _name)
    in_place_of(_f.__wrapped__, (np.ndarray, _name))


def _cumulated(f: Any) -> Any:
    def cumulated(a, axis=None, dtype=None, out=None):
        return f.accumulate(np.ravel(a), 0) if axis is None else f.accumulate(a, axis)

    return cumulated


for _name, _f in (("cumsum", np.add), ("cumprod", np.multiply)):
    in_place_of(_cumulated(_f), (np.ndarray, _name), getattr(np, _name))
