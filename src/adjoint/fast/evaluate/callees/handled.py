"""Calls of functions that have a handler."""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Sequence
from types import BuiltinFunctionType, GeneratorType
from typing import Any

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.table import Handler
from adjoint.fast.evaluate.result_types.ones import name_of
from adjoint.fast.evaluate.values import Abstract, IteratorOf, Known, Ref
from adjoint.fast.not_covered import NotCovered
from adjoint.ir import primitives
from adjoint.ir.single import Value
from adjoint.rulekit.registry import lookup


def handled(
    ev: Evaluator,
    handler: Handler,
    f: Any,
    args: Sequence[Abstract],
    keywords: dict[str, Abstract],
) -> Abstract:
    """Evaluate a call of `f`, whose meaning `handler` says.

    Exceptions of one that takes the items of an iterator leave the program: code in C may raise
    before it has taken all of them.
    """
    known = _keywords_of(f) if keywords else None
    if known is not None and not known.issuperset(keywords):
        raise NotCovered(f"such a call of {name_of(f)}", ev.span)
    try:
        if f in _STEPPING or not _takes_iterator(ev, args):
            return handler(ev, *args, **keywords)
        with ev.uncertain():
            return handler(ev, *args, **keywords)
    except TypeError as error:
        if error.__traceback__ is not None and error.__traceback__.tb_next is None:
            raise NotCovered(f"such a call of {name_of(f)}", ev.span) from None
        raise


def _takes_iterator(ev: Evaluator, args: Sequence[Abstract]) -> bool:
    for x in args:
        if type(x) is Ref and isinstance(ev.held(x), IteratorOf):
            return True
    return False


def is_plain_arithmetic(ev: Evaluator, f: Any, args: Sequence[Abstract]) -> bool:
    """Return whether a call is arithmetic of values of the program, one of which is not known now,
    and numbers of Python: then all that its handler does is to infer the type of the result."""
    if type(f) is not BuiltinFunctionType or f not in _ARITHMETIC:
        return False
    is_unknown = False
    for x in args:
        if type(x) is Value:
            is_unknown |= x not in ev.contents and x not in ev.outside.fixed
        elif type(x) is not Known or type(x.value) not in (int, float):
            return False
    rules = lookup(f) if is_unknown else None
    return is_unknown and (rules is None or not rules.overridden)


_ARITHMETIC = frozenset(
    {operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.neg}
)
_STEPPING = frozenset({next, operator.call, primitives.call_method, GeneratorType.send})
"""Functions that take one item of an iterator, or leave that to another function."""


@functools.cache
def _keywords_of(f: Any) -> frozenset[str] | None:
    """Return the names of the keyword arguments that `f` accepts; ``None`` for any name."""
    if f in _KEYWORDS:
        return _KEYWORDS[f]
    if getattr(f, "__module__", None) == "_operator":
        return _NONE
    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return None
    return frozenset(
        p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
    )


_NONE: frozenset[str] = frozenset()
_KEYWORDS: dict[Any, frozenset[str] | None] = {
    operator.call: None,
    **dict.fromkeys((next, iter, range, map, filter, getattr, type, bool, reversed), _NONE),
    **dict.fromkeys((max, min), frozenset({"key", "default"})),
    zip: frozenset({"strict"}),
    enumerate: frozenset({"iterable", "start"}),
    dict.get: _NONE,
}
"""Keyword arguments of functions without a signature."""
