"""C functions of operands with ``__index__`` in Python, which runs once as differentiated code."""

from __future__ import annotations

import itertools
import operator
from collections import deque
from typing import Any

from adjoint.primal.childless_types import CHILDLESS_TYPES
from adjoint.rulekit.registry import entry, primitive
from adjoint.rules.python.builtins import bytearrays, deques, iterators, lists, numbers, sequences
from adjoint.runtime.dispatch.argument_mismatch import calls_rules
from adjoint.runtime.dispatch.call import call_keywords
from adjoint.runtime.dispatch.number_protocols import by_index, has_index
from adjoint.runtime.operators.constant_methods import refuse_stored

_RULES = (bytearrays, deques, iterators, lists, numbers, sequences)
"""Modules that register the rules wrapped here: they must be loaded first."""

_WITHOUT_DERIVATIVE = (range, hex, oct, bin, chr)


def _indexed(key: Any, *places: int) -> None:
    """Wrap the rule of `key`: convert the operands at `places` by ``__index__``."""
    f: Any = getattr(*key) if isinstance(key, tuple) else key
    plain = entry(key).primitive

    def again(record: list[Any], slot: int, *args: Any) -> Any:
        return call_keywords(record, slot, f, args, {})

    @calls_rules
    def run(record: list[Any], slot: int, /, *args: Any, **options: Any) -> Any:
        for place in places:
            if (
                place < len(args)
                and type(args[place]) not in CHILDLESS_TYPES
                and has_index(args[place])
            ):
                break
        else:
            if plain is None:
                return NotImplemented
            return plain(record, slot, *args, **options)
        if options:
            return NotImplemented
        y = by_index(record, slot, again, args)
        if f in _WITHOUT_DERIVATIVE:
            refuse_stored(record, slot, args[place], "__index__")
        return y

    primitive(key)(run)


for _kind in (list, tuple, str, bytes, bytearray, range, deque):
    for _name in ("__getitem__", "__setitem__", "__delitem__", "__mul__", "__rmul__", "__imul__"):
        if _name in vars(_kind):
            _indexed((_kind, _name), 1)
_indexed((list, "pop"), 1)
_indexed((list, "insert"), 1)
_indexed((deque, "insert"), 1)
_indexed((deque, "rotate"), 1)
_indexed(range, 0, 1, 2)
_indexed(enumerate, 1)
_indexed(round, 1)
_indexed(itertools.islice, 1, 2, 3)
_indexed(itertools.repeat, 1)
for _f in (*_WITHOUT_DERIVATIVE[1:], operator.index):
    _indexed(_f, 0)
