"""Rules of `contextvars`: setting a context variable to a number is refused.

The value belongs to a context, which may be copied or left. Lists and objects have shadows by
identity, so a context variable may hold them.
"""

from __future__ import annotations

import contextvars
from typing import Any

from adjoint.primal.container_contents import ABSENT
from adjoint.rulekit.registry import non_differentiable, primitive, structural
from adjoint.runtime.dispatch.call import call_keywords
from adjoint.runtime.dispatch.linked import linked
from adjoint.runtime.foreign.context_variables import demand_no_number
from adjoint.runtime.memory.memory import Memory


@structural(contextvars.ContextVar)
def _(memory: Memory, name: Any, *, default: Any = ABSENT) -> Any:
    if default is ABSENT:
        return contextvars.ContextVar(name), None
    demand_no_number(default)
    return contextvars.ContextVar(name, default=default), None


@structural((contextvars.ContextVar, "set"))
def _(memory: Memory, variable: Any, value: Any) -> Any:
    demand_no_number(value)
    return variable.set(value), None


@primitive((contextvars.ContextVar, "get"))
def _(record: list[Any], slot: int, variable: Any, *default: Any) -> Any:
    try:
        return variable.get()
    except LookupError:
        record[slot] = lambda y_bar: (None, None, *(y_bar for _ in default))
        return variable.get(*default)


@primitive((contextvars.Context, "run"))
def _(record: list[Any], slot: int, context: Any, f: Any, *args: Any, **kwargs: Any) -> Any:
    def arrange(bars: tuple[Any, ...]) -> tuple[Any, ...]:
        return (None, None, *bars)

    return context.run(linked, record, slot, arrange, call_keywords, f, args, kwargs)


non_differentiable((contextvars.ContextVar, "reset"))
