"""Transfer of cotangents from the first result of a call to the recomputed one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from adjoint.diagnostics.refusals import missing
from adjoint.primal.array_memory import root_of
from adjoint.primal.container_contents import compares_by_user_code
from adjoint.primal.value_kinds import (
    ATOMS,
    NUMBERS,
    fields_of,
    filled_slots,
    is_partly_c,
    is_plain_object,
)
from adjoint.runtime.memory.memory import Memory

_CONTAINERS = (list, tuple, dict)
_SAME = 1e-6
"""The accepted difference of a recomputed array, relative to its largest element: a library may sum
in another order."""


def can_move(y: Any) -> bool:
    """Return whether all parts of `y` with a cotangent can be found in an equal result."""
    seen: set[int] = set()
    stack = [y]
    while stack:
        value = stack.pop()
        kind = type(value)
        if kind in NUMBERS or kind in ATOMS or issubclass(kind, np.generic) or id(value) in seen:
            if callable(value):
                return False
            continue
        seen.add(id(value))
        if kind is np.ndarray:
            if value.dtype.kind not in "fciub" or root_of(value).base is not None:
                return False
        elif kind is dict:
            if any(map(compares_by_user_code, value)):
                return False
            stack += value.values()
        elif kind in (list, tuple) or (issubclass(kind, tuple) and hasattr(kind, "_fields")):
            stack += value
        elif is_plain_object(value) and "<locals>" in kind.__qualname__:
            return False  # a rerun may create the class again
        elif is_plain_object(value) and not is_partly_c(kind) and not issubclass(kind, _NO_RECORDS):
            stack += [*(fields_of(value) or {}).values(), *filled_slots(value).values()]
        else:
            return False
    return True


_NO_RECORDS = (*_CONTAINERS, set, frozenset, np.ndarray, np.generic, float, int, complex, str)


def roots_in(y: Any) -> set[int]:
    """Return the identities of the owners of the memory of the arrays in `y`."""
    return {id(root_of(a)) for a, _ in _pairs(y, y) if isinstance(a, np.ndarray)}


def move(memory: Memory, old: Any, new: Any, name: str) -> None:
    """Move the cotangents of `old` to `new`, the recomputed result of the function `name`."""
    for a, b in _pairs(old, new):
        if a is b:
            continue
        if not _is_like(a, b):
            raise missing(
                f"'{name}' gave another result when it was computed once more for its derivative",
                hint="a checkpointed function depends on nothing but its arguments and what it"
                " captures; hand a random generator over as an argument",
            )
        if isinstance(a, np.ndarray):
            memory.move_array(root_of(a), root_of(b))
            _move(memory, ("poison", id(root_of(a))), ("poison", id(root_of(b))))
        elif type(a) not in ATOMS:
            for of in (lambda place: place, lambda place: ("keys", place)):
                _move(memory, of(id(a)), of(id(b)))
            if memory.owners is not None:
                memory.owners[id(b)] = b


def _move(memory: Memory, old: Any, new: Any) -> None:
    shadow = memory.shadows.pop(old, None)
    if shadow is not None:
        memory.shadows[new] = shadow


def _pairs(old: Any, new: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the pairs of parts at the same place, as far as the structures agree."""
    seen: set[tuple[int, int]] = set()
    stack = [(old, new)]
    while stack:
        a, b = stack.pop()
        if (id(a), id(b)) in seen:
            continue
        seen.add((id(a), id(b)))
        yield a, b
        if type(a) is not type(b):
            continue
        if isinstance(a, list | tuple):
            stack += zip(a, b, strict=False)
        elif isinstance(a, dict):
            stack += [(part, b[key]) for key, part in a.items() if key in b]
        elif is_plain_object(a):
            stack.append((fields_of(a), fields_of(b)))
            others = filled_slots(b)
            stack += [
                (part, others[name]) for name, part in filled_slots(a).items() if name in others
            ]


def _is_like(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        if a.shape != b.shape or a.strides != b.strides or a.dtype != b.dtype:
            return False
        return root_of(a).shape == root_of(b).shape and _is_close(a, b)
    if isinstance(a, np.generic) or type(a) in NUMBERS:
        return _is_close(np.asarray(a), np.asarray(b))
    if isinstance(a, _CONTAINERS):
        return len(a) == len(b)
    return type(a) not in ATOMS or bool(a == b)


def _is_close(a: Any, b: Any) -> bool:
    same = a == b
    if same.all():
        return True
    same |= (a != a) & (b != b)
    with np.errstate(all="ignore"):
        finite = np.abs(np.where(same, 0, a - b))
        scale = np.max(np.abs(a), initial=0.0, where=np.isfinite(a))
        return bool(np.all(finite <= _SAME * scale))
