"""What is not differentiated and would not be noticed: threads, context variables."""

from __future__ import annotations

import _thread
import contextvars
import threading
from typing import Any

from adjoint.errors import NoDerivativeError
from adjoint.rules.registry import primitive
from adjoint.run.dispatch import call_keywords, linked
from adjoint.run.memory import missing, refused
from adjoint.run.native import is_needed
from adjoint.run.structure import ATOMS, by_value


@primitive(threading.Thread.start, _thread.start_new_thread)
def _(record: list[Any], slot: int, *args: Any) -> Any:
    raise refused(
        "a thread is started inside differentiated code, which would not see what it does",
        "call the function directly, or start the threads around the differentiated function",
    )


# ---- context variables ---------------------------------------------------------------------------
#
# A list or an object in one is itself; the cotangent of a number would have no place to be at.


@primitive((contextvars.ContextVar, "set"))
def _(record: list[Any], slot: int, variable: Any, value: Any) -> Any:
    if by_value(value) and type(value) not in ATOMS:
        record[0].caches["context", id(variable)] = variable
    return variable.set(value)


@primitive((contextvars.ContextVar, "get"))
def _(record: list[Any], slot: int, variable: Any, *default: Any) -> Any:
    try:
        y = variable.get()
    except LookupError:
        record[slot] = lambda y_bar: (None, None, *(y_bar for _ in default))
        return variable.get(*default)
    if ("context", id(variable)) in record[0].caches and by_value(y):
        error = _not_followed(variable.name)

        def get_back(y_bar: Any) -> tuple[Any, ...]:
            if is_needed(y_bar):
                raise error
            return (None,) * (2 + len(default))

        record[slot] = get_back
    return y


def _not_followed(name: str) -> NoDerivativeError:
    return missing(
        f"a derivative of the context variable {name!r} is needed, which was set inside"
        " differentiated code",
        "pass the value as an argument",
    )


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
