"""pandas: a series is Python around a block, which is an object of C that holds an array."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.rules.registry import primitive, registering, substitute
from adjoint.run.accumulate import accumulate
from adjoint.run.kinds import by_value
from adjoint.run.memory import Memory


def _is_hiding(memory: Memory, block: Any) -> bool:
    """Whether C has made it of something active, on a level."""
    level = memory.level
    return level is not None and any(one.holds(block) for one in level.down())


@registering("pandas")
def _(_: Any) -> None:
    from pandas._libs import internals, lib, ops_dispatch
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
