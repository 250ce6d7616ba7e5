"""The decorator of the classes of the IR."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, TypeVar, dataclass_transform, overload

T = TypeVar("T")


@overload
def node(cls: type[T]) -> type[T]: ...


@overload
def node(*, eq: bool) -> Callable[[type[T]], type[T]]: ...


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def node(cls: type[T] | None = None, *, eq: bool = True) -> Any:
    """Make a frozen dataclass with slots; without `eq`, instances compare by identity.

    Lowering one source line builds some fifteen nodes. The constructor of `dataclass` looks each
    slot up by name, which takes twice the time of the slot setters used here.
    """
    if cls is None:
        return lambda cls: _node(cls, eq)
    return _node(cls, eq)


def _node(cls: type[T], eq: bool) -> type[T]:
    made: Any = dataclass(frozen=True, slots=True, init=False, eq=eq)(cls)
    parameters, writes = ["self"], ["pass"]
    scope: dict[str, Any] = {}
    for part in fields(made):
        name = part.name
        scope[f"set_{name}"] = getattr(made, name).__set__
        writes.append(f"set_{name}(self, {name})")
        if part.default is MISSING:
            parameters.append(name)
        else:
            scope[f"default_{name}"] = part.default
            parameters.append(f"{name}=default_{name}")
    scope["__name__"] = cls.__module__
    exec(f"def __init__({', '.join(parameters)}): {'; '.join(writes)}", scope)
    made.__init__ = scope["__init__"]
    made.__init__.__qualname__ = f"{cls.__qualname__}.__init__"
    return made  # type: ignore[no-any-return]
