"""Substitutes for `copy`, by the protocol of Python's module: a copy keeps the derivatives.

Python's module calls ``__reduce_ex__`` in C; the substitutes read the parts of ordinary objects
one by one.
"""

from __future__ import annotations

import copy
import copyreg
import functools
import types
import weakref
from collections import OrderedDict, defaultdict, deque
from datetime import date, datetime, time, timedelta
from typing import Any

from adjoint.diagnostics.refusals import refused
from adjoint.primal.container_contents import args_of
from adjoint.rulekit.registry import non_differentiable, substitute
from adjoint.runtime.memory.active_iterator import ActiveIterator

ATOMS = frozenset({
    type(None), int, float, bool, complex, bytes, str, range, types.CodeType, types.FunctionType,
    types.BuiltinFunctionType, type(NotImplemented), type(Ellipsis), weakref.ref, property,
})  # fmt: skip
"""Types whose values are their own copies."""
_DATES = frozenset({date, datetime, time, timedelta})

SHALLOW_ATOMS: frozenset[Any] = ATOMS | {tuple, frozenset, slice}


@substitute(copy.copy)
def shallow_copy(x: Any) -> Any:
    cls = type(x)
    if _is_atom(cls, SHALLOW_ATOMS):
        return x
    if cls is list or cls is dict or cls is set or cls is bytearray:
        return x.copy()
    _refuse_iterators(x)
    if hasattr(cls, "__copy__"):
        return x.__copy__()
    return _rebuilt(x, None)


@substitute(copy.deepcopy)
def deepcopy(x: Any, memo: Any = None, _nil: Any = None) -> Any:
    return _deep(x, {} if memo is None else memo)


def _deep(x: Any, memo: Any) -> Any:
    cls = type(x)
    if _is_atom(cls, ATOMS):
        return x
    key = id(x)
    if key in memo:
        return memo[key]
    if cls is list:
        y: Any = []
        memo[key] = y
        for item in x:
            y.append(_deep(item, memo))
    elif cls is dict:
        y = {}
        memo[key] = y
        for name, item in x.items():
            y[_deep(name, memo)] = _deep(item, memo)
    elif cls is tuple:
        y = _deep_tuple(x, memo)
    elif cls is types.MethodType:
        y = types.MethodType(x.__func__, _deep(x.__self__, memo))
    elif hasattr(cls, "__deepcopy__"):
        y = x.__deepcopy__(memo)
    else:
        _refuse_iterators(x)
        y = _rebuilt(x, memo)
    if y is not x:
        memo[key] = y
        memo.setdefault(id(memo), []).append(x)  # keep `x` alive: its id is a key
    return y


def _deep_tuple(x: Any, memo: Any) -> Any:
    items = [_deep(item, memo) for item in x]
    if id(x) in memo:  # a tuple that contains itself
        return memo[id(x)]
    for item, original in zip(items, x, strict=True):
        if item is not original:
            return tuple(items)
    return x


def _part(x: Any, memo: Any) -> Any:
    return x if memo is None else _deep(x, memo)


# ---- objects -------------------------------------------------------------------------------------


def _rebuilt(x: Any, memo: Any) -> Any:
    """Make an object of the same class with the same parts; with a memo, with copies of them."""
    cls = type(x)
    if cls in _DATES:  # operations that refuse a duration made of an active number
        return +x if cls is timedelta else x.replace()
    if cls in copyreg.dispatch_table:
        return _reconstructed(x, memo, copyreg.dispatch_table[cls](x))
    if _in_python(cls, "__reduce_ex__"):
        return _reconstructed(x, memo, x.__reduce_ex__(4))
    if _in_python(cls, "__reduce__"):
        return _reconstructed(x, memo, x.__reduce__())
    if isinstance(x, BaseException):
        return _reconstructed(x, memo, (cls, args_of(x), x.__dict__))
    if isinstance(x, deque):
        return _reconstructed(x, memo, (cls, ((), x.maxlen), _fields(x), x))
    if isinstance(x, defaultdict):
        return _reconstructed(x, memo, (cls, (x.default_factory,), _fields(x), None, x.items()))
    if isinstance(x, OrderedDict) or cls is types.SimpleNamespace:
        pairs = x.items() if isinstance(x, OrderedDict) else None
        return _reconstructed(x, memo, (cls, (), _fields(x), None, pairs))
    if isinstance(x, set | frozenset):
        return _reconstructed(x, memo, (cls, (list(x),), _fields(x)))
    if isinstance(x, functools.partial):
        return _of_partial(x, memo)
    if not _is_python_class(cls):
        return _reconstructed(x, memo, x.__reduce_ex__(4))
    return _of_python_class(x, memo)


def _of_python_class(x: Any, memo: Any) -> Any:
    """Make an object from the parts that ``object.__reduce_ex__`` would return."""
    cls: Any = type(x)
    args: Any = ()
    named: Any = {}
    if _in_python(cls, "__getnewargs_ex__"):
        args, named = x.__getnewargs_ex__()
    elif isinstance(x, tuple) and hasattr(cls, "_fields"):
        return _part_of_named_tuple(x, memo)
    elif _in_python(cls, "__getnewargs__"):
        args = x.__getnewargs__()
    else:
        for base in (tuple, int, float, complex, str, bytes):
            if isinstance(x, base):
                args = (_plain(base, x),)
    args = [_part(arg, memo) for arg in args]
    y = cls.__new__(cls, *args, **{name: _part(arg, memo) for name, arg in named.items()})
    if memo is not None:
        memo[id(x)] = y
    if _in_python(cls, "__getstate__"):
        _set_state(y, _part(x.__getstate__(), memo))
    elif hasattr(cls, "__setstate__"):
        _set_state(y, _part(_default_state(x), memo))
    else:
        _copy_fields(x, y, memo)
    if isinstance(x, list):
        for item in x:
            y.append(_part(item, memo))
    if isinstance(x, dict):
        for key, item in x.items():
            y[_part(key, memo)] = _part(item, memo)
    return y


def _of_partial(x: Any, memo: Any) -> Any:
    named = {name: _part(value, memo) for name, value in x.keywords.items()}
    y = type(x)(_part(x.func, memo), *[_part(arg, memo) for arg in x.args], **named)
    if memo is not None:
        memo[id(x)] = y
    for name, value in x.__dict__.items():
        y.__dict__[name] = _part(value, memo)
    return y


def _plain(base: Any, x: Any) -> Any:
    return base(x)


def _part_of_named_tuple(x: Any, memo: Any) -> Any:
    items = [_part(item, memo) for item in x]
    return type(x)._make(items)


def _copy_fields(x: Any, y: Any, memo: Any) -> None:
    if hasattr(x, "__dict__"):
        for name, value in x.__dict__.items():
            y.__dict__[name] = _part(value, memo)
    for name in _slots(type(x)):
        if hasattr(x, name):
            setattr(y, name, _part(getattr(x, name), memo))


def _default_state(x: Any) -> Any:
    """Return what ``object.__getstate__`` returns."""
    fields = _fields(x)
    slots = {name: getattr(x, name) for name in _slots(type(x)) if hasattr(x, name)}
    return (fields, slots) if slots else fields


def _fields(x: Any) -> Any:
    if not hasattr(x, "__dict__") or not x.__dict__:
        return None
    return dict(x.__dict__)


def _set_state(y: Any, state: Any) -> None:
    if hasattr(type(y), "__setstate__"):
        y.__setstate__(state)
        return
    fields, slots = state if isinstance(state, tuple) and len(state) == 2 else (state, None)
    if fields is not None:
        for name, value in fields.items():
            y.__dict__[name] = value
    if slots is not None:
        for name, value in slots.items():
            setattr(y, name, value)


def _reconstructed(x: Any, memo: Any, reduced: Any) -> Any:
    """Make an object from the result of ``__reduce_ex__``."""
    if isinstance(reduced, str):
        return x
    make, args, *rest = reduced
    state, items, pairs, *setter = (*rest, None, None, None)[: max(3, len(rest))]
    y = make(*[_part(arg, memo) for arg in args])
    _refuse_iterators(y)
    if memo is not None:
        memo[id(x)] = y
    if state is not None:
        if setter and setter[0] is not None:
            setter[0](y, _part(state, memo))
        else:
            _set_state(y, _part(state, memo))
    if items is not None:
        for item in items:
            y.append(_part(item, memo))
    if pairs is not None:
        for key, item in pairs:
            y[_part(key, memo)] = _part(item, memo)
    return y


# ---- facts about classes -------------------------------------------------------------------------


def _is_atom(cls: type, atoms: frozenset[type]) -> bool:
    return cls in atoms or issubclass(cls, type)


def _in_python(cls: type, name: str) -> bool:
    return type(getattr(cls, name, None)) is types.FunctionType


def _is_python_class(cls: Any) -> bool:
    """Return whether ``object.__reduce_ex__`` takes its objects apart: no C base overrides it."""
    return (
        bool(cls.__flags__ & (1 << 9))  # Py_TPFLAGS_HEAPTYPE
        and any("__module__" in vars(base) for base in cls.__mro__)
        and cls.__reduce__ is object.__reduce__
        and cls.__reduce_ex__ is object.__reduce_ex__
    )


def _slots(cls: type) -> list[str]:
    return copyreg._slotnames(cls)  # type: ignore[attr-defined,no-any-return]


def _refuse_iterators(x: Any) -> None:
    """Refuse iterators, because the steps of the copy and of the original would undo each other."""
    if not isinstance(x, ActiveIterator):
        return
    kind = x.__class__
    if kind is types.GeneratorType:
        raise TypeError("cannot pickle 'generator' object")  # Python's own message
    raise refused(
        f"an iterator of type '{kind.__name__}' is copied inside differentiated code",
        "use itertools.tee, or make a list of the elements",
    )


non_differentiable(_is_atom, _in_python, _is_python_class, _slots, _refuse_iterators)
