"""Calls of foreign code that may enter user code.

Where the engine knows what such code calls, it makes the calls itself
(`adjoint.runtime.operators.comparison`, the rules of builtin functions). Everything else runs in a
`ForeignRun`: callbacks through the engine (`CallbackProxy` functions, steps of its iterators) are
part of the operation, and other user code that may store something is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from adjoint.primal.code_owner import is_vouched_for
from adjoint.primal.packages import is_of_a_library
from adjoint.runtime.foreign.foreign_run import ForeignRun
from adjoint.runtime.foreign.user_code_reach import PROXY_TYPES, reaches
from adjoint.runtime.memory.memory import Memory


def foreign_call(
    record: list[Any], slot: int, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Run ``f(*args, **kwargs)``, which has no derivative of its own."""
    if type(f) is FunctionType:
        if is_vouched_for(f.__code__) or not is_of_a_library(f.__globals__.get("__name__")):
            return f(*args, **kwargs)  # it was declared inactive
    if not (record[0].stored_functions or reaches(args) or (kwargs and reaches(kwargs.values()))):
        return f(*args, **kwargs)
    return run_monitored(record, slot, f, f, args, kwargs)


def run_monitored(
    record: list[Any],
    slot: int,
    f: Any,
    run: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Run ``run(*args, **kwargs)`` for `f` as a foreign run; its pullback may be left in the
    slot."""
    n = len(args) + len(kwargs)
    region = ForeignRun(record[0], f)
    blank = record[slot]
    linked = record[slot] = region.before(blank, n)
    y = region.run(run, args, kwargs)
    own = blank if record[slot] is linked else record[slot]
    record[slot] = region.before(own, n) if region.has_callbacks else own
    return y


# ---- user functions given to foreign code --------------------------------------------------------


class CallbackProxy:
    """Stand for a user function that is given to foreign code."""

    __slots__ = ("__weakref__", "_f", "_memory")

    def __init__(self, memory: Memory, f: Any) -> None:
        self._memory, self._f = memory, f

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        region = self._memory.foreign_run
        return self._f(*args, **kwargs) if region is None else region.call(self._f, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._f, name)


PROXY_TYPES.append(CallbackProxy)


def callback_proxy(memory: Memory, f: Any) -> Any:
    """Return what to give to foreign code for `f`: a `CallbackProxy` for user functions, else
    `f`."""
    return (
        CallbackProxy(memory, f)
        if callable(f) and not issubclass(type(f), type) and reaches((f,))
        else f
    )
