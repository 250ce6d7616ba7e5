"""Arrays of classes derived from `numpy.ndarray`.

What such a class leaves to NumPy is differentiated as for plain arrays: rules see plain views of
the operands, and the result is the one that NumPy gives, of whatever class. What it says itself, by
methods, ``__array_ufunc__`` or ``__array_function__``, is code like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

import numpy as np
from numpy import ndarray

from adjoint.errors import NoDerivativeError
from adjoint.run.contents import entries_of
from adjoint.run.dispatch import DECLINED
from adjoint.run.kinds import by_value, fields_of
from adjoint.run.memory import Memory, root_of
from adjoint.run.place import current_place
from adjoint.run.seal import arrived, result_of
from adjoint.run.specials import class_attribute
from adjoint.run.unknown import run_unknown

__all__ = ["adopt", "apply_to_plain", "is_subclassed", "plain"]


def is_subclassed(value: Any) -> bool:
    """Whether `value` is an array of a class of its own."""
    return isinstance(value, ndarray) and type(value) is not ndarray


def plain(value: Any) -> Any:
    """A plain view of an array of a class of its own; anything else as it is."""
    return ndarray.view(value, ndarray) if is_subclassed(value) else value


def apply_to_plain(
    record: list[Any],
    slot: int,
    f: Any,
    apply: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """What rules say of ``f(*args, **kwargs)``, if that is what NumPy makes of it.

    `apply` takes the place, the arguments and the keyword arguments, and gives a result, or
    `DECLINED`.
    """
    if _says_itself(f, (*args, *kwargs.values())):
        return DECLINED
    blank, memory = record[slot], record[0]
    named = {name: plain(value) for name, value in kwargs.items()}
    found = apply(record, slot, tuple(map(plain, args)), named)
    if found is DECLINED:
        return DECLINED
    y = f(*args, **kwargs)
    if not by_value(found) or not _same(found, y):
        record[slot] = blank
        if type(f) is not np.ufunc:
            return DECLINED  # its own source says how
        kind = next(type(v).__name__ for v in (*args, *kwargs.values()) if is_subclassed(v))
        why = f"makes of a '{kind}' something else than of a plain array"
        return run_unknown(memory, record, slot, f, args, kwargs, why)
    if memory.level is not None:
        memory.level.link(y, found)
    elif is_subclassed(y):
        record[slot] = _of_class(memory, record[slot], y, args)
        adopt(record, slot, y, args)
    return y


def _of_class(memory: Memory, back: Any, y: Any, args: tuple[Any, ...]) -> Callable[[Any], Any]:
    """The pullback of a result of another class in the place of the plain one."""
    root = root_of(y)
    given = any(isinstance(arg, ndarray) and root_of(arg) is root for arg in args)
    result = (lambda: None) if given else result_of(y)

    def of_class_back(y_bar: Any) -> Any:
        return None if back is None else back(arrived(memory, result, y_bar))

    return of_class_back


def _says_itself(f: Any, args: Iterable[Any]) -> bool:
    """Whether NumPy's function is a method of the class's own: ``np.sum(a)`` asks ``a.sum``."""
    name = getattr(f, "__name__", "")
    return type(f) is _DISPATCHER and any(
        is_subclassed(arg) and type(class_attribute(type(arg), name)) is FunctionType
        for arg in args
    )


_DISPATCHER = type(np.mean)


def _same(a: Any, b: Any) -> bool:
    if not by_value(b) or np.shape(a) != np.shape(b):
        return False
    a, b = plain(a), plain(b)
    same: Any = a == b
    return bool(np.all(same | ((a != a) & (b != b))))


# ---- attributes that NumPy has handed on ---------------------------------------------------------


def adopt(record: list[Any], slot: int, y: Any, sources: Iterable[Any]) -> None:
    """Give the cotangents of attributes that ``__array_finalize__`` has set on a new array back to
    where they are from."""
    fields = fields_of(y) if is_subclassed(y) else None
    if not fields:
        return
    held = [known for source in sources if is_subclassed(source) and (known := fields_of(source))]
    links = [
        (name, next((known for known in held if known.get(name) is item), None))
        for name, item in entries_of(fields)
        if by_value(item) and type(item) not in (bool, int)
    ]
    if not links:
        return
    memory, back = record[0], record[slot]
    place = current_place()
    kind = type(y).__name__

    def adopted_back(y_bar: Any) -> Any:
        for name, source in links:
            bar = memory.take_entry(fields, name)
            if bar is None:
                continue
            if source is None:
                raise NoDerivativeError(
                    f"a derivative of the attribute {name!r} of a {kind} is needed, which"
                    " '__array_finalize__' has computed",
                    hint="set the attribute in the differentiated function",
                    place=place,
                )
            memory.add_entry(source, name, bar)
        return None if back is None else back(y_bar)

    record[slot] = adopted_back
