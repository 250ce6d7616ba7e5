"""Compiled functions whose derivative comes from an equivalent Python function.

The value is that of the compiled function. The Python function is lowered like any function, so it
needs no rule of its own; its result must agree with the compiled one. SciPy has some algorithms in
both forms; the rules of this folder write down the others::

    @carried(_rotation_cy.as_matrix)
    def as_matrix(quat):
        return _rotation_xp.as_matrix(quat)
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, TypeVar

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
    """Register the decorated Python function as the source of the derivative of `f`.

    Parameters
    ----------
    f
        Returns an array, a buffer that NumPy converts to one, or a tuple of these and ``None``.
        It writes to no argument.
    rtol, atol
        Tolerances of the comparison of the two results; the derivative is refused where they
        disagree.
    """

    def add(twin: Callable[..., Any]) -> Callable[..., Any]:
        def with_value(*args: Any, **kwargs: Any) -> Any:
            carrier = twin(*args, **kwargs)
            y = compiled(f, carrier, *args, **kwargs)
            if type(y) is not tuple:
                return with_derivative_of(y, carrier, f, rtol, atol)
            parts: list[Any] = []
            for part, part_carrier in zip(y, carrier):  # noqa: B905 (it is lowered)
                if part is None:
                    parts.append(None)
                else:
                    parts.append(with_derivative_of(part, part_carrier, f, rtol, atol))
            return tuple(parts)

        substitute(f)(with_value)
        return twin

    return add


F = TypeVar("F", bound=Callable[..., Any])


def result_like(template: Callable[..., Any]) -> Callable[[F], F]:
    """Note that the decorated function returns an array of the shape and dtype of what `template`
    returns for the same arguments; programs learn these from `template`."""

    def add(f: F) -> F:
        f.template = template  # type: ignore[attr-defined]
        return f

    return add


@result_like(lambda f, like, *args, **kwargs: like)
@non_differentiable
def compiled(f: Any, like: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Return ``f(*args, **kwargs)`` as arrays, of the shapes and dtypes of `like`."""
    y = f(*args, **kwargs)
    return tuple(map(_array, y)) if isinstance(y, tuple) else _array(y)


def _array(y: Any) -> Any:
    return y if y is None or isinstance(y, float) else np.asarray(y)


def with_derivative_of(y: Any, carrier: Any, f: Any, rtol: float, atol: float) -> Any:
    """Return a copy of `y`, a result of `f`, with the derivative of `carrier`."""
    return copy.copy(y)


def _agree(y: Any, carrier: Any, rtol: float, atol: float) -> bool:
    return np.shape(y) == np.shape(carrier) and np.allclose(
        carrier, y, rtol=rtol, atol=atol, equal_nan=True
    )


@rrule.register(with_derivative_of)
def _(y, carrier, f, rtol, atol):
    agree = _agree(y, carrier, rtol, atol)

    def carrying_back(y_bar: Any) -> tuple[Any, ...]:
        bar = y_bar if agree else refused_bar(f, UNLIKE, y_bar)
        return None, None, bar, None, None, None

    return copy.copy(y), carrying_back


@frule.register(with_derivative_of)
def _(dots, y, carrier, f, rtol, atol):
    if dots[1] is not None and not _agree(y, carrier, rtol, atol):
        raise refusal(f, UNLIKE)
    return copy.copy(y), dots[1]


# ---- values without a derivative -----------------------------------------------------------------


def refusing(y: Any, f: Any, missing: NoDerivative, *operands: Any) -> Any:
    """Return a copy of `y`, a result of `f` whose derivative in `operands` is refused."""
    return copy.copy(y)


@rrule.register(refusing)
def _(y, f, missing, *operands):
    def refusing_back(y_bar: Any) -> tuple[Any, ...]:
        return None, y_bar, None, None, *[refused_bar(f, missing, y_bar) for _ in operands]

    return copy.copy(y), refusing_back


@frule.register(refusing)
def _(dots, y, f, missing, *operands):
    if any(dot is not None for dot in dots[3:]):
        return copy.copy(y), Poison(refusal(f, missing))  # raises only where the tangent is used
    return copy.copy(y), dots[0]
