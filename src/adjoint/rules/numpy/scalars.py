"""Rules of NumPy's scalars: conversions (``np.float32(x)``), subscripts and views."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from adjoint.diagnostics.refusals import refused
from adjoint.rulekit.elementwise_forward import filled
from adjoint.rulekit.projection import as_numeric, project, projector
from adjoint.rulekit.registry import frule, non_differentiable, rrule, structural
from adjoint.runtime.memory.memory import Memory


def _conversion(kind: Any) -> None:
    @rrule.register(kind, trusted=True)
    def convert(x=0, /):
        value = as_numeric(x)
        if value is None:
            return NotImplemented
        shape, to_x = np.shape(value), projector(x)
        # an array of one element may come out as a scalar
        return kind(x), lambda y_bar: (None, to_x(np.reshape(y_bar, shape)))

    @frule.register(kind)
    def convert_forward(dots, x=0, /):
        if as_numeric(x) is None:
            return NotImplemented
        y = kind(x)
        return y, None if dots[0] is None else project(filled(dots[0], x), y)


def _concrete(kind: Any) -> list[Any]:
    kinds = [sub for sub in kind.__subclasses__() if sub.__module__ == "numpy"]  # no user classes
    return [kind] if not kinds else [leaf for sub in kinds for leaf in _concrete(sub)]


for _kind in _concrete(np.inexact):
    _conversion(_kind)
non_differentiable(np.bool_, *_concrete(np.integer))
for _kind in _concrete(np.number):
    for _name in ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"):
        non_differentiable((_kind, _name))


_item: Any = operator.getitem


@rrule.register((np.generic, "__getitem__"), trusted=True)
def _(x, index, /):
    """Read ``x[()]``, the scalar, ``x[...]``, an array of no axes, or ``x[mask]``, maybe empty."""
    if not isinstance(x, np.number):
        return NotImplemented
    to_x = projector(x)
    y = _item(x, index)
    return y, lambda y_bar: (None, to_x(np.sum(y_bar)), None)


@frule.register((np.generic, "__getitem__"))
def _(dots, x, index, /):
    if not isinstance(x, np.number):
        return NotImplemented
    y = _item(x, index)
    return y, None if dots[0] is None else project(np.zeros(np.shape(y)) + dots[0], y)


@structural((np.void, "setfield"), (np.void, "__setitem__"))
def _(memory: Memory, *_: Any) -> Any:
    raise refused(
        "a row of an array with named fields is written inside differentiated code",
        "write into a whole field: array['name'][i] = value",
    )


@rrule.register((np.generic, "view"), trusted=True)
def _(x, *of):
    """View a scalar, which stays a scalar as another class of arrays."""
    y = _viewed(x, of)
    return NotImplemented if y is None else (y, lambda y_bar: (None, y_bar, *[None] * len(of)))


@frule.register((np.generic, "view"))
def _(dots, x, *of):
    y = _viewed(x, of)
    return NotImplemented if y is None else (y, dots[0])


def _viewed(x: Any, of: Any) -> Any:
    """Return the view, or None if its type differs."""
    y = x.view(*of)
    return y if isinstance(x, np.inexact) and type(y) is type(x) else None
