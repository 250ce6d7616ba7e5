"""Calls of functions of this library that are to run as programs inside the generic tier.

A rule whose user functions are called many times states its computation as a plain function of
them, and calls it by `in_program`: the user's functions are inlined, and one pullback belongs to
all of their calls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adjoint.rulekit.registry import primitive
from adjoint.runtime.dispatch.call import call
from adjoint.runtime.dispatch.unit_call import MISSING, specialised_call


class _Tried:
    """The statistics of one call, in place of those of a unit that gives up after some misses."""

    is_specialised = True
    misses = 0
    calls = 0


def in_program(f: Callable[..., Any], *args: Any) -> Any:
    """Return ``f(*args)``, differentiated by one program where it has one."""
    return f(*args)


@primitive(in_program)
def _(record: list[Any], slot: int, f: Any, *args: Any) -> Any:
    inner = [record[0], None]
    record[slot] = lambda y_bar: (None, *inner[1](y_bar))
    y = MISSING
    if record[0].level is None:
        y = specialised_call[0](inner, 1, _Tried(), f, args, {})
    return call(inner, 1, f, *args) if y is MISSING else y
