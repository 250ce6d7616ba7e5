"""Sequences and dicts with other elements."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterable
from typing import Any

from adjoint.primal.container_contents import base_of
from adjoint.primal.value_kinds import fields_of


def remade(xs: Any, elements: Iterable[Any]) -> Any:
    """A list, tuple or deque of the class of `xs`, with its fields and other elements: a
    constructor of its own is not called, for it may do anything."""
    kind = type(xs)
    made: Any
    if isinstance(xs, tuple):
        try:
            made = tuple.__new__(kind, elements)
        except TypeError:  # a structure of C's, whose constructor takes them
            return kind(elements)
    elif isinstance(xs, list):
        made = list.__new__(kind)
        list.extend(made, elements)
    else:
        made = deque.__new__(kind)
        deque.__init__(made, elements, xs.maxlen)
    return _with_fields(made, xs)


def remade_dict(d: Any, entries: Iterable[tuple[Any, Any]]) -> Any:
    """The same for a dict."""
    kind = type(d)
    if kind is dict:
        return dict(entries)
    base: Any = next(base for base in kind.__mro__ if base in _DICTS)
    made = base.__new__(kind)
    for key, value in entries:
        base_of(d).__setitem__(made, key, value)
    if base is defaultdict:
        vars(defaultdict)["default_factory"].__set__(made, d.default_factory)
    return _with_fields(made, d)


_DICTS = (OrderedDict, defaultdict, dict)


def _with_fields(made: Any, x: Any) -> Any:
    fields = fields_of(x)
    if fields:
        made.__dict__.update(fields)
    return made
