"""Creation of class objects by `type` and by metaclasses of libraries.

A class copies its namespace, so the cotangent of a class attribute belongs to the entry of the
namespace that holds the same object. No user code may run while a class is created: there is no
record of what it would compute.
"""

from __future__ import annotations

import builtins
import enum
import gc
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from adjoint.cotangents.poison import Poison
from adjoint.diagnostics.refusals import missing
from adjoint.diagnostics.user_place import current_module
from adjoint.errors import NoDerivativeError
from adjoint.primal.container_contents import ABSENT
from adjoint.primal.value_kinds import by_value
from adjoint.rulekit.registry import primitive
from adjoint.runtime.foreign.entry_monitor import EntryMonitor
from adjoint.runtime.foreign.unknown_call import _arrived
from adjoint.runtime.memory.active_iterator import STAND_IN_CLASSES, ActiveIterator
from adjoint.runtime.memory.class_shadow import class_dict
from adjoint.runtime.memory.log_entries import swap_with
from adjoint.runtime.memory.memory import Memory
from adjoint.runtime.memory.poisoning import poison


def class_refused(name: Any, why: str) -> NoDerivativeError:
    """Return the error for a class that cannot be made inside differentiated code."""
    return missing(
        f"the class {name!r} cannot be made inside differentiated code: {why}",
        "define the class outside of the differentiated function, and pass values to its methods",
    )


def without_user_code(name: Any, make: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Run a step of the creation of class `name`, which must not enter user code."""
    # `type` takes ``__module__`` from the globals of the calling frame.
    namespace = {"__name__": current_module(), "__builtins__": builtins}
    made, watch, collects = None, EntryMonitor(None), gc.isenabled()
    gc.disable()  # it might run code that has nothing to do with the class
    try:
        with watch:
            made = FunctionType(_call.__code__, namespace)(make, args, kwargs)
    except Exception:
        if not watch.ran:
            raise
    finally:
        if collects:
            gc.enable()
    if watch.ran:
        raise class_refused(name, "code of a base, a metaclass or an attribute runs meanwhile")
    return made


def _call(make: Any, args: Any, kwargs: Any) -> Any:
    return make(*args, **kwargs)


def make_class(
    make: Callable[..., Any], record: list[Any], slot: int, args: tuple[Any, ...], kwargs: Any
) -> Any:
    """Run ``make(…, name, bases, namespace, **kwargs)``."""
    memory: Memory = record[0]
    name = args[-3] if len(args) > 2 else "<unnamed>"  # a metaclass may take other arguments
    made = without_user_code(name, make, *args, **kwargs)
    namespace = args[-1]
    if isinstance(made, enum.EnumMeta) and issubclass(made, float | complex | np.generic):
        raise class_refused(name, "the members of this enumeration are new numbers")
    problem = Poison(
        class_refused(name, "a derivative is needed of a value that its metaclass stores elsewhere")
    )
    outside = frozenset(memory.exposed)

    def made_back(_: Any) -> tuple[Any, ...]:
        _move_cotangents(memory, made, namespace)
        bars: tuple[Any, ...] = (None,) * len(kwargs)
        if _arrived(memory, made, (make, *args), outside):
            for key, value in namespace.items():
                if by_value(value):
                    memory.add_entry(namespace, key, problem)
                elif isinstance(value, list | tuple | dict):
                    poison(memory, value, problem)
            bars = tuple(problem if by_value(value) else None for value in kwargs.values())
        return (*(None,) * (len(args) + 1), *bars)

    record[slot] = made_back
    memory.note(swap_with, _nothing, _nothing)  # the attributes of the class may be active
    return made


def _nothing() -> None:
    pass


def _move_cotangents(memory: Memory, made: type, namespace: Any) -> None:
    """Move the cotangents of class attributes to the entries of the namespace."""
    attributes = vars(made)
    # A named tuple keeps the defaults of its fields in a dictionary of its own.
    defaults = attributes.get("_field_defaults", {})
    move_default_cotangents(memory, made, defaults)
    for owner, values in ((made, attributes), (class_dict(made), attributes), (defaults, defaults)):
        shadow = memory.shadows.get(id(owner)) or {}
        for key in [*shadow]:
            if key in namespace and values.get(key, ABSENT) is dict.get(namespace, key):
                memory.add_entry(namespace, key, shadow.pop(key))


def move_default_cotangents(memory: Memory, made: Any, defaults: dict[str, Any]) -> None:
    """Move the cotangents of the defaults of a named tuple's ``__new__`` to its field defaults."""
    given = getattr(made.__new__, "__defaults__", None) or ()
    if defaults and len(given) == len(defaults):
        bars = memory.take_items(given, len(given))
        for name, bar in zip(defaults, bars, strict=True):
            memory.add_entry(defaults, name, bar)


# ---- calls by name -----------------------------------------------------------------------------


def _making(make: Callable[..., Any], key: Any) -> None:
    @primitive(key)
    def run(record: list[Any], slot: int, /, *args: Any, **kwargs: Any) -> Any:
        return make_class(make, record, slot, args, kwargs) if len(args) == 4 else NotImplemented


_making(type.__new__, (type, "__new__"))
_making(enum.EnumMeta.__new__, enum.EnumMeta.__new__)


@primitive(type)
def _type(record: list[Any], slot: int, /, *args: Any, **kwargs: Any) -> Any:
    if len(args) == 1:
        kind = type(args[0])
        stands_in = kind in STAND_IN_CLASSES or issubclass(kind, ActiveIterator)
        return args[0].__class__ if stands_in else kind
    return make_class(type, record, slot, args, kwargs) if len(args) == 3 else NotImplemented
