"""Rules of `contextvars`: numbers in context variables are refused.

The value belongs to a context, which may be copied or left. Lists and objects have shadows by
identity, so a context variable may hold them.
"""

from __future__ import annotations

import contextvars
from typing import Any

from adjoint.diagnostics.refusals import refused
from adjoint.primal.container_contents import ABSENT
from adjoint.primal.value_kinds import by_value
from adjoint.rulekit.registry import non_differentiable, structural
from adjoint.runtime.memory.memory import Memory


def _demand_no_number(value: Any) -> None:
    if by_value(value) and type(value) is not bool:
        raise refused(
            "a context variable is set to a number inside differentiated code, or read",
            "let it hold a list or an object that holds the number",
        )


@structural(contextvars.ContextVar)
def _(memory: Memory, name: Any, *, default: Any = ABSENT) -> Any:
    if default is ABSENT:
        return contextvars.ContextVar(name), None
    _demand_no_number(default)
    return contextvars.ContextVar(name, default=default), None


@structural((contextvars.ContextVar, "set"))
def _(memory: Memory, variable: Any, value: Any) -> Any:
    _demand_no_number(value)
    return variable.set(value), None


@structural((contextvars.ContextVar, "get"))
def _(memory: Memory, variable: Any, *default: Any) -> Any:
    value = variable.get(*default)
    _demand_no_number(value)
    return value, None


non_differentiable((contextvars.ContextVar, "reset"))
