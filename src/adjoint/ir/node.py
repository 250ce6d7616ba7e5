"""The decorator of the classes of the IR, and of other records."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError, dataclass, field, fields
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
    slot up by name, which takes twice the time of the slot setters used here. `dataclass` also
    compiles six methods, one by one; here, what differs between classes is compiled at once, in a
    third of the time, which counts in the import of the library. There are no factories of
    defaults and no `__post_init__`.
    """
    if cls is None:
        return lambda cls: _node(cls, eq)
    return _node(cls, eq)


def _node(cls: type[T], eq: bool) -> type[T]:
    own = vars(cls)
    cls.__doc__ = cls.__doc__ or cls.__name__  # else `dataclass` writes one, from a signature
    made: Any = dataclass(slots=True, init=False, repr=False, eq=False)(cls)
    scope: dict[str, Any] = {"__name__": cls.__module__}
    exec(_init(made, scope) + (_comparison(made) if eq else ""), scope)
    for name in ("__init__", "__eq__", "__hash__"):
        if name in scope and name not in own:
            scope[name].__qualname__ = f"{cls.__qualname__}.{name}"
            setattr(made, name, scope[name])
    for method in (__repr__, __setattr__, __delattr__, __reduce__):
        if method.__name__ not in own:
            setattr(made, method.__name__, method)
    return made  # type: ignore[no-any-return]


def _init(made: Any, scope: dict[str, Any]) -> str:
    """Return the text of the constructor; put what it reads into `scope`."""
    parameters, writes = ["self"], ["pass"]
    for part in fields(made):
        name = part.name
        scope[f"set_{name}"] = getattr(made, name).__set__
        writes.append(f"set_{name}(self, {name})")
        if part.default is MISSING:
            parameters.append(name)
        else:
            scope[f"default_{name}"] = part.default
            parameters.append(f"{name}=default_{name}")
    return f"def __init__({', '.join(parameters)}): {'; '.join(writes)}\n"


def _comparison(made: Any) -> str:
    names = [part.name for part in fields(made) if part.compare]
    mine, others = ("".join(f"{owner}.{name}, " for name in names) for owner in ("self", "other"))
    return (
        f"def __eq__(self, other):\n"
        f"    same = other.__class__ is self.__class__\n"
        f"    return ({mine}) == ({others}) if same else NotImplemented\n"
        f"def __hash__(self): return hash(({mine}))\n"
    )


def __repr__(self: Any) -> str:
    parts = ", ".join(f"{part.name}={getattr(self, part.name)!r}" for part in fields(self))
    return f"{type(self).__qualname__}({parts})"


def __setattr__(self: Any, name: str, value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def __delattr__(self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def __reduce__(self: Any) -> tuple[Any, ...]:
    return type(self), tuple(getattr(self, part.name) for part in fields(self))
