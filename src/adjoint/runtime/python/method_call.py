"""Calls of methods by name, as one operation, so that methods of builtin types have rules."""

from __future__ import annotations

from functools import partial
from types import ClassMethodDescriptorType, FunctionType, ModuleType
from typing import Any

from numpy import ndarray, ufunc

from adjoint.primal.container_contents import ABSENT
from adjoint.primal.special_methods import C_METHODS, class_attribute, is_cython
from adjoint.rulekit.registry import entry, method_rules
from adjoint.runtime.arrays import writes
from adjoint.runtime.arrays.overrides import UFUNC_METHODS, ufunc_override
from adjoint.runtime.dispatch.call import call, call_keywords, call_trusted
from adjoint.runtime.dispatch.linked import DECLINED, NO_KEYWORDS, linked
from adjoint.runtime.dispatch.rule_call import run_rules
from adjoint.runtime.memory.log_entries import swap_end
from adjoint.runtime.memory.memory import Memory
from adjoint.runtime.python.attribute_reads import attribute

_APPEND = entry((list, "append"))


def _append(record: list[Any], slot: int, xs: list[Any], value: Any) -> None:
    """Lane of ``list.append``."""
    memory: Memory = record[0]
    xs.append(value)
    written = [swap_end, xs.append, xs.pop, ABSENT]
    record[slot] = partial(_append_back, memory, xs, memory.log(written), written)


def _append_back(
    memory: Memory, xs: list[Any], position: int, written: list[Any], _: Any
) -> tuple[Any, ...]:
    memory.undo(position, written)
    shadow = memory.shadows.get(id(xs))
    return None, None, None if shadow is None else shadow.pop()


def method(record: list[Any], slot: int, obj: Any, name: str, *args: Any) -> Any:
    """``obj.name(*args)``; the pullback returns ``(None, obj_bar, *arg_bars)``."""
    if name == "append" and type(obj) is list and len(args) == 1:
        if not _APPEND.overridden and not _APPEND.inactive:
            return _append(record, slot, obj, args[0])
    if type(obj) is ndarray:
        y = call_trusted(record, slot, (ndarray, name), (obj, *args))
        if y is not DECLINED:
            return y
    static = class_attribute(type(obj), name)
    if (
        type(static) is FunctionType
        and not issubclass(type(obj), type)
        and name not in getattr(obj, "__dict__", ())
    ):
        return call(record, slot, static, obj, *args)
    return method_keywords(record, slot, obj, name, args, NO_KEYWORDS)


def method_keywords(
    record: list[Any], slot: int, obj: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """``obj.name(*args, **kwargs)``."""
    kind = type(obj)
    if kind is ModuleType:
        return linked(
            record,
            slot,
            lambda bars: (None, *bars),
            call_keywords,
            getattr(obj, name),
            args,
            kwargs,
        )
    if kind is ufunc and name in UFUNC_METHODS:
        y = linked(
            record,
            slot,
            lambda bars: (None, None, *bars[1:]),
            ufunc_override,
            obj,
            name,
            args,
            kwargs,
        )
        if y is not DECLINED:
            return y
    static = (
        class_attribute(kind, name) if not issubclass(kind, type) and kind is not super else None
    )
    if type(static) is FunctionType:
        if name not in getattr(obj, "__dict__", ()):
            return call_keywords(record, slot, static, (obj, *args), kwargs)
    elif (type(static) in C_METHODS and type(static) is not ClassMethodDescriptorType) or is_cython(
        static
    ):
        rules = method_rules(kind, name)
        if rules is not None:
            y = run_rules(record, slot, static, rules, (obj, *args), kwargs)
            if y is not DECLINED:
                return y
    read: list[Any] = [record[0], None]
    f = attribute(read, 1, obj, name)

    def combine(bars: tuple[Any, ...]) -> tuple[Any, ...]:
        # The cotangent of `f` is in memory; if `f` is bound to a number or an array, this reads it.
        obj_bar = read[1](None)[1] if read[1] is not None else None
        return (None, obj_bar, *bars[1:])

    return linked(record, slot, combine, call_keywords, f, args, kwargs)


writes.method = method
