"""Rules of object arrays in pandas, which compiled code fills, and converts to numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.primal.object_array_places import is_container
from adjoint.primal.value_kinds import by_value
from adjoint.rulekit.registry import plain, primitive, substitute
from adjoint.runtime.dispatch.source_call import call_function
from adjoint.runtime.memory.memory import Memory


def register(lib: Any, reshape: Any, is_missing: Any, masked: type) -> None:
    """Register the rules of two modules of pandas. `is_missing` returns whether an object stands
    for no value; `masked` is the class of arrays of numbers with a mask."""
    _as_numbers(lib, masked)
    is_list = lib.is_list_like

    @substitute(lib.to_object_array)
    def of_lists(rows, min_width=0):
        return _table([list(row) for row in rows], min_width)

    @substitute(lib.to_object_array_tuples)
    def of_tuples(rows):
        return _table([(row,) if is_missing(row) else tuple(row) for row in rows], 0)

    @substitute(lib.dicts_to_array)
    def of_dicts(dicts, columns):
        made = np.empty((len(dicts), len(columns)), object)
        for i, row in enumerate(dicts):
            for j, column in enumerate(columns):
                made[i, j] = row[column] if column in row else np.nan
        return made

    @substitute(reshape.explode)
    def apart(values):
        parts, counts = [], []
        for value in values:
            several = list(value) if is_list(value, True) else [value]
            several = several or [np.nan]
            parts.extend(several)
            counts.append(len(several))
        made = np.empty(len(parts), object)
        for i, part in enumerate(parts):
            made[i] = part
        return made, np.array(counts, np.int64)

    @substitute(lib.fast_multiget)
    def looked_up(mapping, keys, default=np.nan):
        made = np.empty(len(keys), object)
        for i, key in enumerate(keys):
            made[i] = mapping[key] if key in mapping else default
        return lib.maybe_convert_objects(made)


def _as_numbers(lib: Any, masked: type) -> None:
    convert, convert_text = lib.maybe_convert_objects, lib.maybe_convert_numeric

    @primitive(convert)
    def converted(record: list[Any], slot: int, /, *args: Any, **kwargs: Any) -> Any:
        """Convert to numbers if all elements are; else return the same array, or one of text."""
        objects = args[0] if args else kwargs.get("objects")
        if type(objects) is not np.ndarray or not is_container(objects):
            return NotImplemented
        y = convert(*args, **kwargs)
        if y is objects or not any(map(by_value, objects.flat)):
            return y
        if type(y) not in (np.ndarray, masked) or y.dtype.kind not in "fc":
            return NotImplemented
        memory: Memory = record[0]
        inner: list[Any] = [memory, None]

        def converted_back(y_bar: Any) -> tuple[Any, ...]:
            inner[1](y_bar)
            return (None,) * (1 + len(args) + len(kwargs))

        record[slot] = converted_back
        made_by = _masked_numbers if type(y) is masked else numbers_among
        return call_function(inner, 1, made_by, (objects, y), {})

    run = plain(convert_text)

    @substitute(convert_text)
    def converted_with_text(values, *args, **kwargs):
        found, mask = run(values, *args, **kwargs)
        return (numbers_among(values, found) if found.dtype.kind in "fc" else found), mask


def numbers_among(objects: Any, plain: Any) -> Any:
    """Return `plain`, made from objects, with the derivatives of those that are numbers."""
    made = np.array(plain)
    for i, part in enumerate(objects.flat):
        if isinstance(part, float | complex | np.inexact):
            made.flat[i] = part
    return made


def _masked_numbers(objects, plain):
    return type(plain)(numbers_among(objects, plain._data), plain._mask)


def _table(rows, width):
    """Return rows as a table, padded with ``None``."""
    made = np.empty((len(rows), max([width, *map(len, rows)])), object)
    for i, row in enumerate(rows):
        for j, part in enumerate(row):
            made[i, j] = part
    return made
