"""Functions that write classes: what they make is source code, which they execute themselves.

They run as they are; what remains to be said is where the defaults of fields come from.
"""

from __future__ import annotations

import collections
import dataclasses
import sys
from collections.abc import Callable
from typing import Any

from adjoint.rules.registry import primitive, structural
from adjoint.run.dispatch import call_function, linked
from adjoint.run.functions import place_of
from adjoint.run.memory import Memory

# As values: what is passed on is not known when types are checked.
_namedtuple: Any = collections.namedtuple
_process: Any = vars(dataclasses)["_process_class"]
_make: Any = dataclasses.make_dataclass

Structural = tuple[Any, Callable[..., tuple[Any, ...]]]


def _caller_module() -> str:
    """The module of the user's code that is running: these functions look for it in the frames."""
    frame = sys._getframe(1)
    while frame is not None and place_of(frame.f_code, frame.f_lineno) is None:
        frame = frame.f_back  # type: ignore[assignment]
    return "__main__" if frame is None else str(frame.f_globals.get("__name__", "__main__"))


@structural(collections.namedtuple)
def _named_tuple(
    memory: Memory,
    typename: Any,
    field_names: Any,
    *,
    rename: Any = False,
    defaults: Any = None,
    module: Any = None,
) -> Any:
    if defaults is not None and not isinstance(defaults, list | tuple):
        return NotImplemented
    module = _caller_module() if module is None else module
    made = _namedtuple(typename, field_names, rename=rename, defaults=defaults, module=module)

    def named_tuple_back(_: Any) -> tuple[Any, ...]:
        for i, name in enumerate(made._field_defaults):
            memory.add_item(defaults, i, memory.take_entry(made._field_defaults, name))
        return (None,)

    return made, named_tuple_back


@primitive(_make)
def _make_dataclass(record: list[Any], slot: int, /, *args: Any, **kwargs: Any) -> Any:
    if "module" in kwargs or "module" not in _make.__kwdefaults__:  # before Python 3.12
        return call_function(record, slot, _make, args, kwargs)
    kwargs = {**kwargs, "module": _caller_module()}
    return linked(record, slot, lambda bars: bars[:-1], call_function, _make, args, kwargs)


@structural(_process)
def _process_class(memory: Memory, cls: Any, *options: Any) -> Structural:
    """What ``@dataclass`` does: a default moves from the class to a field, or from the field that
    stands in the class to the class."""
    before = dict(vars(cls))
    inherited = {
        id(field)
        for base in cls.__mro__[1:]
        for field in vars(base).get("__dataclass_fields__", {}).values()
    }
    made = _process(cls, *options)

    def process_back(_: Any) -> tuple[Any, ...]:
        for name, field in made.__dataclass_fields__.items():
            if before.get(name) is field:
                memory.add_entry(field, "default", memory.take_entry(made, name))
            elif id(field) not in inherited:
                memory.add_entry(cls, name, memory.take_entry(field, "default"))
        if made is not cls:  # a copy with slots
            for key, bar in (memory.shadows.pop(id(made), None) or {}).items():
                memory.add_entry(cls, key, bar)
        return (None,)

    return made, process_back
