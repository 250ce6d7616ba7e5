"""Functions in C that have a twin in Python: the value is theirs, the derivative is the twin's.

SciPy keeps several of its algorithms twice, in C and in Python; others are written down here. The
twin is lowered like any function, so it needs no rule of its own, and it has to agree::

    @carried(_rotation_cy.as_matrix)
    def as_matrix(quat):
        return _rotation_xp.as_matrix(quat)
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.cotangents.poison import Poison
from adjoint.rulekit.refusal import NoDerivative, refusal, refused_bar
from adjoint.rulekit.registry import frule, non_differentiable, rrule, substitute

UNLIKE = NoDerivative(
    "its arguments", "is not known: its value does not agree with that of its twin in Python"
)


def carried(
    f: Callable[..., Any], rtol: float = 1e-6, atol: float = 1e-9
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The decorated function computes the same as `f`, and carries its derivative.

    Parameters
    ----------
    f
        Returns an array, a buffer that stands for one, or a tuple of such and of ``None``. It
        changes nothing.
    rtol, atol
        How well the two results agree; where they do not, the derivative is refused.
    """

    def add(twin: Callable[..., Any]) -> Callable[..., Any]:
        @non_differentiable
        def plain(*args: Any, **kwargs: Any) -> Any:
            y = f(*args, **kwargs)
            return tuple(map(_array, y)) if isinstance(y, tuple) else _array(y)

        def with_value(*args: Any, **kwargs: Any) -> Any:
            y = plain(*args, **kwargs)
            carrier = twin(*args, **kwargs)
            if type(y) is not tuple:
                return carrying(y, carrier, f, rtol, atol)
            parts: list[Any] = []
            for part, part_carrier in zip(y, carrier):  # noqa: B905 (it is lowered)
                if part is None:
                    parts.append(None)
                else:
                    parts.append(carrying(part, part_carrier, f, rtol, atol))
            return tuple(parts)

        substitute(f)(with_value)
        return twin

    return add


def _array(y: Any) -> Any:
    return y if y is None or isinstance(y, float) else np.asarray(y)


def carrying(y: Any, carrier: Any, f: Any, rtol: float, atol: float) -> Any:
    """A copy of the value `y`, which has the derivative of `carrier`; `f` is what returned it."""
    return copy.copy(y)


def _agree(y: Any, carrier: Any, rtol: float, atol: float) -> bool:
    return np.shape(y) == np.shape(carrier) and np.allclose(
        carrier, y, rtol=rtol, atol=atol, equal_nan=True
    )


@rrule.register(carrying)
def _(y, carrier, f, rtol, atol):
    agree = _agree(y, carrier, rtol, atol)

    def carrying_back(y_bar: Any) -> tuple[Any, ...]:
        bar = y_bar if agree else refused_bar(f, UNLIKE, y_bar)
        return None, None, bar, None, None, None

    return copy.copy(y), carrying_back


@frule.register(carrying)
def _(dots, y, carrier, f, rtol, atol):
    if dots[1] is not None and not _agree(y, carrier, rtol, atol):
        raise refusal(f, UNLIKE)
    return copy.copy(y), dots[1]


# ---- values without a derivative -----------------------------------------------------------------


def refusing(y: Any, f: Any, missing: NoDerivative, *operands: Any) -> Any:
    """A copy of a value whose derivative in the operands is refused; `f` is what returned it."""
    return copy.copy(y)


@rrule.register(refusing)
def _(y, f, missing, *operands):
    def refusing_back(y_bar: Any) -> tuple[Any, ...]:
        return None, y_bar, None, None, *[refused_bar(f, missing, y_bar) for _ in operands]

    return copy.copy(y), refusing_back


@frule.register(refusing)
def _(dots, y, f, missing, *operands):
    if any(dot is not None for dot in dots[3:]):
        return copy.copy(y), Poison(refusal(f, missing))  # an error where it is used
    return copy.copy(y), dots[0]
