"""Rules of numeric keys by which pandas groups, joins and indexes.

Distinct keys are entries of the array that they were found in.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.rulekit.registry import non_differentiable, primitive, substitute
from adjoint.runtime.dispatch.source_call import call_function


def register(hashtable: Any) -> None:
    """Register the rules of `pandas._libs.hashtable`."""
    for name in ("Float64HashTable", "Float32HashTable", "Complex128HashTable"):
        _of_table(getattr(hashtable, name))


def _of_table(table: Any) -> None:
    factorize, unique = table.factorize, table.unique

    @non_differentiable
    def numbered(self: Any, values: Any, options: Any, named: Any) -> tuple[Any, Any]:
        """Return the first entry of each distinct number, and the code of each entry."""
        _, codes = factorize(self, values, *options, **named)
        return _firsts(codes), codes

    @substitute((table, "factorize"))
    def numbers_and_codes(self, values, *options, **named):
        firsts, codes = numbered(self, values, options, named)
        return values[firsts], codes

    @non_differentiable
    def different(self: Any, values: Any) -> tuple[Any, Any]:
        codes = unique(self, values, return_inverse=True)[1]
        return _firsts(codes), codes

    def numbers(self, values, return_inverse=False):
        firsts, codes = different(self, values)
        return (values[firsts], codes) if return_inverse else values[firsts]

    @primitive((table, "unique"))
    def _(
        record: list[Any], slot: int, /, self: Any, values: Any, *masked: Any, **options: Any
    ) -> Any:
        if masked or options.pop("mask", None) is not None:
            return NotImplemented
        return call_function(record, slot, numbers, (self, values), options)


def _firsts(codes: Any) -> Any:
    """Return the index of the first entry with each code ≥ 0."""
    found, places = np.unique(codes, return_index=True)
    return places[found >= 0]
