"""Rules of `weakref`: a reference passes on the derivative of its referent.

The shadow of an object is keyed by its identity; the cotangent of an array is an entry of the
shadow of the reference.
"""

from __future__ import annotations

import weakref
from typing import Any

from adjoint.primal.reachability import REFERENT
from adjoint.primal.value_kinds import by_value
from adjoint.rulekit.registry import primitive, structural
from adjoint.runtime.foreign.freed_objects import check_callback
from adjoint.runtime.memory.memory import Memory


@structural(weakref.ref)
def _ref(memory: Memory, obj: Any, callback: Any = None, /) -> Any:
    return _made(memory, weakref.ref, obj, callback, 1)


@structural((weakref.ref, "__new__"))
def _new(memory: Memory, cls: Any, obj: Any, callback: Any = None, /) -> Any:
    return _made(memory, cls, obj, callback, 2)


def _made(memory: Memory, cls: Any, obj: Any, callback: Any, place: int) -> Any:
    if callback is not None:
        check_callback(callback)
    y = weakref.ref.__new__(cls, obj, callback)

    if memory.level is None:
        memory.caches.setdefault(REFERENT, []).append(weakref.ref(obj))

    def ref_back(_: Any) -> tuple[Any, ...]:
        return (*(None,) * place, memory.take_entry(y, REFERENT), None)

    return y, ref_back


@structural((weakref.ref, "__init__"))
def _init(memory: Memory, reference: Any, obj: Any, callback: Any = None, /) -> Any:
    return None, None


@structural((weakref.ref, "__call__"))
def _referent(memory: Memory, reference: Any, /) -> Any:
    y = weakref.ref.__call__(reference)

    def referent_back(bar: Any) -> tuple[Any, ...]:
        memory.add_entry(reference, REFERENT, bar)
        return None, None

    return y, referent_back if by_value(y) else None


@primitive(weakref.finalize)
def _finalize(record: list[Any], slot: int, obj: Any, f: Any, /, *args: Any, **kwargs: Any) -> Any:
    check_callback(f)
    return weakref.finalize(obj, f, *args, **kwargs)


@primitive(weakref.proxy)
def _proxy(record: list[Any], slot: int, obj: Any, callback: Any = None, /) -> Any:
    if callback is not None:
        check_callback(callback)
    return NotImplemented
