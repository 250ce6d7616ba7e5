"""Selection of the arguments to differentiate in: by position, name or path in containers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adjoint.errors import ArgumentError

Argnums = int | np.integer[Any] | str | list[Any] | tuple[Any, ...] | None
"""A position, a parameter name, a path ``[position or name, key, …]`` into containers, or a tuple
of such; ``None`` stands for all positional arguments."""


@dataclass(frozen=True)
class Selection:
    """A call, and the positional arguments of it to differentiate in.

    Attributes
    ----------
    f, args, kwargs
        The call, with the chosen keyword arguments moved to the last positions.
    function, given, names
        The original call: the function, all arguments, and the names of the last of them.
    moved
        The names of the chosen keyword arguments.
    targets
        The position of each chosen argument, and the path inside it.
    single
        Whether one argument is chosen, not a tuple.
    """

    f: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    targets: tuple[tuple[int, tuple[Any, ...]], ...]
    single: bool
    function: Callable[..., Any]
    given: tuple[Any, ...]
    names: tuple[str, ...]
    moved: tuple[str, ...] = ()

    @property
    def wanted(self) -> tuple[int, ...]:
        """Return the chosen positions, each once."""
        return tuple(dict.fromkeys(position for position, _ in self.targets))

    @property
    def places(self) -> tuple[int, ...]:
        """Return the places of the chosen arguments in `given`."""
        first = len(self.given) - len(self.names)
        at = [*range(first), *(first + self.names.index(name) for name in self.moved)]
        return tuple(at[position] for position in self.wanted)

    @property
    def has_parts(self) -> bool:
        """Return whether parts of arguments, or one argument twice, are chosen."""
        return len(self.wanted) < len(self.targets) or any(path for _, path in self.targets)

    def bars(self, found: Sequence[Any]) -> tuple[Any, ...]:
        """Pick the cotangents of the chosen arguments from those of the function and all
        arguments."""
        return tuple(found[1 + position] for position in self.wanted)

    def result(self, found: Mapping[int, Any]) -> Any:
        """Return the chosen parts of the values that `found` has for each position."""
        parts = [inside(found[position], path) for position, path in self.targets]
        return parts[0] if self.single else tuple(parts)


def select(
    f: Callable[..., Any], argnums: Argnums, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Selection:
    """Find the arguments that `argnums` names.

    Raises
    ------
    ArgumentError
        There is no such argument, or nothing at a path.
    """
    call = f, (*args, *kwargs.values()), tuple(kwargs)
    if argnums is None:
        single = len(args) == 1
        return Selection(f, args, kwargs, tuple((i, ()) for i in range(len(args))), single, *call)
    asked = argnums if isinstance(argnums, tuple) else (argnums,)
    names: list[str] = []
    targets = []
    for one in asked:
        place, *path = one if isinstance(one, list) and one else [one]
        position = _position(f, place, len(args), kwargs, names)
        value = args[position] if position < len(args) else kwargs[names[position - len(args)]]
        for step in path:
            value = _part(value, step, one)
        targets.append((position, tuple(path)))
    single = not isinstance(argnums, tuple)
    if not names:
        return Selection(f, args, kwargs, tuple(targets), single, *call)
    rest = {name: value for name, value in kwargs.items() if name not in names}
    args = (*args, *(kwargs[name] for name in names))
    by_name = _by_name(f, names, tuple(kwargs))
    return Selection(by_name, args, rest, tuple(targets), single, *call, tuple(names))


def positions(
    f: Callable[..., Any], argnums: Argnums, count: int, kwargs: dict[str, Any]
) -> tuple[int, ...] | None:
    """Return the positions of the arguments that `argnums` names, with all keyword arguments last;
    ``None`` if it names parts, one argument twice, or all positional ones.

    Raises
    ------
    ArgumentError
        There is no such argument.
    """
    if argnums is None:
        return None
    asked = argnums if isinstance(argnums, tuple) else (argnums,)
    asked = tuple(one[0] if isinstance(one, list) and len(one) == 1 else one for one in asked)
    if any(isinstance(one, list) for one in asked):
        return None
    names = [*kwargs]
    found = tuple(_position(f, place, count, kwargs, names) for place in asked)
    return found if len({*found}) == len(found) else None


def _position(f: Any, place: Any, count: int, kwargs: dict[str, Any], names: list[str]) -> int:
    """Return the position of an argument after the chosen keyword arguments, `names`, have been
    moved to the end."""
    if isinstance(place, str):
        if place in kwargs:
            if place not in names:
                names.append(place)
            return count + names.index(place)
        position = _parameters(f).get(place)
        if position is not None and position < count:
            return position
        raise ArgumentError(
            f"argnums is {place!r}, but no argument of that name is given among"
            f" {count} positional and {len(kwargs)} keyword arguments",
            hint="argnums counts positional arguments from 0, or names a parameter or a keyword"
            " argument that is given",
        )
    whole = isinstance(place, int | np.integer) and not isinstance(place, bool)
    if not whole or not -count <= place < count:
        raise ArgumentError(
            f"argnums is {place!r}, but there are {count} positional arguments",
            hint="argnums counts positional arguments from 0; keyword arguments are constant,"
            " unless they are named: argnums='name'",
        )
    return int(place) % count


def _parameters(f: Any) -> dict[str, int]:
    """Return the positions of the parameters that may be given by position."""
    try:
        signature = inspect.signature(f)
    except (TypeError, ValueError):
        return {}
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    named = [name for name, one in signature.parameters.items() if one.kind in kinds]
    return {name: i for i, name in enumerate(named)}


def _by_name(f: Callable[..., Any], moved: list[str], names: tuple[str, ...]) -> Callable[..., Any]:
    """Return a function that passes its last positional arguments to `f` by name, in the original
    order of names, on which `f` may depend."""
    count = len(moved)

    def call(*args: Any, **kwargs: Any) -> Any:
        named = {**dict(zip(moved, args[-count:], strict=True)), **kwargs}
        return f(*args[:-count], **{name: named[name] for name in names})

    call.__name__ = getattr(f, "__name__", type(f).__name__)
    return call


def _part(value: Any, step: Any, path: Any) -> Any:
    try:
        if isinstance(value, Mapping | list | tuple):
            return value[step]
        if isinstance(step, str):
            return getattr(value, step)
    except (LookupError, AttributeError, TypeError):
        pass
    raise ArgumentError(
        f"argnums is {path!r}, but a {type(value).__name__} has no part {step!r}",
        hint="a path is a list: the position or name of an argument, then keys, indices and"
        " attributes",
    )


def inside(bar: Any, path: tuple[Any, ...]) -> Any:
    """Return the part of a cotangent at a path."""
    for step in path:
        if bar is None:
            return None
        bar = bar[step]
    return bar


def copied_containers(argnums: Argnums) -> Argnums:
    """Copy `argnums`, so that later changes of a path have no effect."""
    if isinstance(argnums, tuple):
        return tuple(map(copied_containers, argnums))
    return [*argnums] if isinstance(argnums, list) else argnums


def split_aux(f: Any, y: Any, has_aux: bool) -> tuple[Any, Any]:
    """Split a result into the part that is differentiated and the extra."""
    if not has_aux:
        return y, None
    if not isinstance(y, tuple) or len(y) != 2:
        raise ArgumentError(
            f"'{getattr(f, '__name__', type(f).__name__)}' returned a {type(y).__name__}; with"
            " has_aux it returns a pair",
            hint="return (value, extra)",
        )
    return y[0], y[1]
