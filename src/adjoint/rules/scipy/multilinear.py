"""Functions that are linear in each of their first operands: one line gives all their rules.

The adjoint of such a function in one operand, as a function of the cotangent and of the others, is
such a function again. So programs have derivatives of any order of them, each of one call::

    @multilinear(lambda ab, x, lower, upper: x, _to_band, _to_vector)
    def banded_product(ab, x, lower, upper): ...
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from adjoint.rulekit.registry import frule, rrule
from adjoint.rulekit.tangents import linear_in
from adjoint.rules.scipy.equivalents import result_like

F = TypeVar("F", bound=Callable[..., Any])


def of_kind(bar: Any, operand: Any) -> Any:
    """Return the real part of the cotangent of a real array."""
    return np.real(bar) if bar.dtype.kind == "c" and operand.dtype.kind != "c" else bar


def multilinear(template: Callable[..., Any], *adjoints: Callable[..., Any]) -> Callable[[F], F]:
    """Register the rules of the decorated function.

    Parameters
    ----------
    template
        Returns an array of the shape and dtype of the result, for the same arguments.
    *adjoints
        One function for each of the first operands: ``adjoint(y_bar, *args)`` returns the cotangent
        of the operand.
    """
    count = len(adjoints)

    def add(f: F) -> F:
        result_like(template)(f)
        linear_in(f, places=range(count))

        @rrule.register(f)
        def _(*args):
            def multilinear_back(y_bar, *, wanted):
                bars = [None] * (len(args) + 1)
                for i in range(count):
                    if wanted[i]:
                        bars[i + 1] = of_kind(adjoints[i](y_bar, *args), args[i])
                return tuple(bars)

            return f(*args), multilinear_back

        @frule.register(f)
        def _(dots, *args):
            y_dot: Any = None
            for i in range(count):
                if dots[i] is not None:
                    term = f(*args[:i], dots[i], *args[i + 1 :])
                    y_dot = term if y_dot is None else y_dot + term
            return f(*args), y_dot

        return f

    return add
