"""Sequences with other elements."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

from adjoint.run.kinds import fields_of

__all__ = ["remade"]


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
    fields = fields_of(xs)
    if fields:
        made.__dict__.update(fields)
    return made
