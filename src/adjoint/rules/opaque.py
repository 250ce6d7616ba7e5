"""Context variables, which are kept aside."""

from __future__ import annotations

import contextvars
from typing import Any

from adjoint.rules.registry import primitive, structural
from adjoint.run.accumulate import accumulate
from adjoint.run.contents import ABSENT
from adjoint.run.context_variables import Assigned, beside
from adjoint.run.dispatch import call_keywords, linked
from adjoint.run.kinds import by_value
from adjoint.run.memory import Memory
from adjoint.run.refused import refused


@structural(contextvars.ContextVar)
def _(memory: Memory, name: Any, *, default: Any = ABSENT) -> Any:
    if default is ABSENT:
        return contextvars.ContextVar(name), None
    variable, call = contextvars.ContextVar(name, default=default), Assigned(default)
    memory.caches["default", id(variable)] = variable, call
    return variable, lambda _: (None, None, memory.take_entry(call, "value"))


@primitive((contextvars.ContextVar, "set"))
def _(record: list[Any], slot: int, variable: Any, value: Any) -> Any:
    memory: Memory = record[0]
    token = variable.set(value)
    call, calls = Assigned(value), beside(memory, variable)
    memory.caches["token", id(token)] = token, calls, calls.set(call)

    def set_back(_: Any) -> tuple[Any, ...]:
        asked = memory.take_entry(token, "*")  # of its old value, which has no place here
        return None, None, accumulate(memory.take_entry(call, "value"), asked)

    record[slot] = set_back
    return token


@primitive((contextvars.ContextVar, "reset"))
def _(record: list[Any], slot: int, variable: Any, token: Any) -> None:
    variable.reset(token)
    known = record[0].caches.get(("token", id(token)))
    if known is not None:
        _, calls, before = known
        calls.reset(before)


@primitive((contextvars.ContextVar, "get"))
def _(record: list[Any], slot: int, variable: Any, *default: Any) -> Any:
    memory: Memory = record[0]
    try:
        y = variable.get()
    except LookupError:
        record[slot] = lambda y_bar: (None, None, *(y_bar for _ in default))
        return variable.get(*default)
    known = memory.caches.get(("context", id(variable)))
    call = None if known is None else known[1].get(None)
    if call is None:
        _, call = memory.caches.get(("default", id(variable)), (None, None))
    if call is not None and call.value is y and by_value(y):

        def get_back(y_bar: Any) -> tuple[Any, ...]:
            memory.add_entry(call, "value", y_bar)
            return (None,) * (2 + len(default))

        record[slot] = get_back
    return y


@primitive((contextvars.Context, "run"))
def _(record: list[Any], slot: int, context: Any, f: Any, *args: Any, **kwargs: Any) -> Any:
    def arrange(bars: tuple[Any, ...]) -> tuple[Any, ...]:
        return (None, None, *bars)

    return context.run(linked, record, slot, arrange, call_keywords, f, args, kwargs)


def _read(name: str) -> None:
    def read(record: list[Any], slot: int, context: Any, *args: Any) -> Any:
        known = [key for key in record[0].caches if type(key) is tuple and key[0] == "context"]
        if known:
            raise refused(
                f"a context is read ('Context.{name}') whose variables were set inside"
                " differentiated code",
                "read the variable: variable.get()",
            )
        return NotImplemented

    primitive((contextvars.Context, name))(read)


for _name in ("__getitem__", "get", "values", "items"):
    _read(_name)
