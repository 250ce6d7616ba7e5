"""Pullbacks that compute only what is wanted: ``def solve_back(x_bar, *, wanted): …``.

``wanted`` has one boolean per positional argument of the rule; where it is false, the argument is
constant, and ``None`` does for its cotangent. Such a rule is registered in the form of `asking`, so
that whoever does not know which arguments are constant calls its pullback as any other.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from types import CodeType, FunctionType
from typing import Any


def may_ask(rule: Any) -> bool:
    """Return whether a rule makes a pullback that asks what is wanted; told by its code."""
    return type(rule) is FunctionType and any(map(code_asks, _inner_codes(rule.__code__)))


def _inner_codes(code: CodeType) -> list[CodeType]:
    return [const for const in code.co_consts if type(const) is CodeType]


def code_asks(code: CodeType) -> bool:
    """Return whether a function has the keyword-only parameter ``wanted``."""
    if not code.co_kwonlyargcount:
        return False
    first = code.co_argcount
    return "wanted" in code.co_varnames[first : first + code.co_kwonlyargcount]


def asking(rule: Callable[..., Any], n: int, wanted: Sequence[bool] | None = None) -> Any:
    """Return a rule whose pullback is told what is wanted: all that is not known to be constant.

    Parameters
    ----------
    rule
        The rule, for which `may_ask` holds.
    n
        The most positional arguments that it takes (-1: any number).
    wanted
        One entry per positional argument of the call, if it is known.
    """

    @functools.wraps(rule)
    def run(*args: Any, **kwargs: Any) -> Any:
        result = rule(*args, **kwargs)
        if type(result) is not tuple or len(result) != 2 or not asks(result[1]):
            return result
        known = (True,) * len(args) if wanted is None else wanted
        return result[0], told(result[1], known, n)

    return run


def asks(back: Any) -> bool:
    """Return whether a pullback asks what is wanted."""
    code = getattr(plain(back), "__code__", None)
    return code is not None and code_asks(code)


def plain(back: Any) -> Any:
    """Return a pullback as its rule made it, which has not been told anything."""
    while type(back) is functools.partial:
        back = back.func
    return back


def told(back: Any, wanted: Sequence[bool], n: int) -> Any:
    """Return a pullback that has been told what is wanted, if it asks. Arguments that the call
    leaves out are not."""
    if not asks(back):
        return back
    return functools.partial(back, wanted=(*wanted, *(False,) * (n - len(wanted))))
