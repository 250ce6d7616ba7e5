"""Lists and tuples as operands of functions that take arrays."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.new_arrays import as_list, is_list, new_array, new_arrays
from adjoint.fast.evaluate.result_types.records import converted_operands
from adjoint.fast.evaluate.rows import row_of
from adjoint.fast.evaluate.types import Array, Number, holds_arrays, is_inexact
from adjoint.fast.evaluate.values import Abstract, Known
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.support.members import members
from adjoint.ir.single import Value

_ONE = members(
    np, "sum mean prod max min var std cumsum cumprod diff gradient ravel reshape linalg.norm"
)
converted_operands.update(dict.fromkeys(_ONE, 1))
converted_operands.update(dict.fromkeys((np.dot, np.vdot, np.inner, np.outer), 2))
_JOINING = members(np, "concatenate vstack hstack dstack column_stack")


def as_arrays(ev: Evaluator, f: Any, args: Sequence[Abstract]) -> Sequence[Abstract]:
    """Convert list operands of a function of NumPy or SciPy to arrays, as the function does."""
    if f is np.block:  # it tells lists from other sequences
        return args
    args = [as_list(ev, x) for x in args]
    n = converted_operands.get(f, 2 if isinstance(f, np.ufunc) else 0)
    if f is np.roll and len(args) > 1 and row_of(ev, args[1]) is not None:
        return [args[0], *new_arrays(ev, args[1:2]), *args[2:]]
    if f in _JOINING and args and holds_arrays(ev.types.get(row_of(ev, args[0]))):  # type: ignore[arg-type]
        n = 1  # NumPy takes one array for a list of its parts
    if not n or all(isinstance(x, Value | Known) and row_of(ev, x) is None for x in args[:n]):
        return args
    return [*new_arrays(ev, args[:n]), *args[n:]]


def float_arrays(
    ev: Evaluator, f: Any, args: Sequence[Abstract], keywords: dict[str, Abstract]
) -> tuple[Sequence[Abstract], dict[str, Abstract]]:
    """Convert the lists of numbers among operands of a function of NumPy or SciPy to arrays, where
    these are not all integers; for NumPy also tuples, for `numpy.linalg` also lists of arrays. To
    SciPy a tuple may be several operands."""
    module = str(getattr(getattr(f, "__objclass__", f), "__module__", None))
    if not module.startswith(("numpy", "scipy")):
        return args, keywords
    classes = (list, tuple) if module.startswith("numpy") else (list,)
    items = (Number, Array) if module == "numpy.linalg" else (Number,)

    def converted(a: Abstract) -> Abstract:
        if isinstance(a, Known) or ev.class_of(a) not in classes:
            return a
        try:
            is_of_floats = is_inexact(Number(frozenset().union(*_kinds(ev, a, items))))
            return new_array(ev, a, Known(None)) if is_of_floats else a
        except NotCovered:  # something else, or numbers of classes that are not known well enough
            return a

    n = f.nin if isinstance(f, np.ufunc) else len(args)  # it writes to what follows
    named = {name: x if name == "out" else converted(x) for name, x in keywords.items()}
    return [*map(converted, args[:n]), *args[n:]], named


def _kinds(ev: Evaluator, a: Abstract, items: tuple[Any, ...]) -> Iterator[frozenset[type]]:
    """Give the possible classes of each item of a list, and of the lists that it holds; refuse
    items whose types are not of the classes `items`."""
    row = row_of(ev, a)
    t: Any = ev.types[a] if isinstance(a, Value) else None
    if row is not None:
        t = ev.row_type(row).item
    if isinstance(t, items):
        yield t.kinds if isinstance(t, Number) else frozenset({t.dtype.type})
    elif isinstance(a, Known) and type(a.value) in (int, float, complex):
        yield frozenset({type(a.value)})
    elif t is None and is_list(ev, a):
        for x in ev.sequence(a) or ():
            yield from _kinds(ev, x, items)
    else:
        raise NotCovered("something else than a list of numbers", ev.span)


def dispatches(ev: Evaluator, args: Iterable[Abstract]) -> bool:
    """Return whether NumPy may find an ``__array_function__`` in one of the operands."""
    try:
        for x in args:
            if not isinstance(x, Value | Known):
                deque(_kinds(ev, x, (Number, Array)), maxlen=0)
    except NotCovered:
        return True
    return False
