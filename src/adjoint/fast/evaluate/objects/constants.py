"""Attributes of known objects of Python and NumPy that never change."""

from __future__ import annotations

import re
from dataclasses import Field
from datetime import date, datetime, time, timedelta
from inspect import Parameter, Signature
from typing import Any

import numpy as np

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.values import Abstract, Bound, DictOf, Known

_LIMITS = "eps epsneg tiny smallest_normal max min bits resolution"
_KINDS = (
    "POSITIONAL_ONLY POSITIONAL_OR_KEYWORD VAR_POSITIONAL KEYWORD_ONLY VAR_KEYWORD empty".split()
)
_OF_DATES = "weekday isoweekday isocalendar toordinal replace isoformat strftime timetuple"
_ATTRIBUTES: dict[type, frozenset[str]] = {
    np.finfo: frozenset(_LIMITS.split()),
    np.iinfo: frozenset(_LIMITS.split()),
    np.dtype: frozenset("char metadata name num str names".split()),
    Field: frozenset("name type init repr compare kw_only".split()),
    slice: frozenset("start stop step".split()),
    Parameter: frozenset(["name", "kind", *_KINDS]),
    date: frozenset(f"year month day {_OF_DATES}".split()),
    datetime: frozenset("hour minute second microsecond tzinfo date time timetz".split()),
    time: frozenset("hour minute second microsecond tzinfo replace isoformat".split()),
    timedelta: frozenset("days seconds microseconds total_seconds".split()),
    re.Match: frozenset("group groups groupdict start end span lastindex lastgroup".split()),
    re.Pattern: frozenset("search match fullmatch findall sub split pattern flags".split()),
}
"""Attributes by class, whose values are constants in turn."""

_DEFAULTS = (type(None), bool, int, float, str, type)


def of_constant(ev: Evaluator, value: Any, name: str) -> Abstract | None:
    """Return an attribute of an object of one of these classes; ``None`` for any other."""
    for kind, names in _ATTRIBUTES.items():
        if isinstance(value, kind) and name in names:
            return Known(getattr(value, name))
    if isinstance(value, Parameter) and name == "default":
        parts = value.default if type(value.default) is tuple else (value.default,)
        return Known(value.default) if all(isinstance(x, _DEFAULTS) for x in parts) else None
    if isinstance(value, Signature) and name == "bind":
        return Bound(Known(Signature.bind), Known(value))
    if isinstance(value, Signature) and name == "parameters":
        found = value.parameters
        return ev.allocate(DictOf(tuple(found), tuple(map(Known, found.values()))))
    return None


TEXT_METHODS = frozenset(
    "upper lower title capitalize strip lstrip rstrip ljust rjust center zfill replace".split()
)
"""Methods of strings that return a string whatever the string is."""
