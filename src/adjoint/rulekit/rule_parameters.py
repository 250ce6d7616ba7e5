"""The parameters of a rule, read once as it is registered."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import FunctionType, UnionType
from typing import Any, NamedTuple


class Parameters(NamedTuple):
    """The parameters of a function.

    Attributes
    ----------
    names, defaults
        The parameters that may be given by position, and the defaults of the last of them.
    by_position
        How many of them cannot be given by name.
    named
        The parameters that are given by name only.
    has_any, has_keywords
        Whether it takes any further arguments, and any further keyword arguments.
    types
        ``(position, type)`` of the parameters that are annotated with one.
    """

    names: tuple[str, ...]
    defaults: tuple[Any, ...]
    by_position: int
    named: tuple[str, ...]
    has_any: bool
    has_keywords: bool
    types: tuple[tuple[int, Any], ...]


def parameters_of(function: Callable[..., Any]) -> Parameters:
    """Return the parameters of `function`.

    They are read from its code, which takes a tenth of the time of `inspect.signature`: some
    thousand rules are registered as the rules of NumPy are loaded.
    """
    if type(function) is not FunctionType or not vars(function).keys().isdisjoint(_OTHERS):
        return _of_signature(function)
    code = function.__code__
    n = code.co_argcount
    last = n + code.co_kwonlyargcount
    return Parameters(
        code.co_varnames[:n],
        function.__defaults__ or (),
        code.co_posonlyargcount,
        code.co_varnames[n:last],
        bool(code.co_flags & inspect.CO_VARARGS),
        bool(code.co_flags & inspect.CO_VARKEYWORDS),
        _types(function, code.co_varnames[:n]),
    )


_OTHERS = ("__signature__", "__wrapped__")


def _types(function: Any, names: tuple[str, ...]) -> tuple[tuple[int, Any], ...]:
    annotations = function.__annotations__
    if all(annotations.get(name) in (None, "Any", Any) for name in names):
        return ()
    annotations = inspect.get_annotations(function, eval_str=True)
    found = ((i, annotations.get(name)) for i, name in enumerate(names))
    return tuple((i, kind) for i, kind in found if _is_type(kind))


def _is_type(annotation: Any) -> bool:
    return annotation is not Any and isinstance(annotation, type | UnionType)


def _of_signature(function: Callable[..., Any]) -> Parameters:
    given = vars(function).get("__signature__") if hasattr(function, "__dict__") else None
    if not isinstance(given, inspect.Signature):
        given = inspect.signature(function, eval_str=True)
    every = list(given.parameters.values())
    leading = [p for p in every if p.kind <= p.POSITIONAL_OR_KEYWORD]
    kinds = [p.kind for p in every]
    annotations = enumerate(p.annotation for p in leading)
    return Parameters(
        tuple(p.name for p in leading),
        tuple(p.default for p in leading if p.default is not p.empty),
        kinds.count(inspect.Parameter.POSITIONAL_ONLY),
        tuple(p.name for p in every if p.kind is p.KEYWORD_ONLY),
        inspect.Parameter.VAR_POSITIONAL in kinds,
        inspect.Parameter.VAR_KEYWORD in kinds,
        tuple((i, kind) for i, kind in annotations if kind is not _EMPTY and _is_type(kind)),
    )


_EMPTY = inspect.Parameter.empty
