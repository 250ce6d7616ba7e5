"""Rules of `enum`: its source is differentiated, except for the look-up of a member by value.

A look-up only compares values, so the member has no derivative with respect to the value.
"""

from __future__ import annotations

import enum
from typing import Any

from adjoint.diagnostics.user_place import current_module
from adjoint.rulekit.registry import primitive
from adjoint.runtime.dispatch.linked import linked
from adjoint.runtime.dispatch.source_call import call_function
from adjoint.runtime.foreign.native_call import run_monitored

_call: Any = vars(enum.EnumMeta)["__call__"]


@primitive(_call)
def _called(record: list[Any], slot: int, /, cls: Any, *args: Any, **kwargs: Any) -> Any:
    """Look up ``Color("red")``, or make a class by ``Enum("Color", names)``."""
    if not cls._member_map_:
        if "module" in kwargs or (len(args) < 2 and not kwargs):
            return NotImplemented
        # EnumMeta would read the module from the frame of its caller.
        kwargs["module"] = current_module()
        return linked(record, slot, _all_but_last, call_function, _call, (cls, *args), kwargs)
    if any("_missing_" in vars(base) for base in cls.__mro__ if base.__module__ != "enum"):
        return NotImplemented
    return run_monitored(record, slot, cls, _looked_up, (cls, *args), kwargs)


def _looked_up(cls: Any, /, *args: Any, **kwargs: Any) -> Any:
    return cls(*args, **kwargs)


def _all_but_last(bars: tuple[Any, ...]) -> tuple[Any, ...]:
    return bars[:-1]
