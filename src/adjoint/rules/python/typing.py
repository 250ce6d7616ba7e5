"""Substitutes for `typing`: functions that return an argument, and calls of generic classes."""

from __future__ import annotations

import typing
from typing import Any

from adjoint.rulekit.registry import substitute
from adjoint.rules.python.class_decorators import made_by

_ALIAS: Any = vars(typing)["_BaseGenericAlias"]


@substitute(typing.cast)
def cast(typ: Any, val: Any) -> Any:
    return val


@substitute(typing.assert_type)
def assert_type(val: Any, typ: Any) -> Any:
    return val


@substitute(_ALIAS.__call__)
def instance_of(alias: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Call a generic alias: ``Stack[float](...)``."""
    if not alias._inst:
        name = alias.__origin__.__name__
        raise TypeError(f"Type {alias._name} cannot be instantiated; use {name}() instead")
    return made_by(alias, *args, **kwargs)


@substitute((typing.NewType, "__call__"))
def new_type(new: Any, value: Any, /) -> Any:
    return value
