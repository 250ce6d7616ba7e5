"""Arrays of classes derived from `numpy.ndarray`.

What such a class leaves to NumPy is differentiated as for plain arrays: rules see plain views of
the operands, and the result is the one that NumPy gives, of whatever class. What it says itself, by
methods, ``__array_ufunc__`` or ``__array_function__``, is code like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import FunctionType, MethodDescriptorType
from typing import Any

import numpy as np
from numpy import ndarray

from adjoint.errors import NoDerivativeError
from adjoint.run.by_rules import DECLINED
from adjoint.run.by_source import call_function
from adjoint.run.dispatch import NO_KEYWORDS, call, linked
from adjoint.run.finalized import adopt
from adjoint.run.kinds import by_value, fields_of
from adjoint.run.memory import Memory
from adjoint.run.seal import PLAIN, arrived, result_of
from adjoint.run.specials import class_attribute
from adjoint.run.unknown import run_unknown
from adjoint.run.views import root_of


def is_subclassed(value: Any) -> bool:
    """Whether `value` is an array of a class of its own."""
    return issubclass(type(value), ndarray) and type(value) is not ndarray


def plain(value: Any) -> Any:
    """A plain view of an array of a class of its own, a list of such views; anything else as it
    is."""
    if is_subclassed(value):
        return ndarray.view(value, ndarray)
    return list(map(plain, value)) if _is_list_of_subclassed(value) else value


def _is_list_of_subclassed(value: Any) -> bool:
    return type(value) in (list, tuple) and any(map(is_subclassed, value))


def holds_subclassed(values: Iterable[Any]) -> bool:
    """Whether arrays of classes of their own are among some values, or in lists of them."""
    return any(is_subclassed(value) or _is_list_of_subclassed(value) for value in values)


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
    if says_itself(f, (*args, *kwargs.values())):
        return DECLINED
    if any(map(_of_users, args)) and is_asked(f, args, kwargs):
        return call_wrapped(record, slot, f, args, kwargs)
    blank, memory = record[slot], record[0]
    named = {name: plain(value) for name, value in kwargs.items()}
    given = tuple(map(plain, args))
    found = apply(record, slot, given, named)
    if found is DECLINED:
        return DECLINED
    lists = [pair for pair in zip(args, given, strict=True) if _is_list_of_subclassed(pair[0])]
    if lists and record[slot] is not blank:
        record[slot] = _of_lists(memory, record[slot], lists)
    if _draws(f, args):
        return found  # a second draw is another one; what is drawn is a plain array
    y = f(*args, **kwargs)
    if _is_reshaped(found, y):
        found = _reshaped(record, slot, found, np.shape(y))
    if not by_value(found) or not _same(found, y):
        record[slot] = blank
        if type(f) is not np.ufunc:
            return DECLINED  # its own source says how
        if any(map(says_what_becomes, args)):
            return call_wrapped(record, slot, f, args, kwargs)
        kind = next(type(v).__name__ for v in (*args, *kwargs.values()) if is_subclassed(v))
        why = f"makes of a '{kind}' something else than of a plain array"
        return run_unknown(memory, record, slot, f, args, kwargs, why)
    if memory.region is not None and is_subclassed(y):
        memory.region.leave_result(y)
    if memory.level is not None:
        memory.level.link(y, found)
        adopt(record, slot, y, args)
    elif isinstance(y, ndarray):
        record[slot] = _of_class(memory, record[slot], y, args)
        adopt(record, slot, y, args)
    return y


def says_what_becomes(value: Any) -> bool:
    """Whether the class of an operand has an ``__array_wrap__`` in Python, which NumPy hands its
    results to."""
    kind = type(value)
    return kind not in PLAIN and type(class_attribute(kind, "__array_wrap__")) is FunctionType


def _of_users(value: Any) -> bool:
    """`says_what_becomes`, of a class that is not NumPy's own: what that makes of a result has its
    numbers."""
    if not says_what_becomes(value):
        return False
    method = class_attribute(type(value), "__array_wrap__")
    return not str(method.__module__).startswith("numpy.")


def is_asked(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether NumPy hands the result of a ufunc, or of a method that is one, to an operand."""
    if type(f) is not np.ufunc and (type(f) is not MethodDescriptorType or f.__name__ not in _ASK):
        return False
    from adjoint.rules.numpy.wrapping import answers_of, data_of, is_told

    operands = (*args, *kwargs.values())
    if not any(map(is_told, operands)):
        return False  # nor are objects in arrays asked twice for what the call itself asks them
    arrays = list(map(data_of, operands))
    n = len(args)

    def ask(stand_ins: list[Any]) -> Any:
        return f(*stand_ins[:n], **dict(zip(kwargs, stand_ins[n:], strict=True)))

    try:
        return answers_of(ask, operands, arrays) is not None
    except NoDerivativeError:
        return False  # the call itself says what is wrong


_ASK = frozenset(
    [
        *("sum", "prod", "any", "all", "max", "min", "cumsum", "cumprod", "round", "conj"),
        *("conjugate", "reduce", "accumulate", "reduceat"),
    ]
)


def call_wrapped(
    record: list[Any], slot: int, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """``f(*args, **kwargs)`` by the methods of operands that say what becomes of its results."""
    from adjoint.rules.numpy.wrapping import wrapped_call

    memory: Memory = record[0]

    def of_operands(_: tuple[Any, ...]) -> tuple[Any, ...]:
        bars = memory.take_items(args, len(args))
        return (None, *bars, *(memory.take_entry(kwargs, name) for name in kwargs))

    operands = (f, args, kwargs)
    return linked(record, slot, of_operands, call_function, wrapped_call, operands, NO_KEYWORDS)


def _draws(f: Any, args: tuple[Any, ...]) -> bool:
    """Whether a call takes random numbers from a generator."""
    owners = (getattr(f, "__self__", None), *args[:1])
    return any(isinstance(x, np.random.Generator | np.random.RandomState) for x in owners)


def _of_lists(memory: Memory, back: Any, lists: list[tuple[Any, Any]]) -> Callable[[Any], Any]:
    """The cotangents of lists of plain views belong to the lists that were given."""

    def of_lists_back(y_bar: Any) -> Any:
        bars = back(y_bar)
        for given, made in lists:
            for i, bar in enumerate(memory.take_items(made, len(made))):
                memory.add_item(given, i, bar)
        return bars

    return of_lists_back


def _of_class(memory: Memory, back: Any, y: Any, args: tuple[Any, ...]) -> Callable[[Any], Any]:
    """The pullback of the result that NumPy gives in the place of the one that the rule gives."""
    root = root_of(y)
    given = any(isinstance(arg, ndarray) and root_of(arg) is root for arg in args)
    result = (lambda: None) if given else result_of(memory, y)

    def of_class_back(y_bar: Any) -> Any:
        return None if back is None else back(arrived(memory, result, y_bar))

    return of_class_back


def says_itself(f: Any, args: Iterable[Any]) -> bool:
    """Whether NumPy's function is a method of the class's own: ``np.sum(a)`` asks ``a.sum``."""
    if type(f) is not _DISPATCHER or type(f.__wrapped__) is not FunctionType:
        return False  # what is of C asks no methods
    name = getattr(f, "__name__", "")
    name = _METHODS.get(name, name)
    return hasattr(ndarray, name) and any(
        type(arg) not in PLAIN and _has_own(arg, name) for arg in args
    )


def _has_own(value: Any, name: str) -> bool:
    """Whether Python code says what an attribute of `value` is."""
    kind = type(value)
    found = class_attribute(kind, name)
    if found is None:
        if class_attribute(kind, "__getattr__") is not None:
            return True
        fields = fields_of(value)
        return fields is not None and name in fields
    return type(found) in _OF_PYTHON


_METHODS = {"amax": "max", "amin": "min", "around": "round", "permute_dims": "transpose"}
"""What functions ask for whose methods have other names."""
_OF_PYTHON = (FunctionType, property, staticmethod, classmethod)
_DISPATCHER: Any = type(np.mean)


def _same(a: Any, b: Any) -> bool:
    if not by_value(b) or np.shape(a) != np.shape(b):
        return False
    a, b = plain(a), plain(b)
    same: Any = a == b
    return bool(np.all(same | ((a != a) & (b != b))))


def _is_reshaped(found: Any, y: Any) -> bool:
    """Whether a class has only given a result axes of length one, or has taken them: what a matrix
    is made of has two."""
    if not isinstance(found, ndarray | np.generic) or not isinstance(y, ndarray):
        return False
    return found.shape != y.shape and _axes(found) == _axes(y)


def _axes(x: Any) -> list[int]:
    return [n for n in x.shape if n != 1]


def _reshaped(record: list[Any], slot: int, found: Any, shape: tuple[int, ...]) -> Any:
    back, inner = record[slot], [record[0], None]

    def reshaped_back(y_bar: Any) -> Any:
        bar = y_bar if inner[1] is None else inner[1](y_bar)[1]
        return None if back is None else back(bar)

    record[slot] = reshaped_back
    return call(inner, 1, np.reshape, found, shape)
