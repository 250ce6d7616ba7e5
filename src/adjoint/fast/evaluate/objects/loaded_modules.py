"""Reads of `sys.modules`: each guards the module that it found, or that there is none."""

from __future__ import annotations

import sys
from typing import Any

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.values import Abstract, Known
from adjoint.ir.node import node


@node
class _Lacks:
    """Whether a dict lacks a key."""

    key: Any

    def __call__(self, found: dict[Any, Any]) -> bool:
        return self.key not in found


def is_modules(a: Abstract) -> bool:
    """Return whether `a` is `sys.modules`."""
    return isinstance(a, Known) and a.value is sys.modules


def loaded(ev: Evaluator, name: Any) -> Abstract | None:
    """Return the module of a name, or ``None`` if it is not loaded."""
    source = ev.outside.root("object", sys.modules)
    if name in sys.modules:
        return ev.outside.read(source, "item", name, sys.modules[name])
    ev.outside.guard(source, "fact", (_Lacks(name), True))
    return None
