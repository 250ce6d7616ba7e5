"""Reads of items and lengths of known objects, sequences, dicts and arrays; unpacking."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.new_arrays import with_arrays
from adjoint.fast.evaluate.indices import (
    along_new_axis,
    index_operand,
    indexed_shape,
    is_fancy,
    is_truth_value,
    keeps_array,
    keys_of,
    known_slice,
)
from adjoint.fast.evaluate.joins import is_number
from adjoint.fast.evaluate.objects.containers import fixed_integer, key_of, opened_element, run
from adjoint.fast.evaluate.objects.loaded_modules import is_modules, loaded
from adjoint.fast.evaluate.objects.number_keys import call, tabled
from adjoint.fast.evaluate.objects.records import read, records
from adjoint.fast.evaluate.rows import as_row, item_of, items_at, row_of
from adjoint.fast.evaluate.types import Array, Number, number
from adjoint.fast.evaluate.values import (
    Abstract,
    DequeOf,
    DictOf,
    External,
    FieldsOf,
    Known,
    ListOf,
    Ref,
    SliceOf,
    Tuple,
)
from adjoint.fast.evaluate.writes.adoption import NeedsOwn
from adjoint.fast.not_covered import NeedsKnown, NotCovered, Raises
from adjoint.fast.support import rows
from adjoint.fast.support.functions import length
from adjoint.ir.single import Const, Value

MOST_READ = 64
"""How many items of a list from outside are read to choose one of them."""

# ---- lengths -------------------------------------------------------------------------------------


def product(ev: Evaluator, a: Abstract, b: Abstract) -> Abstract:
    """Return the product of two lengths."""
    if isinstance(a, Known) and isinstance(b, Known):
        return Known(a.value * b.value)
    if isinstance(a, Known) and a.value == 1:
        return b
    if isinstance(b, Known) and b.value == 1:
        return a
    return ev.infer(operator.mul, [a, b])


def length_of(ev: Evaluator, a: Value, axis: int) -> Abstract:
    """Return the length of an axis of an array."""
    dim = ev.array_type(a).shape[axis]
    if isinstance(dim, int):
        return Known(dim)
    made = ev.operation(length, (a, Const(axis)), number(int), name="n")
    ev.dims[made] = dim
    return made


# ---- items ---------------------------------------------------------------------------------------


def item(ev: Evaluator, a: Abstract, index: Abstract) -> Abstract:
    """Evaluate ``a[index]``."""
    row = row_of(ev, a)
    if row is not None:
        return item_of(ev, a, row, index)
    if isinstance(a, Value):
        return _of_array(ev, a, index)
    if (columns := records(ev, a)) is not None:
        return read(ev, columns, index)
    if (array := ev.flattened(a)) is not None:
        found = item(ev, ev.infer(np.ravel, [array]), index)
        is_array = isinstance(found, Value) and isinstance(ev.types[found], Array)
        return ev.call(Known(np.copy), [found], {}) if is_array else found
    held = ev.held(a)
    is_plain = isinstance(held, DictOf) and held.kind is dict and ev.types.get(index) == _INTEGER  # type: ignore[arg-type]
    table = tabled(ev, a, Known(None) if is_plain else index)
    if table is not None:
        return call(ev, table, "__getitem__", index)
    is_key_of_its_own = isinstance(held, DictOf) and fixed_integer(ev, index) is not None
    if isinstance(index, Value) and not is_key_of_its_own:
        if isinstance(a, Ref) and isinstance(held, ListOf) and held.items:
            if all(is_number(x, ev.types) for x in held.items):
                return item_of(ev, a, as_row(ev, a.address), index)
        if (
            isinstance(a, External)
            and type(a.sample) is list
            and (ev.outside.may_write(a.source, False) or len(a.sample) > MOST_READ)
            and _NUMBERS.issuperset(map(type, a.sample))
        ):
            raise NeedsOwn(a, "an index of a list that is not known", ev.span)
        index = _known_index(ev, index)
        if isinstance(index, Value):
            return _at_place(ev, a, index)
    if is_modules(a):
        name = key_of(ev, index)
        module = loaded(ev, name)
        if module is None:
            raise Raises(KeyError, f"the module {name!r} is missing", ev.span)
        return module
    if isinstance(a, Known):
        if isinstance(index, SliceOf):
            parts = (index.start, index.stop, index.step)
            known = [x.value for x in parts if isinstance(x, Known)]
            index = Known(slice(*known)) if len(known) == len(parts) else index
        if isinstance(index, Known) and not isinstance(a.value, type):
            try:
                return Known(a.value[index.value])
            except Exception as error:
                reason = f"an index that raises {type(error).__name__}"
                raise Raises(type(error), reason, ev.span) from None
        raise NotCovered("an index that is not known", ev.span)
    if isinstance(held, DictOf) or isinstance(a, FieldsOf):
        return run(ev, a, operator.getitem, key_of(ev, index))
    if isinstance(held, DequeOf):
        return run(ev, a, operator.getitem, opened_element(ev, index))
    if isinstance(a, External) and type(a.sample) is dict:
        wanted = key_of(ev, index)
        for key in a.sample:
            if key == wanted:
                return ev.outside.read(a.source, "item", key, a.sample[key])
        raise Raises(KeyError, f"the key {wanted!r} is missing", ev.span)  # its keys are guarded
    if isinstance(a, External) and isinstance(a.sample, list | tuple) and isinstance(index, Known):
        if type(index.value) is int and -len(a.sample) <= index.value < len(a.sample):
            at = index.value % len(a.sample)
            return ev.outside.read(a.source, "item", at, a.sample[at])
    items = ev.sequence(a)
    if items is None:
        reason = "an index of something else than a sequence or a dict"
        cls = ev.class_of(a)
        if cls is not None and not hasattr(cls, "__getitem__") and cls.__module__ == "builtins":
            raise Raises(TypeError, reason, ev.span)
        raise NotCovered(reason, ev.span)
    return _of_sequence(ev, a, items, index)


_INTEGER = number(int)
_NUMBERS = frozenset({int, float, complex})


def _known_index(ev: Evaluator, index: Value) -> Known | Value:
    """Return the value of an index, if it is known; demand it of one that is read from outside."""
    if index in ev.outside.fixed:
        return Known(ev.outside.fixed[index])
    if ev.outside.is_leaf(index):
        raise NeedsKnown(index, "an index of a list that is not known", ev.span)
    return index


def _at_place(ev: Evaluator, a: Abstract, index: Value) -> Abstract:
    """Write a read of a tuple or a list of numbers, or of tuples of numbers, or of a dict of these
    by integers, at a place that depends on numbers."""
    keys = ev.keys(a)
    if keys is not None:
        if not keys or not all(type(key) is int for key in keys):
            raise NotCovered("a key that is not known", ev.span)
        found = [item(ev, a, Known(key)) for key in keys]
        index = ev.operation(rows.place_of, (Const(keys), index), number(int), name="i")
    else:
        found = [*(ev.sequence(a) or ())]
    if not found or ev.types[index] != number(int):
        raise NotCovered("an index of a list that is not known", ev.span)
    return items_at(ev, found, [index])[0]


def _of_sequence(
    ev: Evaluator, a: Abstract, items: tuple[Abstract, ...], index: Abstract
) -> Abstract:
    if isinstance(index, Known) and isinstance(index.value, int):
        if not -len(items) <= index.value < len(items):
            raise Raises(IndexError, "an index out of range", ev.span)
        return items[index.value]
    part = known_slice(index)
    if part is None:
        if isinstance(index, SliceOf):
            for end in (index.start, index.stop, index.step):
                ev.demand_value(end, "an index of a sequence that is not known")
        raise NotCovered("an index of a sequence that is not known", ev.span)
    chosen = items[part]
    is_list = ev.is_list(a) or isinstance(ev.held(a), ListOf)
    return ev.allocate(ListOf(chosen)) if is_list else Tuple(chosen)


def _of_array(ev: Evaluator, a: Value, index: Abstract) -> Abstract:
    """Write a read of an element or a part of an array."""
    t = ev.types[a]
    if isinstance(t, Number) and all(issubclass(kind, np.generic) for kind in t.kinds):
        parts = [x.value if isinstance(x, Known) else x for x in keys_of(index)]
        if not parts:
            return a
        if all(part is None or part is Ellipsis for part in parts):  # NumPy's numbers have no axes
            return ev.call(Known(np.reshape), [a, Known((1,) * parts.count(None))], {})
    if not isinstance(t, Array):
        kind = TypeError if ev.class_of(a) in (float, int, complex, bool) else None
        raise Raises(kind, f"an index of a {t}", ev.span)
    index = with_arrays(ev, index)
    if is_truth_value(ev, index):
        return _of_array(ev, *along_new_axis(ev, a, index))
    keys = keys_of(index)
    shape = indexed_shape(ev, t, keys)
    operand = index_operand(ev, index)
    if shape == () and not keeps_array(keys):
        result: Any = number(t.dtype.type)
    else:
        result = Array(t.dtype, shape)
    made = ev.operation(operator.getitem, (a, operand), result)
    if any(is_fancy(ev, key) for key in keys):
        ev.aliases.pop(made, None)
        ev.views.pop(made, None)
        ev.fresh.add(made)
    elif isinstance(result, Array):
        ev.parts_of[made] = a, index
    return made
