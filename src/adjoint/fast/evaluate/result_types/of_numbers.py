"""Classes of results of numbers."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from adjoint.fast.evaluate.result_types.elementwise import POWERS
from adjoint.fast.evaluate.result_types.ones import Constant, kind_of_constant, name_of, run
from adjoint.fast.evaluate.types import Number, Symbol, is_covered, witnesses
from adjoint.fast.not_covered import NotCovered


def type_of_numbers(f: Any, operands: Sequence[Any]) -> Number | None:
    """Return the type of a result of numbers; ``None`` if it is no number."""
    known = [Constant(_LENGTH) if isinstance(t, Symbol) else t for t in operands]
    found = _kinds(f, known)
    if found is not None:
        _of_numbers[(f, *map(_canonical, known))] = found
    return found


_LENGTH = 3
"""Witness of lengths, in functions of numbers."""
_of_numbers: dict[Any, Number] = {}
"""Result types by function and types of its operands, which are numbers."""


def known_of_numbers(key: Iterable[Any]) -> Number | None:
    """Return a cached result type of numbers; `key` holds the function, then the classes or the
    `kind_of_constant` of each operand."""
    return _of_numbers.get(tuple(key))


def _canonical(t: Any) -> Any:
    return t.kinds if type(t) is Number else kind_of_constant(t.value)


def _kinds(f: Any, operands: Sequence[Any]) -> Number | None:
    """Return the type of a result of numbers, over all combinations of their classes."""
    values = [[t.value] if isinstance(t, Constant) else witnesses(t) for t in operands]
    kinds: set[type] = set()
    for combination in itertools.product(*values):
        y = _within(f, operands, combination)
        if isinstance(y, tuple | np.ndarray):
            return None
        kinds.add(type(y))
        if f in POWERS and not any(isinstance(x, np.generic | complex) for x in combination):
            kinds |= _of_power(operands, combination)
    for kind in kinds:
        if not is_covered(kind):
            raise NotCovered(f"{name_of(f)} returns {kind.__name__}")
    return Number(frozenset(kinds))


def _within(f: Any, operands: Any, combination: Any) -> Any:
    """Return the result for one combination; try smaller floats where `math` rejects it."""
    try:
        return run(f, list(combination), {})
    except NotCovered:
        small = [
            x / 3 if isinstance(t, Number) and isinstance(x, float) else x
            for t, x in zip(operands, combination, strict=True)
        ]
        if getattr(f, "__module__", None) != "math" or small == list(combination):
            raise
        return run(f, small, {})


def _of_power(operands: Any, combination: Any) -> set[type]:
    """Return further classes that a power of Python real numbers may have."""
    a, b = combination[:2]
    exponent = operands[1]
    if isinstance(exponent, Constant):
        whole = isinstance(b, int) or float(b).is_integer()
        return set() if whole or (isinstance(operands[0], Constant) and a >= 0) else {complex}
    if isinstance(b, int):
        return {float} if isinstance(a, int) else set()
    return set() if isinstance(operands[0], Constant) and a >= 0 else {complex}
