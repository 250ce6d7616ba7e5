"""Values that existed before a foreign run, which have tangents, and values created in it."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator
from types import CellType, CodeType, FrameType, FunctionType
from typing import Any

import numpy as np

from adjoint.primal.code_owner import is_user_code
from adjoint.primal.container_contents import elements_of, entries_of
from adjoint.primal.reachability import names_in, parts_of
from adjoint.primal.value_kinds import by_value, content_of, fields_of, has_slots
from adjoint.runtime.memory.saved import COMPARED_BY_IDENTITY
from adjoint.runtime.memory.saved_containers import slots

_MOST = 10_000
"""The most values noted; numbers beyond count as new."""


def earlier_values(frame: FrameType | None, held: Iterable[Any]) -> dict[int, Any]:
    """Return, by identity: `held`, the values and constants that the function in `frame` and the
    user functions found there name, and the contents of all of these."""
    found, seen = [*held], set[int]()
    if frame is not None:
        found += _named_in(frame.f_code, frame.f_globals)
    waiting = deque(f for f in found if type(f) is FunctionType)
    while waiting and len(found) < _MOST:
        f = waiting.popleft()
        if id(f) in seen or not is_user_code(f.__code__, f.__globals__):
            continue
        seen.add(id(f))
        more = [*map(content_of, f.__closure__ or ()), *_named_in(f.__code__, f.__globals__)]
        found += more
        waiting += [value for value in more if type(value) is FunctionType]
    for owner in found[:_MOST]:
        if len(found) < 2 * _MOST:
            found += _standing_in(owner)
    return {id(value): value for value in found}


def _named_in(code: CodeType, namespace: dict[str, Any]) -> list[Any]:
    return [*(namespace.get(name) for name in names_in(code)), *code.co_consts]


def _standing_in(owner: Any) -> Iterable[Any]:
    kind = type(owner)
    if issubclass(kind, list | tuple | deque):
        return elements_of(owner)
    if issubclass(kind, dict):
        return () if "__builtins__" in owner else [item for _, item in entries_of(owner)]
    if issubclass(kind, np.ndarray) and owner.dtype.kind == "O":
        return np.asarray(owner).ravel().tolist()
    if kind is CellType:
        return [content_of(owner)]
    if by_value(owner) or issubclass(kind, np.ndarray):
        return ()
    named = [*(fields_of(owner) or {}).values()]
    return [*named, *slots(owner)] if has_slots(kind) else named


def twice_in(
    frame: FrameType, held: Iterable[Any], modules: Iterable[dict[str, Any]]
) -> dict[int, Any]:
    """Return, by identity, the numbers that the function in `frame` reaches at several places: it
    may store one of them where it is already."""
    found = [*frame.f_locals.values()]
    for space in (frame.f_globals, *modules):
        found += [space.get(name) for name in names_in(frame.f_code)]
    found += [value for owner in held for value in _standing_in(owner)]
    found += [value for owner in held if isinstance(owner, type) for value in vars(owner).values()]
    numbers = [value for value in found if type(value) in COMPARED_BY_IDENTITY]
    counts = Counter(map(id, numbers))
    return {id(value): value for value in numbers if counts[id(value)] > 1}


def created_in(values: Iterable[Any], before: Collection[int]) -> Iterator[Any]:
    """Yield what `values` hold, themselves included, that did not exist `before` (by identity). The
    contents of earlier values are not searched."""
    waiting, seen = [*values], set[int]()
    while waiting:
        owner = waiting.pop()
        if id(owner) in before or id(owner) in seen:
            continue
        seen.add(id(owner))
        yield owner
        if not by_value(owner):
            waiting += [item for _, item, _ in parts_of(owner)]
