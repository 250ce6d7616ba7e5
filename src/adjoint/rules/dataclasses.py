"""The ``__init__`` that `dataclasses` writes, as source that can be read."""

from __future__ import annotations

import dataclasses
from typing import Any

__all__ = ["initialise"]


def initialise(self: Any, /, *args: Any, **kwargs: Any) -> None:
    fields = _init_fields(type(self))
    positional = [field for field in fields if not field.kw_only]
    if len(args) > len(positional):
        raise TypeError(
            f"{type(self).__name__}.__init__() takes {len(positional) + 1} positional arguments but"
            f" {len(args) + 1} were given"
        )
    values = {}
    for field, value in zip(positional, args, strict=False):
        values[field.name] = value
    for name, value in kwargs.items():
        if name in values:
            raise TypeError(
                f"{type(self).__name__}.__init__() got multiple values for argument {name!r}"
            )
        if not any([field.name == name for field in fields]):
            raise TypeError(
                f"{type(self).__name__}.__init__() got an unexpected keyword argument {name!r}"
            )
        values[name] = value
    late = []
    for field, kind, is_init in _all_fields(type(self)):
        if is_init and field.name in values:
            value = values[field.name]
        elif field.default is not dataclasses.MISSING:
            value = field.default
        elif field.default_factory is not dataclasses.MISSING:
            value = field.default_factory()
        elif is_init:
            raise TypeError(
                f"{type(self).__name__}.__init__() missing 1 required positional argument:"
                f" {field.name!r}"
            )
        else:
            continue
        if kind == "initvar":
            late.append(value)
        else:
            _set(self, field.name, value)
    if hasattr(self, "__post_init__"):
        self.__post_init__(*late)


def _set(self: Any, name: str, value: Any) -> None:
    object.__setattr__(self, name, value)


def _init_fields(cls: Any) -> Any:
    return [field for field, _, is_init in _all_fields(cls) if is_init]


def _all_fields(cls: Any) -> Any:
    """The fields in the order of the signature, with whether they are passed on only and whether
    they are given."""
    found = []
    for field in cls.__dataclass_fields__.values():
        kind = field._field_type.name
        if kind != "_FIELD_CLASSVAR":
            found.append((field, "initvar" if kind == "_FIELD_INITVAR" else "field", field.init))
    return found
