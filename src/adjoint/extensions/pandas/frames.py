"""Rules of pandas blocks, compiled objects that hold an array, and of functions around them."""

from __future__ import annotations

from functools import partial
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any

import numpy as np

from adjoint.cotangents.accumulate import accumulate
from adjoint.extensions.pandas import arrays as pandas_arrays
from adjoint.extensions.pandas import filling as pandas_filling
from adjoint.extensions.pandas import groups as pandas_groups
from adjoint.extensions.pandas import keys as pandas_keys
from adjoint.extensions.pandas import objects as pandas_objects
from adjoint.extensions.pandas import quantiles as pandas_quantiles
from adjoint.extensions.pandas import running as pandas_running
from adjoint.extensions.pandas import windows as pandas_windows
from adjoint.primal.value_kinds import by_value
from adjoint.rulekit.loading import registering
from adjoint.rulekit.registry import non_differentiable, plain, primitive, substitute
from adjoint.runtime.dispatch.source_call import call_function
from adjoint.runtime.memory.log_entries import swap_with
from adjoint.runtime.memory.memory import Memory


def _is_hiding(memory: Memory, block: Any) -> bool:
    """Return whether compiled code has made the block from active values, on a level."""
    level = memory.level
    return level is not None and any(one.holds(block) for one in level.down())


def _kept_as_it_is(owner: Any, name: str) -> None:
    """Register a compiled attribute that returns the object that was stored there."""

    @primitive((owner, name))
    def read(record: list[Any], slot: int, obj: Any) -> Any:
        return NotImplemented if _is_hiding(record[0], obj) else getattr(obj, name)


_KEPT = (GetSetDescriptorType, MemberDescriptorType)


def _derived_from(base: type, module: Any) -> list[type]:
    """Return the classes of a module that are derived from `base`."""
    return [kind for kind in vars(module).values() if type(kind) is type and issubclass(kind, base)]


def _is_real(fill: Any) -> bool:
    return isinstance(fill, float | complex | np.inexact)


def _names(owner: Any, *beginnings: str) -> list[str]:
    """Return the names of compiled functions of a module or class, by prefix."""
    return [
        name
        for name, found in vars(owner).items()
        if name.startswith(beginnings) and type(found).__name__ in _FUNCTIONS
    ]


_FUNCTIONS = ("cython_function_or_method", "builtin_function_or_method")


def _holes(indexer: Any, axis: int, shape: tuple[int, ...]) -> Any:
    """Return the mask of places where nothing is taken, or ``None`` for none."""
    empty = np.asarray(indexer) == -1
    if not empty.any():
        return None
    others = tuple([i for i in range(len(shape)) if i != axis])
    return np.broadcast_to(np.expand_dims(empty, others), shape)


non_differentiable(_holes)


@registering("pandas")
def _(pandas: Any) -> None:
    from pandas import DataFrame, Series
    from pandas._libs import (
        algos,
        index,
        indexing,
        internals,
        lib,
        missing,
        ops_dispatch,
        properties,
        reshape,
    )
    from pandas._libs.window import aggregations
    from pandas.core import indexing as indexers
    from pandas.core.array_algos import take
    from pandas.core.internals import blocks, managers

    pandas_arrays.register(pandas._libs.arrays.NDArrayBacked)
    pandas_groups.register(pandas._libs.groupby, aggregations, algos)
    pandas_running.register(pandas._libs.groupby)
    pandas_windows.register(aggregations, algos)
    pandas_quantiles.register(pandas._libs.groupby.group_quantile)
    pandas_keys.register(pandas._libs.hashtable)
    pandas_filling.register(algos, reshape, pandas.isna)
    pandas_objects.register(lib, reshape, missing.checknull, pandas.arrays.FloatingArray)

    # What managers, blocks and indexers hold is reachable through their attributes.
    non_differentiable(
        *_derived_from(indexing.NDFrameIndexerBase, indexers),
        (internals.BlockManager, "__new__"),
        (internals.BlockManager, "_rebuild_blknos_and_blklocs"),
        *((internals.BlockValuesRefs, name) for name in _names(internals.BlockValuesRefs, "")),
    )
    # These functions inspect types and integers, and fill caches of their arguments.
    non_differentiable(
        lib.infer_dtype,
        missing.isnaobj,
        missing.checknull,
        *(getattr(lib, name) for name in _names(lib, "is_", "has_")),
        *(getattr(algos, name) for name in _names(algos, "ensure_int", "ensure_uint", "ensure_pl")),
    )
    # Periods of time contain no reals, and cache values computed from their number.
    Period, period = pandas.Period, pandas.Period.__base__
    non_differentiable(Period, (Period, "__new__"))
    non_differentiable(*((period, f"__{name}__") for name in ("add", "radd", "sub", "rsub")))
    non_differentiable(*((period, name) for name in _names(period, "asfreq", "to_", "strftime")))
    # Index engines return positions of labels, and cache lookups.
    for engine in _derived_from(object, index):
        non_differentiable(*((engine, name) for name in _names(engine, "get_")))

    def make(kind: Any, record: list[Any], slot: int, *args: Any, **kwargs: Any) -> Any:
        memory: Memory = record[0]
        block = kind(*args, **kwargs)
        places = ["values"] * bool(args) + [""] * (len(args) - 1) + list(kwargs)

        def make_back(_: Any) -> tuple[Any, ...]:
            bar = accumulate(memory.take_entry(block, "values"), memory.take_entry(block, "*"))
            return None, *(bar if place == "values" else None for place in places)

        record[slot] = make_back
        return block

    for kind in _derived_from(internals.Block, blocks):
        primitive(kind)(partial(make, kind))

    @primitive((internals.Block, "values"))
    def values(record: list[Any], slot: int, block: Any) -> Any:
        memory: Memory = record[0]
        array = block.values
        if _is_hiding(memory, block):
            return NotImplemented

        def values_back(y_bar: Any) -> tuple[Any, ...]:
            memory.add_entry(block, "values", y_bar)
            return None, None

        if by_value(array):
            record[slot] = values_back
        return array

    for owner in (internals.BlockManager, internals.Block, indexing.NDFrameIndexerBase):
        for name, attribute in vars(owner).items():
            if type(attribute) in _KEPT and name != "values":
                _kept_as_it_is(owner, name)
    _kept_as_it_is(blocks.Block, "dtype")
    for owner, name in ((DataFrame, "columns"), (DataFrame, "index"), (Series, "index")):
        _kept_as_it_is(owner, name)

    @substitute((internals.BlockManager, "get_slice"))
    def get_slice(self, slobj, axis=0, new_index=None):
        if axis not in (0, 1):
            raise IndexError("Requested axis not found in manager")
        if axis == 0:
            parts = self._slice_take_blocks_ax0(slobj)
        else:
            parts = [block.slice_block_rows(slobj) for block in self.blocks]
        axes = list(self.axes)
        axes[axis] = axes[axis]._getitem_slice(slobj) if new_index is None else new_index
        return type(self)(tuple(parts), axes, verify_integrity=False)

    @substitute((internals.Block, "slice_block_rows"))
    def slice_block_rows(self, slicer):
        part = self.values[..., slicer]
        return type(self)(part, self._mgr_locs, ndim=self.ndim, refs=self.refs)

    def filled(self, obj, kind):
        """Return the cached value of a property."""
        if obj is None:
            return self
        cache = getattr(obj, "_cache", None)
        if cache is None:
            try:
                cache = obj._cache = {}
            except AttributeError:
                return self
        if self.name not in cache:
            cache[self.name] = self.fget(obj)
        return cache[self.name]

    substitute((properties.cache_readonly, "__get__"))(filled)

    @substitute(lib.map_infer)
    def map_infer(arr, f, convert=True, ignore_na=False):
        """Apply `f` to each element, as ``Series.map(f)`` does."""
        made = np.empty(len(arr), object)
        for i in range(len(arr)):
            part = arr[i]
            made[i] = part if ignore_na and missing.checknull(part) else f(part)
        return lib.maybe_convert_objects(made) if convert else made

    @substitute(lib.map_infer_mask)
    def map_infer_mask(arr, f, mask, convert=True, na_value=lib.no_default, dtype=object):
        """Apply `f` to each element that is not masked; masked ones stay, or become `na_value`."""
        made = np.empty(len(arr), dtype)
        for i in range(len(arr)):
            if not mask[i]:
                made[i] = f(arr[i])
            else:
                made[i] = arr[i] if na_value is lib.no_default else na_value
        return lib.maybe_convert_objects(made) if convert else made

    def taken_along(arr, indexer, axis, fill_value, allow_fill):
        """Take elements by position along an axis; -1 stands for the fill value."""
        plain = along_as_it_is(arr, indexer, axis, fill_value, allow_fill)
        holes = _holes(indexer, axis, plain.shape) if allow_fill else None
        if holes is not None and not arr.shape[axis]:
            made = np.empty_like(plain)  # the axis is empty
        elif indexer is None:
            made = arr.copy()
        else:
            made = arr[(slice(None),) * axis + (indexer,)].astype(plain.dtype)
        if holes is not None:
            made[holes] = fill_value
        return made

    def taken_across(arr, indexer, fill_value=np.nan):
        """Take elements by position along both axes."""
        plain, (rows, columns) = across_as_it_is(arr, indexer, fill_value), indexer
        if arr.size:
            made = arr[np.ix_(rows, columns)].astype(plain.dtype)
        else:
            made = np.empty_like(plain)
        made[rows == -1] = fill_value
        made[:, columns == -1] = fill_value
        return made

    take_along, take_across = take._take_nd_ndarray, take.take_2d_multi

    along_as_it_is = plain(take_along)

    across_as_it_is = plain(take_across)

    def by_places(
        f: Any, by_source: Any, record: list[Any], slot: int, *args: Any, **kwargs: Any
    ) -> Any:
        arr = args[0] if args else kwargs["arr"]
        if type(arr) is not np.ndarray:
            return NotImplemented
        if arr.dtype.kind not in "fcO" and not any(map(_is_real, (*args, *kwargs.values()))):
            return f(*args, **kwargs)
        return call_function(record, slot, by_source, args, kwargs)

    primitive(take_along)(partial(by_places, take_along, taken_along))
    primitive(take_across)(partial(by_places, take_across, taken_across))

    @primitive(managers.SingleBlockManager.set_values)
    def set_values(record: list[Any], slot: int, manager: Any, array: Any) -> None:
        """Replace the values of a series by another row."""
        memory: Memory = record[0]
        block = manager.blocks[0]
        exchange = partial(setattr, block, "values")
        undo, redo = partial(exchange, block.values), partial(exchange, array)
        managers.SingleBlockManager.set_values(manager, array)
        position = memory.note(swap_with, undo, redo)

        def set_back(_: Any) -> tuple[Any, ...]:
            memory.rewind(position)
            return None, None, memory.take_entry(block, "values")

        record[slot] = set_back

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
