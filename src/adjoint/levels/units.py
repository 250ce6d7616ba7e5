"""The units of Python functions on levels: each function is compiled once."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from types import FunctionType
from typing import Any, TypeVar

from adjoint.diagnostics.dump import stages_of
from adjoint.diagnostics.generated_code import note_generated
from adjoint.emit.level import emit_level
from adjoint.emit.python import Source
from adjoint.frontend.same_code import compile_quietly
from adjoint.ir.nodes import Function, Operand, Span
from adjoint.ir.printer import format_function
from adjoint.levels.entries import ENTRIES, RUNTIME
from adjoint.runtime.cache.generate import arity_of, show_source
from adjoint.runtime.cache.ir import lowered
from adjoint.runtime.cache.unit_cache import UnitCache
from adjoint.runtime.cache.units import built
from adjoint.runtime.dispatch.generators import Generator, is_restarting
from adjoint.runtime.dispatch.unit_call import bind
from adjoint.runtime.memory.memory import Memory
from adjoint.transform.activity import Activity
from adjoint.transform.paths import join_paths
from adjoint.transform.reverse import reverse
from adjoint.transform.temporaries import share_temporaries


@dataclass(slots=True)
class LevelUnit:
    """One function as levels run it; see `adjoint.runtime.cache.units.Unit`."""

    function: Function
    source: Source
    filename: str
    namespace: dict[str, Any]
    guards: tuple[tuple[str, Any], ...]
    run: Callable[..., Any]
    arity: int
    places: list[Span] | None = None

    def is_current(self) -> bool:
        """Return whether the globals that the code relies on are unchanged."""
        namespace = self.namespace
        return all(namespace.get(name, value) is value for name, value in self.guards)


Unit = TypeVar("Unit", bound=LevelUnit)
_counter = itertools.count(1)


def call_unit(
    memory: Memory, unit: LevelUnit, f: FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Run ``f(*args, **kwargs)``, with each operation on the level of `memory`."""
    if len(args) != unit.arity or kwargs:
        bound = bind(unit, f, args, kwargs)
        if bound is None:
            f(*args, **kwargs)  # raises Python's own error
            raise TypeError(f"the arguments do not fit {f.__qualname__}")
        args = tuple(bound[0])
    record = [memory, None]
    if unit.function.is_generator:
        segments = unit.run(record, f.__closure__, *args)
        generator = Generator(memory, segments, record, _never, f)
        if is_restarting(f):
            generator.restart = lambda *_: call_unit(memory, unit, f, args, {})
        return generator
    return unit.run(record, f.__closure__, *args)


def _never(*_: Any) -> Any:
    raise AssertionError("a level is not swept back over")


def _compile(f: FunctionType) -> LevelUnit:
    namespace = f.__globals__
    stages = stages_of(f"{f.__name__} on a level")
    whole = lowered(f)
    stages("ir", partial(format_function, whole))
    function, modules = join_paths(whole, namespace)
    stages("paths", partial(format_function, function))
    activity = Activity(function, namespace)

    def is_active(operand: Operand) -> bool:
        return not activity.is_inactive(operand)

    function = share_temporaries(function, is_active)
    stages("temporaries", partial(format_function, function))
    forward = reverse(function, activity).forward
    source = emit_level(function, forward, ENTRIES, RUNTIME, namespace, is_active)
    stages("source", lambda: source.text)
    return compiled_unit(LevelUnit, f, whole, source, {**modules, **activity.guards}, "on a level")


def compiled_unit(
    kind: type[Unit],
    f: FunctionType,
    whole: Function,
    source: Source,
    guards: dict[str, Any],
    label: str,
    **more: Any,
) -> Unit:
    """Compile the generated code of a function; return a unit of a class, with `more` fields."""
    namespace = f.__globals__
    filename = f"<adjoint {f.__qualname__} {label} #{next(_counter)}>"
    compiled = compile_quietly(source.text, filename, 0)
    run: Callable[..., Any] = built(compiled, namespace)(*source.bound.values())
    show_source(filename, source.text)
    known = tuple(guards.items())
    unit = kind(whole, source, filename, namespace, known, run, arity_of(whole), **more)
    note_generated(replace(unit, run=_never), run)
    return unit


_cache = UnitCache(_compile)
known_unit: Callable[[FunctionType], LevelUnit | None] = _cache.known
unit_of: Callable[[FunctionType], LevelUnit] = _cache.of
