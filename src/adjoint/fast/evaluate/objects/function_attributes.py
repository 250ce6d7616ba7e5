"""Attributes of Python functions."""

from __future__ import annotations

from typing import Any

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.objects.guards import is_own
from adjoint.fast.evaluate.values import Abstract, Closure
from adjoint.fast.not_covered import NotCovered, Raises

_NAMES = ("__name__", "__qualname__", "__module__", "__doc__")


def of_function(ev: Evaluator, f: Closure, name: str) -> Abstract:
    """Evaluate ``f.name``."""
    function: Any = f.function
    fields = {} if function is None else vars(function)
    if function is not None and (name in fields or name in _NAMES):
        found = fields[name] if name in fields else getattr(function, name)
        if f.source is not None:
            if not isinstance(found, str | None) and ev.outside.is_wanted(f.source):
                raise NotCovered("an attribute of a function that has a cotangent", ev.span)
            return ev.outside.read(f.source, "attribute", name, found)
        if is_own(f.namespace):
            return ev.outside.own(found)
    elif f.source is not None and not hasattr(function, name):
        ev.outside.guard(f.source, "no attribute", name)
        raise Raises(AttributeError, f"the attribute {name!r} of a function", ev.span)
    raise NotCovered(f"the attribute {name!r} of a function", ev.span)
