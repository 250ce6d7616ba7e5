"""Calls whose arguments do not fit the parameters of a rule; Python itself raises their error."""

from __future__ import annotations

from collections.abc import Callable
from inspect import CO_VARARGS, CO_VARKEYWORDS
from types import CodeType
from typing import Any


def calls_rules(f: Callable[..., Any]) -> Callable[..., Any]:
    """Mark `f` as a function that passes the arguments of a call on to rules."""
    _CALL_RULES.add(f.__code__)
    return f


_CALL_RULES: set[CodeType] = set()


def is_misfit(error: TypeError) -> bool:
    """Return whether a rule rejected its arguments by its signature, before it ran."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    return place is not None and place.tb_frame.f_code in _CALL_RULES


def fits(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Return whether the parameters of `f` accept the arguments."""
    code = f.__code__
    most = code.co_argcount
    n = min(len(args), most)
    names = code.co_varnames[: most + code.co_kwonlyargcount]
    if len(args) > most and not code.co_flags & CO_VARARGS:
        return False
    if kwargs and not code.co_flags & CO_VARKEYWORDS:
        if not frozenset(names[max(n, code.co_posonlyargcount) :]).issuperset(kwargs):
            return False
    required = (*names[n : most - len(f.__defaults__ or ())], *names[most:])
    given = (*kwargs, *(f.__kwdefaults__ or ()))
    return all(name in given for name in required)
