"""``raise`` and ``generator.throw``, which instantiate exception classes by differentiated code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adjoint.ir import primitives
from adjoint.rulekit.registry import primitive
from adjoint.runtime.dispatch.call import call
from adjoint.runtime.dispatch.generators import Generator, run_segment
from adjoint.runtime.dispatch.linked import linked
from adjoint.runtime.memory.memory import Memory


def exception_of(record: list[Any], slot: int, raised: Any) -> Any:
    """Return the exception that ``raise raised`` raises."""
    if not (isinstance(raised, type) and issubclass(raised, BaseException)):
        return raised
    error = linked(record, slot, lambda bars: (None, bars[0]), call, raised)
    if not isinstance(error, BaseException):
        primitives.fail_to_raise(raised)
    return error


RAISING: dict[Any, Callable[..., Any]] = {primitives.exception_of: exception_of}


@primitive(Generator.throw)
def _(record: list[Any], slot: int, generator: Generator, *thrown: Any) -> Any:
    """``generator.throw(error)``, or ``generator.throw(type, value, traceback)``."""
    memory: Memory = record[0]
    inner: list[Any] = [memory, None, None]
    error, *rest = thrown
    value = rest[0] if rest else None
    given: tuple[Any, ...] = ()
    if isinstance(error, type) and issubclass(error, BaseException):
        if isinstance(value, error):
            error = value
        else:
            given = value if isinstance(value, tuple) else () if value is None else (value,)
            error = call(inner, 1, error, *given)
        rest[:1] = [None] * bool(rest)

    def throw_back(y_bar: Any) -> tuple[Any, ...]:
        if inner[2] is not None:
            inner[2](y_bar)
        bars = [None] * (len(thrown) + 2)
        if inner[1] is not None:
            bars[2], *given_bars = inner[1](None)
            if given is value:
                for i, bar in enumerate(given_bars):
                    memory.add_item(given, i, bar)
            elif given:
                bars[3:4] = given_bars
        return tuple(bars)

    record[slot] = throw_back
    return run_segment(inner, 2, generator, 0, generator._forward.throw, error, *rest)
