"""Calls of foreign code that may enter user code.

Where the engine knows what such code calls, it makes the calls itself
(`adjoint.runtime.operators.comparison`, the rules of builtin functions). Everything else runs in a
`ForeignRun`: callbacks through the engine (`CallbackProxy` functions, steps of its iterators) are
part of the operation, and what other user code has changed is logged as a write of a value whose
derivative is unknown.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

from adjoint.diagnostics.refusals import refused
from adjoint.primal.code_owner import is_vouched_for
from adjoint.primal.container_contents import compares_by_user_code
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
    keys: tuple[Any, ...] = (),
    by_rule: bool = False,
    own: Any = None,
) -> Any:
    """Run ``run(*args, **kwargs)`` for `f` as a foreign run; its pullback may be left in the slot.

    `keys` may be hashed more often than in plain Python. With `by_rule`, `run` writes new arrays,
    of which the rule gives the derivative. `own` is a container that `run` writes and logs itself.
    """
    n = len(args) + len(kwargs)
    region = ForeignRun(record[0], f)
    if own is not None:
        region.exclude_logged(own)
    region.save_attributes(keys)
    blank = record[slot]
    linked = record[slot] = region.before(blank, n)
    level = record[0].level
    try:
        y = region.run(run, args, kwargs)
    finally:
        if level is not None and region.has_effects:  # also where `run` has raised
            level.poison_stored(region, certain=by_rule)
    own = blank if record[slot] is linked else record[slot]
    record[slot] = region.before(own, n) if region.has_effects else own
    if keys and region.has_effects and not region.has_only_cached:
        _check_steady(record[0], filter(compares_by_user_code, keys))
    return y


def _check_steady(memory: Memory, keys: Iterable[Any]) -> None:
    """Refuse keys whose hash or comparison changes something each time. Changes of the first call
    are undone, because plain Python may not make it."""
    for key in keys:
        for what, ask, name, given in (
            ("hash", hash, "__hash__", (key,)),
            ("comparison", operator.eq, "__eq__", (key, key)),
        ):
            if getattr(type(key), name) is None:
                continue
            position, effects = memory.position, []
            try:
                for _ in range(2):
                    region = ForeignRun(memory, ask)
                    region.compare_by_identity()
                    region.run(ask, given, {})
                    effects.append(region.has_effects)
            except Exception:  # an earlier call gave an answer
                effects = [True, True]
            if any(effects):
                memory.rewind(position)
                memory.forget(position)
            if effects[1]:
                raise refused(
                    f"the {what} of a '{type(key).__name__}' changes something each time that it is"
                    " asked, which is more often inside differentiated code",
                    "change it at the first time only, or elsewhere",
                )


# ---- user functions given to foreign code --------------------------------------------------------


class CallbackProxy:
    """Stand for a user function that is given to foreign code."""

    __slots__ = ("__weakref__", "_f", "_memory")

    def __init__(self, memory: Memory, f: Any) -> None:
        self._memory, self._f = memory, f

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
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
