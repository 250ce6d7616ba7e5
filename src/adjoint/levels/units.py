"""Python functions on a level: compiled once, then called like those that they stand for."""

from __future__ import annotations

import linecache
import threading
from collections.abc import Callable
from types import FunctionType
from typing import Any

from adjoint.emit.level import emit_level
from adjoint.frontend import lower_any
from adjoint.ir.nodes import Operand
from adjoint.levels.entries import ENTRIES, RUNTIME
from adjoint.run.functions import Unit, bind, generated
from adjoint.run.generators import Generator
from adjoint.run.memory import Memory
from adjoint.transform.activity import Activity
from adjoint.transform.paths import join_paths
from adjoint.transform.reverse import reverse
from adjoint.transform.temporaries import share_temporaries

__all__ = ["call_unit"]

_runs: dict[int, tuple[Unit, Callable[..., Any]]] = {}
_lock = threading.Lock()


def call_unit(
    memory: Memory, unit: Unit, f: FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """``f(*args, **kwargs)``, each operation through the level of `memory`."""
    known = _runs.get(id(unit))
    run = _compiled(unit, f) if known is None else known[1]
    if len(args) != unit.arity or kwargs:
        bound = bind(unit, f, args, kwargs)
        if bound is None:
            f(*args, **kwargs)  # Python's own message
            raise TypeError(f"the arguments do not fit {f.__qualname__}")
        args = tuple(bound[0])
    record = [memory, None]
    if unit.function.is_generator:
        segments = run(record, f.__closure__, *args)
        return Generator(memory, segments, record, _never, f.__name__)
    return run(record, f.__closure__, *args)


def _never(*_: Any) -> Any:
    raise AssertionError("a level is not swept back over")


def _compiled(unit: Unit, f: FunctionType) -> Callable[..., Any]:
    with _lock:
        if id(unit) not in _runs:
            _runs[id(unit)] = unit, _compile(unit, f)  # the key is by identity
        return _runs[id(unit)][1]


def _compile(unit: Unit, f: FunctionType) -> Callable[..., Any]:
    namespace = unit.namespace
    function, _ = join_paths(lower_any(f), namespace)  # files keep no body
    activity = Activity(function, namespace)

    def is_active(operand: Operand) -> bool:
        return not activity.is_inactive(operand)

    function = share_temporaries(function, is_active)
    forward = reverse(function, activity).forward
    source = emit_level(function, forward, ENTRIES, RUNTIME, namespace, is_active)
    filename = f"{unit.filename[:-1]} on a level>"
    scope: dict[str, Any] = {}
    exec(compile(source.text, filename, "exec", dont_inherit=True), namespace, scope)
    run: Callable[..., Any] = scope["build"](*source.bound.values())
    lines = source.text.splitlines(keepends=True)
    linecache.cache[filename] = (len(source.text), None, lines, filename)
    generated[id(run.__code__)] = Unit(
        unit.function, source, filename, namespace, (), [], run, run, -1
    )
    return run
