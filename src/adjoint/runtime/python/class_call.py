"""Calls of classes: ``__new__`` and ``__init__`` as differentiated code."""

from __future__ import annotations

import enum
import types
from collections import deque
from types import BuiltinFunctionType, FunctionType
from typing import Any

from adjoint.cotangents.accumulate import accumulate
from adjoint.primal.compiled_functions import refuse_compiled_containers
from adjoint.primal.container_contents import args_of
from adjoint.primal.special_methods import quick_special_of
from adjoint.primal.value_kinds import by_value
from adjoint.rulekit.registry import lookup, method_rules, primitive
from adjoint.runtime.dispatch.call import call_keywords
from adjoint.runtime.dispatch.inert_packages import is_inert
from adjoint.runtime.dispatch.linked import DECLINED, linked
from adjoint.runtime.dispatch.plain_numbers import plain_on
from adjoint.runtime.dispatch.rule_call import run_rules
from adjoint.runtime.foreign.freed_objects import check_finalizer
from adjoint.runtime.foreign.native_call import run_monitored
from adjoint.runtime.foreign.unknown_call import run_unknown
from adjoint.runtime.foreign.user_code_reach import has_code
from adjoint.runtime.memory.memory import Memory
from adjoint.runtime.python.caught_exceptions import bars_of_args
from adjoint.runtime.python.class_creation import make_class
from adjoint.runtime.python.variables import mark_namespace


def construct(
    record: list[Any],
    slot: int,
    cls: type,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    *,
    by_metaclass: bool = True,
) -> Any:
    """Run ``cls(*args, **kwargs)``, `by_metaclass` by a ``__call__`` of the metaclass in Python."""
    rules = lookup(cls)
    if rules is not None:
        y = run_rules(record, slot, cls, rules, args, kwargs)
        if y is not DECLINED:
            return y
    if issubclass(cls, type):
        return make_class(cls, record, slot, args, kwargs)
    check_finalizer(cls)
    meta_call = type(cls).__call__
    refuse_compiled_containers(cls.__module__, cls)
    if is_inert(cls):
        why = f"belongs to '{cls.__module__.partition('.')[0]}', which is left alone"
        return run_unknown(record[0], record, slot, cls, args, kwargs, why, trusted=True)
    if by_metaclass and type(meta_call) is FunctionType and not issubclass(cls, enum.Enum):
        return linked(record, slot, _without_self, call_keywords, meta_call, (cls, *args), kwargs)
    if issubclass(cls, enum.Enum):
        if has_code(cls):
            return run_monitored(record, slot, cls, cls, args, kwargs)
        return cls(*args, **kwargs)
    if (
        issubclass(cls, tuple)
        and _is_generated_tuple(cls)
        and type(getattr(cls, "__init__", None)) is not FunctionType
    ):
        return _named_tuple(record, slot, cls, args, kwargs)
    if cls.__flags__ & (1 << 20):  # Py_TPFLAGS_IS_ABSTRACT
        return cls(*args, **kwargs)
    if type(cls.__new__) is not BuiltinFunctionType:
        return _by_new(record, slot, cls, args, kwargs)
    if cls.__new__ is object.__new__ and _has_init(cls):
        return _init(record, slot, object.__new__(cls), cls, args, kwargs)
    return _of_builtin_base(record, slot, cls, args, kwargs)


@primitive((type, "__call__"))
def _call_class(record: list[Any], slot: int, /, *args: Any, **kwargs: Any) -> Any:
    """Run ``type.__call__(cls, …)``, without a ``__call__`` of the metaclass."""
    if not args or not isinstance(args[0], type):
        return NotImplemented
    return linked(record, slot, lambda bars: (None, *bars), _construct, args[0], args[1:], kwargs)


def _construct(
    record: list[Any], slot: int, cls: type, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    return construct(record, slot, cls, args, kwargs, by_metaclass=False)


def _has_init(cls: type) -> bool:
    return type(quick_special_of(cls, "__init__")) is FunctionType


def _without_self(bars: tuple[Any, ...]) -> tuple[Any, ...]:
    """Turn the cotangents of ``__init__(obj, *args)`` into those of ``cls(*args)``."""
    return (None, *bars[2:])


def _init(
    record: list[Any], slot: int, obj: Any, cls: type, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    init = quick_special_of(cls, "__init__")
    linked(record, slot, _without_self, call_keywords, init, (obj, *args), kwargs)
    return obj


def _by_new(
    record: list[Any], slot: int, cls: type, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    memory: Memory = record[0]
    inner: list[Any] = [memory, None, None]
    n = len(args) + len(kwargs) + 1

    def new_back(y_bar: Any) -> tuple[Any, ...]:
        first = inner[2](None) if inner[2] is not None else (None,) * n
        second = _without_self(inner[1](y_bar)) if inner[1] is not None else (None,) * n
        return tuple(map(accumulate, first, second))

    record[slot] = new_back
    obj = call_keywords(inner, 1, cls.__new__, (cls, *args), kwargs)
    if isinstance(obj, cls) and _has_init(type(obj)):
        _init(inner, 2, obj, type(obj), args, kwargs)
    return obj


def _make(cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return an instance without a ``__call__`` of the metaclass, which may be the caller."""
    if type(type(cls).__call__) is FunctionType:
        return type.__call__(cls, *args, **kwargs)
    return cls(*args, **kwargs)


def _is_generated_tuple(cls: type) -> bool:
    """Return whether ``cls.__new__`` was generated by `namedtuple`."""
    owner = next((base for base in cls.__mro__ if "__new__" in vars(base)), object)
    return "_field_defaults" in vars(owner)


def _named_tuple(
    record: list[Any], slot: int, cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Make a named tuple without lowering the generated ``__new__``."""
    memory: Memory = record[0]
    y = _make(cls, args, kwargs)
    places = [*range(len(args)), *(cls._fields.index(name) for name in kwargs)]
    taken = [i for i in range(len(y)) if i not in places]
    defaults = cls.__new__.__defaults__ or ()
    required = len(y) - len(defaults)

    def named_back(_: Any) -> tuple[Any, ...]:
        bars = memory.take_items(y, len(y))
        for place in taken:
            memory.add_item(defaults, place - required, bars[place])
        return (None, *(bars[place] for place in places))

    record[slot] = named_back
    return y


def _of_builtin_base(
    record: list[Any], slot: int, cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Make an instance of a builtin class or a subclass, such as an exception or a container."""
    memory: Memory = record[0]
    if cls is types.SimpleNamespace:
        return _simple_namespace(record, slot, args, kwargs)
    if issubclass(cls, float) and len(args) == 1 and not kwargs and by_value(args[0]):
        record[slot] = lambda y_bar: (None, y_bar)
        if not _has_init(cls):
            return _linked(memory, _make(cls, args, {}), float, args, kwargs)
        return _number(record, slot, cls, args)
    if issubclass(cls, complex) and cls is not complex and cls.__new__ is complex.__new__:
        if memory.level is not None:
            return _linked(memory, _make(cls, args, kwargs), complex, args, kwargs)
        call_keywords(record, slot, complex, args, kwargs)
        return _make(cls, args, kwargs)
    if issubclass(cls, BaseException):
        return _exception(record, slot, cls, args, kwargs)
    if _has_init(cls) and issubclass(cls, _FILLED_BY_INIT):
        return _init(record, slot, cls.__new__(cls), cls, args, kwargs)
    if cls.__new__ in _MADE_BY_NEW:
        return _by_new(record, slot, cls, args, kwargs)
    rules = method_rules(cls, "__init__")
    if rules is not None and issubclass(cls, _FILLED_BY_INIT):
        obj = cls.__new__(cls)
        init: Any = cls.__init__
        y = linked(record, slot, _without_self, run_rules, init, rules, (obj, *args), kwargs)
        if y is not DECLINED:
            return obj
    if not args and not kwargs:
        return _make(cls, (), {})
    if _has_init(cls) or type(type(cls).__call__) is FunctionType:
        return _by_new(record, slot, cls, args, kwargs)
    made = run_unknown(memory, record, slot, cls, args, kwargs)
    if cls is FunctionType:
        mark_namespace(memory, made.__globals__)
        if made.__defaults__:  # other functions of this code may have other defaults
            memory.globals_written[id(made), "__defaults__"] = made
    return made


_FILLED_BY_INIT = (list, dict, set, deque, types.SimpleNamespace)
_MADE_BY_NEW = (tuple.__new__, frozenset.__new__)


def _number(record: list[Any], slot: int, cls: Any, args: tuple[Any, ...]) -> Any:
    """Make a number whose class has an ``__init__``."""
    memory: Memory = record[0]
    inner: list[Any] = [memory, None]

    def number_back(y_bar: Any) -> tuple[Any, ...]:
        bars = inner[1](None) if inner[1] is not None else (None, None)
        return None, accumulate(y_bar, bars[1])

    record[slot] = number_back
    made = _linked(memory, cls.__new__(cls, *args), float, args, {})
    return _init(inner, 1, made, cls, args, {})


def _linked(
    memory: Memory, made: Any, base: type, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Return `made`, of a subclass of `base`, linked on a level to ``base(*args, **kwargs)``."""
    if memory.level is not None:
        plain = [plain_on(memory, arg) for arg in args]
        memory.level.link(made, memory.level.run(base, *plain, **kwargs))
    return made


def _exception(
    record: list[Any], slot: int, cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Make an exception, whose ``args`` ``__new__`` sets, and run its ``__init__``."""
    memory: Memory = record[0]
    inner: list[Any] = [memory, None]
    has_init = _has_init(cls)
    obj = cls.__new__(cls, *args, **kwargs) if has_init else _make(cls, args, kwargs)
    held = args_of(obj)

    def exception_back(_: Any) -> tuple[Any, ...]:
        bars = (None,) * (len(args) + len(kwargs) + 1)
        if inner[1] is not None:
            bars = inner[1](None)
        taken = bars_of_args(memory, obj, held, args)
        return (None, *map(accumulate, bars[1:], taken), *bars[len(args) + 1 :])

    record[slot] = exception_back
    return _init(inner, 1, obj, cls, args, kwargs) if has_init else obj


def _simple_namespace(
    record: list[Any], slot: int, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    memory: Memory = record[0]
    obj = types.SimpleNamespace(*args, **kwargs)
    fields = obj.__dict__

    def namespace_back(_: Any) -> tuple[Any, ...]:
        for source in args:  # a mapping (from Python 3.13 on)
            for name in source if isinstance(source, dict) else ():
                if name not in kwargs:
                    memory.add_entry(source, name, memory.take_entry(fields, name))
        return (None, *(None,) * len(args), *(memory.take_entry(fields, name) for name in kwargs))

    record[slot] = namespace_back
    return obj
