"""The public operators of forward mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adjoint.diagnostics.function_argument import demand_function
from adjoint.diagnostics.public_function import MadeBy, hide_frames, named_after, public
from adjoint.errors import ArgumentError
from adjoint.levels import bridge, level_rules  # noqa: F401  they register themselves
from adjoint.levels.arguments.result_tangent import read_tangent
from adjoint.levels.arguments.seeds import Seeds
from adjoint.levels.bases import along_parting
from adjoint.levels.current import current, entered
from adjoint.levels.forward_level import Forward
from adjoint.primal.compiled_functions import refuse_foreign_arrays
from adjoint.rulekit import nested
from adjoint.runtime.entries import basics
from adjoint.runtime.foreign.freed_objects import check_at_end
from adjoint.runtime.memory.independence import independent_arguments
from adjoint.runtime.session import leaving, session


def pushforward(
    f: Callable[..., Any], args: Sequence[Any], tangents: Sequence[Any], /, **kwargs: Any
) -> tuple[Any, Any]:
    """Value of a function, and its derivative along a direction (forward mode).

    Parameters
    ----------
    f : callable
        Any Python function, method, class or callable object.
    args : sequence
        The point: the positional arguments of `f`.
    tangents : sequence
        One tangent per argument: a number, an array of the argument's shape, or a structure like
        the argument's (a dict or an object by field name). ``None`` stands for zero, also inside
        structures.
    **kwargs
        Passed through, held constant.

    Returns
    -------
    y
        ``f(*args, **kwargs)``.
    y_dot
        The derivative of `y` along the tangents, with the structure, the shapes and the floating
        dtypes of `y`; zeros where no path leads to it.

    Raises
    ------
    ArgumentError
        A tangent does not fit its argument.
    NoDerivativeError
        A derivative is needed of a function that has neither rule nor source.

    Examples
    --------
    >>> pushforward(lambda x, y: x * y, (3.0, 4.0), (1.0, None))
    (12.0, 4.0)
    """
    try:
        if not isinstance(args, list | tuple) or not isinstance(tangents, list | tuple):
            raise ArgumentError(
                "the arguments and the tangents are given as two tuples",
                hint="pushforward(f, (x, y), (x_dot, y_dot))",
            )
        if len(args) != len(tangents):
            raise ArgumentError(
                f"there are {len(args)} arguments and {len(tangents)} tangents",
                hint="give one tangent for each positional argument, None for zero",
            )
        if current.level is None:
            found = nested.pushed(f, args, tangents, kwargs)
            if found is not None:
                return found  # type: ignore[no-any-return]
        return _on_level(f, args, tangents, kwargs)
    except BaseException as error:
        hide_frames(error)
        raise


pushforward = public(pushforward, hides_frames=True)


def _on_level(
    f: Callable[..., Any], args: Sequence[Any], tangents: Sequence[Any], kwargs: dict[str, Any]
) -> tuple[Any, Any]:
    """Compute `pushforward` without a program."""
    refuse_foreign_arrays(f, tuple(args))
    if not basics.ready:
        basics.load()
    level = Forward(current.level)
    y, y_dot = _pushed(level, f, args, tangents, kwargs)
    if level.missed and level.outer is None and not level.has_written((f, *args)):
        y_dot = along_parting(y, y_dot, lambda level: _pushed(level, f, args, tangents, kwargs))
    return y, y_dot


def pushforward_on_level(
    f: Callable[..., Any],
    args: Sequence[Any],
    tangents: Sequence[Any],
    on_write: Callable[[], None] | None = None,
) -> tuple[Any, Any]:
    """Run `pushforward` without a program; call `on_write` if an array of `args` was written."""
    if not basics.ready:
        basics.load()
    level = Forward(current.level)
    found = _pushed(level, f, args, tangents, {})
    if on_write is not None and level.has_written(tuple(args)):
        on_write()
    return found


def _pushed(
    level: Forward, f: Any, args: Sequence[Any], tangents: Sequence[Any], kwargs: dict[str, Any]
) -> tuple[Any, Any]:
    """Run `pushforward` on a level."""
    moved = [i for i, dot in enumerate(tangents) if dot is not None]
    args, apart = independent_arguments(f, args, kwargs, moved)
    with leaving, session, entered(level), Seeds(level, level.seed, apart) as seeds:
        own = [seeds.argument(arg, dot) for arg, dot in zip(args, tangents, strict=True)]
        y = level.run(f, *own, **kwargs)
        check_at_end(level.memory)
        y_dot = read_tangent(level, y)
    return seeds.restored(y), y_dot


def jvp(
    f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], /, **kwargs: Any
) -> tuple[Any, Any]:
    """Value of a function, and its Jacobian-vector product: `pushforward` by its name in JAX.

    Parameters
    ----------
    f : callable
        Any Python function, method, class or callable object.
    primals : sequence
        The point: the positional arguments of `f`.
    tangents : sequence
        One tangent per argument, ``None`` for zero.
    **kwargs
        Passed through, held constant.

    Returns
    -------
    y
        ``f(*primals, **kwargs)``.
    y_dot
        The derivative of `y` along the tangents.

    Raises
    ------
    ArgumentError
        A tangent does not fit its argument.

    Examples
    --------
    >>> jvp(lambda x, y: x * y, (3.0, 4.0), (1.0, 10.0))  # 4 * 1 + 3 * 10
    (12.0, 34.0)
    """
    return pushforward(f, primals, tangents, **kwargs)


def directional(f: Callable[..., Any], x: Any, v: Any, /, **kwargs: Any) -> Any:
    """Derivative of `f` at `x` along `v`.

    Parameters
    ----------
    f : callable
        A function of one positional argument.
    x
        The point.
    v
        The direction, with the structure and shapes of `x`.
    **kwargs
        Passed to `f`, held constant.

    Returns
    -------
    The derivative, with the structure and shapes of the result, in units of
    (result) / (`x`) · (`v`).

    Raises
    ------
    ArgumentError
        `v` does not fit `x`.

    Examples
    --------
    >>> directional(lambda x: x**2, 3.0, 2.0)
    12.0
    """
    return pushforward(f, (x,), (v,), **kwargs)[1]


@public
def derivative(f: Callable[..., Any]) -> Callable[..., Any]:
    """Derivative of `f` in its first argument: one real number, or an array element by element.

    Parameters
    ----------
    f : callable
        Of a number, its result may be of any structure and shape. Of an array, its result is an
        array of the same shape, each element of which depends on the same element of the argument
        only: ``np.tanh``, or arithmetic.

    Returns
    -------
    callable
        Takes the arguments of `f`, the others held constant. Returns the derivative, with the
        structure and shapes of the result, in units of (result) / (argument).

    Raises
    ------
    ArgumentError
        When called: the first argument is neither one real number nor an array of such; or it is an
        array, and the function has another shape or mixes elements (products with two vectors tell
        this).

    Examples
    --------
    >>> derivative(lambda x: x**3)(2.0)
    12.0
    >>> derivative(derivative(lambda x: x**3))(2.0)
    12.0
    >>> derivative(np.square)(np.array([1.0, 2.0, 3.0]))
    array([2., 4., 6.])
    """
    demand_function(f, "derivative(f)")

    def derivative_of(x: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(x, complex | np.complexfloating) or np.iscomplexobj(x):
            raise ArgumentError(
                "a derivative is taken in one real number, or in an array of them",
                hint="use gradient or jacobian",
            )
        if isinstance(x, np.ndarray) and x.ndim:
            return nested.elementwise_derivative(f, x, args, kwargs)
        if np.shape(x) != ():
            raise ArgumentError(
                "a derivative is taken in one real number, or in an array of them",
                hint="use gradient, jacobian, or directional along a vector",
            )
        unit = np.ones(()) if isinstance(x, np.ndarray) else 1.0
        return pushforward(f, (x, *args), (unit, *[None] * len(args)), **kwargs)[1]

    return named_after(public(derivative_of), MadeBy(derivative, (f,), {}))  # type: ignore[no-any-return]


nested.pushforward = pushforward
nested.derivative = derivative
nested.pushforward_on_level = pushforward_on_level
