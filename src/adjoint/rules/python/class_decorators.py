"""Functions that generate classes (`namedtuple`, `dataclass`), and calls of generic aliases.

The generators execute source text that they write. They run undifferentiated; their rules pass on
the cotangents of the defaults of fields.
"""

from __future__ import annotations

import collections
import dataclasses
import inspect
import re
import types
from types import FunctionType
from typing import Any

from adjoint.diagnostics.user_place import current_module
from adjoint.primal.special_methods import class_attribute
from adjoint.primal.value_kinds import defined_by
from adjoint.rulekit.registry import primitive, structural, substitute
from adjoint.runtime.dispatch.linked import linked
from adjoint.runtime.dispatch.source_call import call_function
from adjoint.runtime.memory.memory import Memory
from adjoint.runtime.python.class_creation import class_refused, move_default_cotangents

# Typed as Any, because the arguments passed on are not known statically.
_namedtuple: Any = collections.namedtuple
_process: Any = vars(dataclasses)["_process_class"]
_make: Any = dataclasses.make_dataclass


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
    module = current_module() if module is None else module
    made = _namedtuple(typename, field_names, rename=rename, defaults=defaults, module=module)

    def named_tuple_back(_: Any) -> tuple[Any, ...]:
        move_default_cotangents(memory, made, made._field_defaults)
        for i, name in enumerate(made._field_defaults):
            memory.add_item(defaults, i, memory.take_entry(made._field_defaults, name))
        return (None,)

    return made, named_tuple_back


@primitive(_make)
def _make_dataclass(record: list[Any], slot: int, /, *args: Any, **kwargs: Any) -> Any:
    if "module" in kwargs or "module" not in _make.__kwdefaults__:  # before Python 3.12
        return call_function(record, slot, _make, args, kwargs)
    kwargs = {**kwargs, "module": current_module()}
    return linked(record, slot, lambda bars: bars[:-1], call_function, _make, args, kwargs)


@primitive(_process)
def _process_class(record: list[Any], slot: int, cls: Any, *options: Any) -> Any:
    """Run ``@dataclass``: a default moves from the class to a field, or from a field that is an
    attribute of the class to the class.
    """
    memory: Memory = record[0]
    for name in inspect.get_annotations(cls):
        if type(defined_by(type(class_attribute(cls, name)), "__get__")) is FunctionType:
            raise class_refused(cls.__name__, f"a descriptor gives the default of {name!r}")
    before = dict(vars(cls))
    inherited = {
        id(field)
        for base in cls.__mro__[1:]
        for field in vars(base).get("__dataclass_fields__", {}).values()
    }
    made = _process(cls, *options)

    def process_back(_: Any) -> tuple[Any, ...]:
        if vars(made).get("__init__") is not before.get("__init__"):
            _move_to_fields(memory, made.__init__, made.__dataclass_fields__)
        for name, field in made.__dataclass_fields__.items():
            if before.get(name) is field:
                memory.add_entry(field, "default", memory.take_entry(made, name))
            elif id(field) not in inherited:
                memory.add_entry(cls, name, memory.take_entry(field, "default"))
        if made is not cls:  # a copy with slot attributes
            for key, bar in (memory.shadows.pop(id(made), None) or {}).items():
                memory.add_entry(cls, key, bar)
        return (None,) * (len(options) + 2)

    record[slot] = process_back
    return made


def _move_to_fields(memory: Memory, init: Any, fields: dict[str, Any]) -> None:
    """Move cotangents from the defaults of a generated ``__init__`` to those of the fields."""
    code, defaults, named = init.__code__, init.__defaults__ or (), init.__kwdefaults__ or {}
    names = code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount]
    bars = dict(zip(names, memory.take_items(defaults, len(defaults)), strict=True))
    bars.update((name, memory.take_entry(named, name)) for name in named)
    for name, cell in zip(code.co_freevars, init.__closure__ or (), strict=True):
        field = _DEFAULT_OF.fullmatch(name)
        if field is not None:  # a field whose default is not a parameter
            bars[field[1]] = memory.take_entry(cell, None)
    for name, bar in bars.items():
        if name in fields:
            memory.add_entry(fields[name], "default", bar)


_DEFAULT_OF = re.compile(r"(?:__dataclass)?_dflt_(.+?)(?:__)?")


@substitute((types.SimpleNamespace, "__init__"))
def _(self: Any, /, *mapping: Any, **fields: Any) -> None:
    """Initialize an object of a derived class."""
    if mapping:  # from Python 3.13 on
        fields = {**dict(*mapping), **fields}
    vars(self).update(fields)


@substitute((types.GenericAlias, "__call__"))
def made_by(alias: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Call a generic alias: ``list[float](...)``."""
    made = alias.__origin__(*args, **kwargs)
    try:
        made.__orig_class__ = alias
    except (AttributeError, TypeError):
        return made
    return made


# ---- unions of classes ---------------------------------------------------------------------------


def _uniting(f: Any) -> None:
    @primitive(f)
    def run(record: list[Any], slot: int, a: Any, b: Any, /) -> Any:
        return f(a, b)


for _kind in (type, types.GenericAlias, types.UnionType):
    for _name in ("__or__", "__ror__"):
        _uniting(vars(_kind)[_name])
