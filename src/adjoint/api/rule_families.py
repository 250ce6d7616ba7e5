"""Rules that take one line: of elementwise and of linear functions; and missing derivatives."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from adjoint.api.extension_points import prepared, registered
from adjoint.cotangents.poison import Poison
from adjoint.diagnostics.public_function import public
from adjoint.diagnostics.user_place import current_place
from adjoint.errors import ArgumentError, NoDerivativeError
from adjoint.rulekit import families
from adjoint.rulekit.refusal import NoDerivative
from adjoint.rulekit.registry import non_differentiable


@non_differentiable
def not_implemented(why: str) -> Any:
    """Cotangent of an argument whose derivative a rule does not give.

    Unlike ``None``, which is a zero, it is an error where it would reach something that is
    differentiated. Constant arguments cost nothing.

    Parameters
    ----------
    why : str
        Completes the message "a derivative is needed that is not implemented: …".

    Returns
    -------
    object
        For a rule to return: as one of the cotangents of ``back``, as the tangent of a forward
        rule, or in place of a partial derivative in `scalar_rule`.

    Raises
    ------
    NoDerivativeError
        Later, where the derivative is needed.

    Examples
    --------
    >>> import adjoint as ad
    >>> def power_sum(x, n):
    ...     return np.sum(x**n)
    >>> @ad.rrule.register(power_sum)
    ... def _(x, n):
    ...     def power_sum_back(y_bar):
    ...         return None, y_bar * n * x ** (n - 1), ad.not_implemented("the order")
    ...     return power_sum(x, n), power_sum_back
    >>> ad.grad(power_sum)(np.array([1.0, 2.0]), 3.0)
    array([ 3., 12.])
    >>> ad.grad(power_sum, argnums=1)(np.array([1.0, 2.0]), 3.0)
    Traceback (most recent call last):
    ...
    adjoint.errors.NoDerivativeError: a derivative is needed that is not implemented: the order
    hint: hold that argument constant, with ad.stop_gradient for example
    see https://github.com/adjoint-ad/adjoint/blob/main/docs/limitations.md#noderivativeerror
    """
    error = NoDerivativeError(
        f"a derivative is needed that is not implemented: {why}",
        hint="hold that argument constant, with ad.stop_gradient for example",
        place=current_place(),
    )
    error.why = why  # type: ignore[attr-defined]
    return Poison(error)


@public
def scalar_rule(f: Callable[..., Any], *slopes: Any, singular: bool = False) -> None:
    """Register both rules of a function of numbers, which acts on arrays element by element.

    Broadcasting, dtypes, complex numbers and both modes follow from the partial derivatives. Only
    the values that these read are stored; generated programs evaluate only those partial
    derivatives that are needed.

    Parameters
    ----------
    f : callable
        A function of as many positional arguments as there are slopes: numbers, or arrays that
        broadcast.
    *slopes
        One for each argument, in order: a function of the arguments, or of ``y`` (by that name) and
        the arguments, that returns the partial derivative, made of operations that act element by
        element; a number where it is constant; ``None`` where it is zero; `not_implemented` where
        it is not known. For complex arguments it is the complex derivative of a holomorphic
        function.
    singular : bool
        A slope can be infinite or NaN at a finite point. Where the cotangent of the result is zero,
        that of the argument is zero all the same.

    Raises
    ------
    ArgumentError
        `f` cannot have a rule, there is no slope, or one that takes other arguments than `f`.

    See Also
    --------
    adjoint.testing.check_rule : compares a rule with finite differences.

    Examples
    --------
    >>> import adjoint as ad
    >>> from decimal import Decimal
    >>> def root(x):
    ...     return float(Decimal(x).sqrt())
    >>> ad.scalar_rule(root, lambda y, x: 0.5 / y)
    >>> ad.gradient(root, 4.0), ad.pushforward(root, (4.0,), (1.0,))
    ((0.25,), (2.0, 0.25))
    """
    if not slopes:
        raise ArgumentError(
            "a scalar rule has a partial derivative for each argument",
            hint="for instance ad.scalar_rule(f, lambda y, x: 1 - y * y)",
        )
    partials = [_partial(slope, i, len(slopes)) for i, slope in enumerate(slopes)]
    prepared(f)
    families.elementwise(f, *partials, singular=singular)
    registered()


def _partial(slope: Any, place: int, count: int) -> Any:
    if type(slope) is Poison:
        why = f"is not implemented: {getattr(slope.error, 'why', slope.error)}"
        return NoDerivative(f"argument {place}", why)
    if slope is None or isinstance(slope, int | float):
        return slope
    if not callable(slope):
        raise ArgumentError(
            f"a slope is a function, a number or None, not {slope!r}",
            hint="for instance ad.scalar_rule(f, lambda y, x: 1 - y * y)",
        )
    names = _names(slope)
    if names == ["y"]:
        raise ArgumentError(
            f"the slope of argument {place} takes one value called 'y', the name of the result",
            hint="lambda y, x: … to read the result; call the argument by another name than y",
        )
    if len(names) != count and (names[:1] != ["y"] or len(names) != count + 1):
        raise ArgumentError(
            f"the slope of argument {place} takes ({', '.join(names)}), and the function has"
            f" {count} arguments",
            hint="a slope takes the arguments, or y and the arguments",
        )
    return slope


def _names(f: Callable[..., Any]) -> list[str]:
    try:
        return list(inspect.signature(f).parameters)
    except (TypeError, ValueError):
        raise ArgumentError(
            f"{f!r} does not say which arguments it takes", hint="write a lambda that calls it"
        ) from None


@public
def linear_rule(
    f: Callable[..., Any], transpose: Callable[..., Any], *, alias: bool = False
) -> None:
    """Register both rules of a function that is linear in its first argument.

    The forward rule is `f` itself; the other arguments (axes, shapes, counts) have no derivative.

    Parameters
    ----------
    f : callable
        The first argument is a number or an array.
    transpose : callable
        ``transpose(y_bar, shape, *others, **keywords)`` returns the cotangent of the first
        argument, of shape `shape`, complex where `y_bar` is; it is then converted to the dtype of
        the argument. Its parameters after the first two are the calls that the rule takes: name
        each further argument of `f`, with the default that `f` has, and leave out those that the
        rule declines.
    alias : bool
        The result may be a view of the argument.

    Raises
    ------
    ArgumentError
        `f` cannot have a rule, or `transpose` does not begin with ``y_bar, shape``.
    RuleError
        When a derivative is computed: `transpose` returned another shape.

    See Also
    --------
    adjoint.testing.check_rule : compares a rule with finite differences.

    Examples
    --------
    >>> import adjoint as ad
    >>> def every_second(x):
    ...     return x[::2]
    >>> def spread(y_bar, shape):
    ...     x_bar = np.zeros(shape, y_bar.dtype)
    ...     x_bar[::2] = y_bar
    ...     return x_bar
    >>> ad.linear_rule(every_second, spread, alias=True)
    >>> ad.gradient(lambda x: np.sum(every_second(x) ** 2), np.array([1.0, 2.0, 3.0]))
    (array([2., 0., 6.]),)
    """
    if not callable(transpose) or len(_names(transpose)) < 2:
        raise ArgumentError(
            "the transpose takes the cotangent of the result and the shape of the argument",
            hint="transpose(y_bar, shape, *others, **keywords), with the other arguments of the"
            " function by name",
        )
    prepared(f)
    families.linear(f, transpose, alias=alias)
    registered()
