"""Copies of sequences and dicts with other elements."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterable
from typing import Any

from adjoint.primal.container_contents import base_of
from adjoint.primal.value_kinds import fields_of


def rebuild(xs: Any, elements: Iterable[Any]) -> Any:
    """Return a list, tuple or deque of the class and fields of `xs` with other elements. A
    constructor defined by the class is not called, because it may do anything."""
    kind = type(xs)
    made: Any
    if isinstance(xs, tuple):
        try:
            made = tuple.__new__(kind, elements)
        except TypeError:  # a structseq of C
            return kind(elements)
    elif isinstance(xs, list):
        made = list.__new__(kind)
        list.extend(made, elements)
    else:
        made = deque.__new__(kind)
        deque.__init__(made, elements, xs.maxlen)
    return _with_fields(made, xs)


def with_parts(xs: Any, parts: list[Any]) -> Any:
    """Return `xs` itself if `parts` are its elements, else `rebuild`."""
    is_same = all(new is old for new, old in zip(parts, xs, strict=True))
    return xs if is_same else rebuild(xs, parts)


def rebuild_dict(d: Any, entries: Iterable[tuple[Any, Any]]) -> Any:
    """Return a dict of the class and fields of `d` with other entries."""
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
