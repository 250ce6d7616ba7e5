"""Families of rules: the part that hundreds of functions share, for both modes.

They do broadcasting, dtypes and the projection from complex to real (`adjoint.rulekit.projection`),
so that no rule has to::

    elementwise(np.tanh, lambda y, x: 1 - y * y)
    elementwise(np.hypot, lambda y, a, b: a / y, lambda y, a, b: b / y)
    elementwise(operator.sub, 1, -1, also=(np.subtract,))
    linear(np.flip, lambda y_bar, shape, axis=None: np.flip(y_bar, axis), alias=True)
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import partial as bind
from typing import Any

import numpy as np

from adjoint.errors import RuleError
from adjoint.rulekit.elementwise_forward import filled, forward
from adjoint.rulekit.elementwise_reverse import reverse
from adjoint.rulekit.partials import Partial, Partials
from adjoint.rulekit.projection import as_numeric, project, projector
from adjoint.rulekit.refusal import (
    NoDerivative,
    refusing_forward,
    refusing_reverse,
    unless_complex,
)
from adjoint.rulekit.registry import frule, rrule
from adjoint.rulekit.tangents import linear_in, steady_in

__all__ = ["NoDerivative", "elementwise", "linear", "project"]


def elementwise(
    f: Callable[..., Any],
    *partials: Partial | NoDerivative,
    also: Iterable[Callable[..., Any]] = (),
    singular: bool = False,
    real_valued: bool = False,
    selects: bool | Callable[..., Any] = False,
    quick: Callable[..., Any] | None = None,
) -> None:
    """Register both rules of a function that acts on each element separately.

    Parameters
    ----------
    f, also
        Functions of as many operands as there are partials: numbers, arrays that broadcast and, for
        NumPy's ufuncs, lists and tuples in place of arrays. Functions of `math`, told by their
        module, get floats only.
    *partials
        One per operand, in order: a function of the operands, or of ``y`` (by that name) and the
        operands, that returns the derivative; a number where it is constant; ``None`` where it is
        zero; a `NoDerivative` where needing it must be an error. Only values that the partials read
        become residuals. For complex operands it is the derivative of a holomorphic function;
        functions that are not holomorphic (``abs``, ``real``, ``conj``, …) have rules of their own.
    singular
        A partial can be infinite or NaN at a finite point, or overflow. Where the cotangent of
        ``y`` is zero, that of the operand is zero all the same, because a branch that was not
        selected contributes nothing.
    real_valued
        The result is real also for complex operands, so that there is no complex derivative: the
        partials are gradients, ∂y/∂Re x + i ∂y/∂Im x.
    selects
        Each element of ``y`` is that of one operand: the others get zero, even from an infinite
        cotangent. For two operands it may be the comparison, such as ``np.greater``, that tells
        where the first one alone is selected.
    quick
        ``quick(y_bar, y, *operands)``: the cotangent of the operand, or of all of them as a tuple,
        in fewer passes over arrays than the products with the partials take. It is called for
        double-precision arrays of one shape. Where its result is not finite, the partials decide;
        after one finite result it is not checked again, so where finite slopes do not guarantee
        finite results it must check them itself and return ``None`` for the partials.
    """
    n = len(partials)
    refused = {i: p for i, p in enumerate(partials) if isinstance(p, NoDerivative)}
    given = tuple(None if isinstance(p, NoDerivative) else p for p in partials)
    in_reals = tuple(p.in_reals if isinstance(p, NoDerivative) else p for p in partials)
    slopes = Partials.of(given, singular, real_valued, selects, quick)
    for g in (f, *also):
        back_rule, forward_rule = reverse(g, slopes), forward(g, slopes)
        if refused:
            back_rule = refusing_reverse(g, back_rule, refused)
            forward_rule = refusing_forward(g, forward_rule, refused, n)
            back_rule.partly = slopes.refusing(refused)  # type: ignore[attr-defined]
        if in_reals != given:
            of_reals = Partials.of(in_reals, singular)
            back_rule = unless_complex(reverse(g, of_reals), back_rule, n)
            forward_rule = unless_complex(forward(g, of_reals), forward_rule, n, "dots")
        rrule.register(g, trusted=True)(back_rule)
        frule.register(g, trusted=True)(forward_rule)
        if selects:
            steady_in(g, places=range(n))


def linear(
    f: Callable[..., Any],
    transpose: Callable[..., Any],
    *,
    also: Iterable[Callable[..., Any]] = (),
    alias: bool = False,
    called: Callable[..., Any] | None = None,
) -> None:
    """Register both rules of a function that is linear in its first argument.

    The other arguments (axes, shapes, counts) have no derivative. The forward rule is `f` itself.

    Parameters
    ----------
    f, also
        Functions or methods; the first argument is a number, an array, or a list or tuple in place
        of an array.
    transpose
        ``transpose(y_bar, shape, *others, **keywords) -> x_bar``; `shape` is that of the first
        argument, the rest are the other arguments of `f`. Its signature after the first two
        parameters is what the rule accepts: name each keyword that `f` may be called with, with the
        default of `f`, and leave out those that the rule declines. `x_bar` must have the shape
        `shape`; its dtype and realness are projected.
    alias
        The result may be a view of the argument.
    called
        The rules call it in place of `f`.

    Examples
    --------
    >>> linear(
    ...     np.moveaxis,
    ...     lambda y_bar, shape, source, destination: np.moveaxis(y_bar, destination, source),
    ...     alias=True,
    ... )
    """
    _, _, *others = inspect.signature(transpose).parameters.values()
    first = inspect.Parameter("x", inspect.Parameter.POSITIONAL_ONLY)
    dots = inspect.Parameter("dots", inspect.Parameter.POSITIONAL_ONLY)
    for g in (f, *also):
        back_rule, forward_rule = (
            bind(_linear_reverse, called or g, transpose),
            bind(_linear_forward, called or g),
        )
        back_rule.__signature__ = inspect.Signature([first, *others])  # type: ignore[attr-defined]
        forward_rule.__signature__ = inspect.Signature([dots, first, *others])  # type: ignore[attr-defined]
        rrule.register(g, alias=alias, trusted=True)(back_rule)
        frule.register(g, alias=alias, trusted=True)(forward_rule)
        linear_in(g)


def _linear_reverse(
    f: Callable[..., Any], transpose: Callable[..., Any], x: Any, *others: Any, **keywords: Any
) -> Any:
    array = as_numeric(x)
    if array is None:
        return NotImplemented
    y = f(x, *others, **keywords)
    shape, to_x, no_bars = np.shape(array), projector(x), (None,) * len(others)

    def back(y_bar: Any) -> tuple[Any, ...]:
        x_bar = transpose(y_bar, shape, *others, **keywords)
        if np.shape(x_bar) != shape:
            raise RuleError(
                f"the transpose of {f.__name__} gave a cotangent of shape {np.shape(x_bar)}"
                f" for an argument of shape {shape}"
            )
        return None, to_x(x_bar), *no_bars

    return y, back


def _linear_forward(
    f: Callable[..., Any], dots: tuple[Any, ...], x: Any, *others: Any, **keywords: Any
) -> Any:
    if as_numeric(x) is None:
        return NotImplemented
    y = f(x, *others, **keywords)
    x_dot = dots[0]
    return y, None if x_dot is None else f(filled(x_dot, x), *others, **keywords)
