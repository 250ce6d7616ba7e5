"""Arrays of objects: how they are made of numbers and lists, numbers of them, and what moves their
elements about.
"""

from __future__ import annotations

import inspect
import itertools
import operator
from collections.abc import Callable, Container, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np

from adjoint.rules.numpy.object_layout import indices, laid_out, stored_alike
from adjoint.rules.projection import SEQUENCES
from adjoint.rules.registry import non_differentiable, on_objects
from adjoint.run.by_source import call_function
from adjoint.run.kinds import NUMBERS, is_objects, is_one_object
from adjoint.run.memory import Memory
from adjoint.run.objects import moved
from adjoint.run.places import elements_in, first_place, is_container, places_of
from adjoint.run.views import root_of

__all__ = [
    "as_objects",
    "boxed",
    "follows",
    "in_place_of",
    "numbers_of",
    "of_parts",
]

# ---- made of numbers and of lists ----------------------------------------------------------------


def boxed(a):
    """An array of numbers as one of objects: Python's own numbers."""
    plain = _astype(a)
    return plain if a.dtype.kind not in "fc" else of_numbers(a, plain)


def _astype(a: Any) -> Any:
    return np.asarray(a).astype(object)


def of_numbers(a, plain):
    """The elements of an array of numbers, or one number of NumPy's, which that keeps as it is."""
    made = np.empty_like(plain)
    for index in indices(plain.shape):
        part = a[index] if isinstance(a, np.ndarray) else a
        made[index] = part if _is(part, plain, index) else part.item()
    return made


def of_parts(source, plain):
    """The elements of nested lists, and of arrays in them: Python's own numbers, as in `plain`,
    which NumPy has made of them."""
    made = np.empty_like(plain)
    for index in indices(plain.shape):
        part = source
        for i in index:
            part = part[i]
        made[index] = part if _is(part, plain, index) else part.item()
    return made


def _is(part: Any, plain: Any, index: tuple[int, ...]) -> bool:
    return plain[index] is part


def follows(source: Any, plain: Any) -> bool:
    """Whether the elements of `plain` are those of nested lists and arrays, by index."""
    for index in indices(plain.shape):
        part = source
        for i in index:
            if not isinstance(part, (*SEQUENCES, np.ndarray)):
                return False
            part = part[i]
        found = plain[index]
        if part is not found and not (
            isinstance(part, np.generic) and type(found) is type(part.item())
        ):
            return False
    return True


def as_objects(x):
    """An operand of a function of each element as an array of objects."""
    if is_objects(x):
        return x
    if isinstance(x, np.ndarray | np.generic):
        return boxed(x)
    if isinstance(x, int | float | complex) and type(x) not in NUMBERS:
        return boxed(np.asarray(x))
    if not is_one_object(x) and not isinstance(x, int | float | complex | str):
        return np.array(x, object)
    made = np.empty((), object)
    made[()] = x
    return made


# ---- numbers of objects --------------------------------------------------------------------------


def numbers_of(a, plain):
    """An array of objects as `plain`, which has a type of numbers: what C makes of each element."""
    convert = _conversion(plain)
    if convert is None:
        return plain
    numbers = np.array([convert(part) for part in a.flat], plain.dtype)
    return laid_out(np.reshape(numbers, plain.shape), plain)


def _conversion(plain: Any) -> Any:
    """What makes a number of an element; ``None`` where it has no derivative."""
    return {"f": float, "c": complex}.get(plain.dtype.kind)


def _are_numbers(a: Any, plain: Any) -> bool:
    """Whether NumPy makes numbers of the elements as Python does."""
    if plain.dtype.kind not in "fc":
        return True
    ways = ("__float__",) if plain.dtype.kind == "f" else ("__float__", "__complex__")
    return plain.dtype.char not in "gG" and all(
        any(hasattr(type(part), way) for way in ways) and not isinstance(part, np.ndarray)
        for part in a.flat
    )


non_differentiable(_astype, _is, follows, _conversion, _are_numbers)


def _converts(f: Any, key: Any) -> None:
    """What makes an array of its first argument."""
    move = moving(f)

    def converted(source, *args, **kwargs):
        if is_objects(source):  # each is asked for its number once
            like = _plain(_asked_nothing(source), args, kwargs)
            return numbers_of(source, like) if _conversion(like) else _plain(source, args, kwargs)
        plain = _plain(source, args, kwargs)
        if not is_objects(plain):
            return plain
        if _is_held(source, plain):
            made = np.empty(plain.shape, object)
            made[(0,) * plain.ndim] = source
            return made
        if isinstance(source, np.ndarray):
            if source.dtype.kind not in "fc":
                return plain
            return of_numbers(np.reshape(source, plain.shape), plain)
        if isinstance(source, np.generic):
            return of_numbers(source, plain)
        return of_parts(source, plain)

    def _plain(source: Any, args: Any, kwargs: Any) -> Any:
        return f(source, *args, **kwargs)

    non_differentiable(_plain, _is_held, _asked_nothing)

    @on_objects(key)
    def convert(record: list[Any], slot: int, *args: Any, **kwargs: Any) -> Any:
        if not args:
            return NotImplemented
        source = args[0]
        if isinstance(source, np.ndarray) and type(source) is not np.ndarray:
            return NotImplemented
        is_one = isinstance(source, int | float | complex) or is_one_object(source)
        if not is_one and not isinstance(source, (*SEQUENCES, np.ndarray, np.generic)):
            return NotImplemented  # its own code says what it is as an array
        y = f(_asked_nothing(source), *args[1:], **kwargs)
        if is_objects(source):
            if is_objects(y):
                return move(record, slot, *args, **kwargs)
            if not _are_numbers(source, y):
                return NotImplemented
        elif not is_objects(y) or (isinstance(source, SEQUENCES) and not follows(source, y)):
            return NotImplemented
        elif is_one and not isinstance(source, np.generic) and not _is_held(source, y):
            return NotImplemented
        return call_function(record, slot, converted, args, kwargs)


def _asked_nothing(source: Any) -> Any:
    """In place of an array of objects one of zeros, of which the same array of numbers is made:
    the objects may notice that they are converted."""
    if not is_objects(source):
        return source
    zeros = stored_alike(source)
    zeros[...] = 0.0
    return zeros


def _is_held(source: Any, made: Any) -> bool:
    """Whether an array has one element, which is what it was made of."""
    return is_objects(made) and made.size == 1 and made.item() is source


# ---- the same elements elsewhere -----------------------------------------------------------------


def moving(f: Any, places: tuple[int, ...] = (0,)) -> Callable[..., Any]:
    """A primitive of a function that moves the elements of arrays of objects about, or gives views
    of them: it is run on their numbers, too, to learn where each has gone.

    The arrays are its arguments at `places`, or lists of them.
    """

    def move(record: list[Any], slot: int, *args: Any, **kwargs: Any) -> Any:
        memory: Memory = record[0]
        moved_ones = [*_objects_in([x for i, x in enumerate(args) if i in places])]
        others = [x for i, x in enumerate(args) if i not in places]
        if not moved_ones or any(True for _ in _objects_in((*others, *kwargs.values()))):
            return NotImplemented
        if not all(type(x) is np.ndarray and is_container(x) for x in moved_ones):
            return NotImplemented
        y = f(*args, **kwargs)
        if isinstance(y, np.ndarray) and any(root_of(y) is root_of(x) for x in moved_ones):
            return y
        if memory.level is not None:
            for x in moved_ones:
                memory.level.hide_row(x, ..., y)
            return y
        origins = [(root_of(x), *element) for x in moved_ones for element in elements_in(x)]
        numbers = f(*_numbered(args, places, itertools.count()), **kwargs)
        n = len(args) + len(kwargs)
        if not isinstance(numbers, np.ndarray):
            root, place, item = origins[numbers]
            if item is not y:
                return NotImplemented
            record[slot] = partial(_element_back, memory, root, place, n)
            return y
        found = [origins[i] for i in numbers.ravel().tolist()]
        if not is_objects(y) or any(x is not item for x, (*_, item) in _pairs(y, found)):
            return NotImplemented
        record[slot] = moved(memory, y, [(root, place) for root, place, _ in found], n)
        return y

    return move


def _element_back(memory: Memory, root: Any, place: int, n: int, y_bar: Any) -> tuple[None, ...]:
    memory.add_entry(root, place, y_bar)
    return (None,) * (n + 1)


def _pairs(y: Any, found: list[Any]) -> Iterator[tuple[Any, Any]]:
    return zip(y.flat, found, strict=True)


def _objects_in(values: Iterable[Any]) -> Iterator[Any]:
    """The arrays of objects among some values, and in lists of them."""
    for value in values:
        if is_objects(value):
            yield value
        elif type(value) is list or type(value) is tuple:
            yield from _objects_in(value)


def _numbered(args: tuple[Any, ...], places: Container[int], count: Iterator[int]) -> list[Any]:
    """Arguments with numbers in place of the elements: of the same layout, for that may count."""
    return [_with_numbers(x, count) if i in places else x for i, x in enumerate(args)]


def _with_numbers(value: Any, count: Iterator[int]) -> Any:
    if type(value) is list or type(value) is tuple:
        return type(value)(_with_numbers(part, count) for part in value)
    listed = [*itertools.islice(count, value.size)]
    numbers = np.reshape(np.array(listed, np.intp), value.shape)
    return _stored_as(value, numbers) if value.size else numbers


def _stored_as(value: Any, numbers: Any) -> Any:
    """An array of numbers whose elements stand in memory as those of `value` do."""
    places: Any = places_of(value)
    first = int(places.min())
    memory = bytearray(int(places.max()) - first + numbers.itemsize)
    start = first_place(value) - first
    made = np.ndarray(value.shape, numbers.dtype, memory, start, value.strides)
    made[...] = numbers
    return made


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
for _f in (np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray):
    _converts(_f, _f)
_converts(np.ndarray.astype, (np.ndarray, "astype"))


def _full(shape, fill_value, dtype=None, order="C"):
    made = np.empty(shape, object, order)
    np.copyto(made, fill_value)
    return made


def _full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None):
    made = np.empty_like(a, object, order, subok, shape)
    np.copyto(made, fill_value)
    return made


def _fills(f: Any, source: Any) -> None:
    @on_objects(f)
    def fill(record: list[Any], slot: int, *args: Any, **kwargs: Any) -> Any:
        given = inspect.signature(f).bind(*args, **kwargs).arguments
        fill_value = given["fill_value"]
        if is_one_object(fill_value):  # it may notice that it is made a number
            given["fill_value"] = 0
            if given.get("dtype") is None and f is np.full:
                given["dtype"] = object
        y = f(**given)
        if not is_objects(y) or type(y) is not np.ndarray or isinstance(fill_value, SEQUENCES):
            return NotImplemented
        return call_function(record, slot, source, args, kwargs)


_fills(np.full, _full)
_fills(np.full_like, _full_like)


def _joins(f: Any) -> None:
    """What joins arrays, of which some are of objects: the numbers in the others become
    Python's."""
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
        if type(f(parts, *args, **kwargs)) is not np.ndarray:  # which raises NumPy's own message
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


def _choose():
    move = moving(np.ndarray.choose, (1,))

    def chosen(a, choices, out=None, mode="raise"):
        return a.choose([as_objects(choice) for choice in choices], out=None, mode=mode)

    @on_objects((np.ndarray, "choose"))
    def choose(record: list[Any], slot: int, a: Any, *choices: Any, **kwargs: Any) -> Any:
        if is_objects(a) or len(choices) != 1 or kwargs.get("out") is not None:
            return NotImplemented
        if type(choices[0]) in (list, tuple) and not all(map(is_objects, choices[0])):
            return call_function(record, slot, chosen, (a, *choices), kwargs)
        return move(record, slot, a, *choices, **kwargs)


_choose()


def _orders(f: Any) -> None:
    """What puts elements in order: numbers of which none stands at two places are found by what
    they are."""

    @on_objects(f)
    def order(record: list[Any], slot: int, a: Any, *args: Any, **kwargs: Any) -> Any:
        if type(a) is not np.ndarray or not is_container(a):
            return NotImplemented
        places = {id(item): place for place, item in elements_in(a)}
        if len(places) != a.size or not all(type(part) in _COMPARED for part in a.flat):
            return NotImplemented
        y = f(a, *args, **kwargs)
        if record[0].level is not None:
            record[0].level.hide_row(a, ..., y)
        else:
            origins = [(root_of(a), places[id(item)]) for item in y.flat]
            record[slot] = moved(record[0], y, origins, 1 + len(args) + len(kwargs))
        return y


_COMPARED = frozenset({float, int, np.float64})
_orders(np.sort)
_orders(np.partition)


def to_list(a):
    """``a.tolist()``"""
    if a.ndim > 1:
        return [to_list(a[i]) for i in range(len(a))]
    return [a[i] for i in range(len(a))] if a.ndim else a[()]


def in_place_of(source: Any, *keys: Any, or_asked: bool = False) -> None:
    """`source`, in Python, stands for the functions of `keys` where they are given arrays of
    objects, or where they are asked for results that are objects."""

    @on_objects(*keys)
    def run(record: list[Any], slot: int, *args: Any, **kwargs: Any) -> Any:
        if not args or not all(map(is_container, _objects_in((*args, *kwargs.values())))):
            return NotImplemented
        if kwargs.get("out") is not None:
            return NotImplemented
        if not any(True for _ in _objects_in(args)) and not (or_asked and _asks(args, kwargs)):
            return NotImplemented
        return call_function(record, slot, source, args, kwargs)


def _asks(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether the data type of the result, which is second among the options, is that of
    objects."""
    dtype = args[2] if len(args) > 2 else kwargs.get("dtype")
    return type(args[0]) is np.ndarray and dtype is not None and np.dtype(dtype).char == "O"


in_place_of(to_list, (np.ndarray, "tolist"))


def _orders_in_place(f: Any, name: str) -> None:
    def put_in_order(a, *args, **kwargs):
        a[...] = f(a, *args, **kwargs)

    @on_objects((np.ndarray, name))
    def order(record: list[Any], slot: int, a: Any, *args: Any, **kwargs: Any) -> Any:
        if not is_container(a) or not all(type(part) in _COMPARED for part in a.flat):
            return NotImplemented  # where a comparison raises, NumPy leaves it half ordered
        return call_function(record, slot, put_in_order, (a, *args), kwargs)


_orders_in_place(np.sort, "sort")
_orders_in_place(np.partition, "partition")


def broadcast_all(*args, subok=False):
    """``np.broadcast_arrays(*args)``"""
    arrays = [np.asarray(arg) for arg in args]
    shape = np.broadcast_shapes(*[a.shape for a in arrays])
    return _kind([a if a.shape == shape else widened(a, shape) for a in arrays])


def widened(a, shape):
    """A view that may be written through as far as NumPy allows it."""
    return np.broadcast_arrays(a, np.empty(shape))[0]


_kind = type(np.broadcast_arrays(0.0))  # a list in NumPy 1
on_objects(widened)(moving(widened))
in_place_of(broadcast_all, np.broadcast_arrays)
