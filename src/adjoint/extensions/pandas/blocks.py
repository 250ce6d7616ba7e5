"""Blocks, objects of C that hold an array, and the managers that hold blocks."""

from __future__ import annotations

from functools import partial
from typing import Any

from adjoint.cotangents.accumulate import accumulate
from adjoint.extensions.pandas.members import derived_from
from adjoint.extensions.pandas.properties import is_hiding
from adjoint.primal.value_kinds import by_value
from adjoint.rulekit.registry import primitive, substitute
from adjoint.runtime.memory.log_entries import swap_with
from adjoint.runtime.memory.memory import Memory


def register(internals: Any, core: Any) -> None:
    """Register the rules of blocks and managers: the classes of C, and those derived from them."""
    for kind in derived_from(internals.Block, core.blocks):
        _make(kind)
    _values(internals.Block)
    _slices(internals)
    _set_values(core.managers.SingleBlockManager)


def _make(kind: type) -> None:
    @primitive(kind)
    def make(record: list[Any], slot: int, /, *args: Any, **kwargs: Any) -> Any:
        memory: Memory = record[0]
        block = kind(*args, **kwargs)
        places = ["values"] * bool(args) + [""] * (len(args) - 1) + list(kwargs)

        def make_back(_: Any) -> tuple[Any, ...]:
            bar = accumulate(memory.take_entry(block, "values"), memory.take_entry(block, "*"))
            return None, *(bar if place == "values" else None for place in places)

        record[slot] = make_back
        return block


def _values(Block: Any) -> None:
    """What a block holds."""

    @primitive((Block, "values"))
    def values(record: list[Any], slot: int, block: Any) -> Any:
        memory: Memory = record[0]
        array = block.values
        if is_hiding(memory, block):
            return NotImplemented

        def values_back(y_bar: Any) -> tuple[Any, ...]:
            memory.add_entry(block, "values", y_bar)
            return None, None

        if by_value(array):
            record[slot] = values_back
        return array


def _slices(internals: Any) -> None:
    """Parts of managers and of blocks."""

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


def _set_values(manager_type: Any) -> None:
    """A row takes the place of another one in the same series."""

    @primitive(manager_type.set_values)
    def set_values(record: list[Any], slot: int, manager: Any, array: Any) -> None:
        memory: Memory = record[0]
        block = manager.blocks[0]
        exchange = partial(setattr, block, "values")
        undo, redo = partial(exchange, block.values), partial(exchange, array)
        manager_type.set_values(manager, array)
        position = memory.note(swap_with, undo, redo)

        def set_back(_: Any) -> tuple[Any, ...]:
            memory.rewind(position)
            return None, None, memory.take_entry(block, "values")

        record[slot] = set_back
