"""Operators of JAX that have another name or another form here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.api.argument_selection import Argnums, copied_containers, split_aux
from adjoint.api.gradients import pullback_of_arguments
from adjoint.derivatives.jacobians import jacobian_forward, jacobian_reverse
from adjoint.diagnostics.function_argument import demand_function, demand_point
from adjoint.diagnostics.public_function import MadeBy, named_after, public
from adjoint.errors import ArgumentError
from adjoint.runtime.results import structure_of, with_zeros


@public
def vjp(f: Callable[..., Any], /, *primals: Any, has_aux: bool = False, **kwargs: Any) -> Any:
    """Value of a function, and the function of its vector-Jacobian products.

    This is `pullback` in the form of JAX: without the cotangent of `f` itself, and with zeros in
    place of ``None``.

    Parameters
    ----------
    f : callable
        Any Python function, method, class or callable object.
    *primals
        The point: numbers, arrays, containers, objects.
    has_aux : bool
        `f` returns a pair; only its first part is differentiated.
    **kwargs
        Passed through, held constant.

    Returns
    -------
    y
        ``f(*primals, **kwargs)``; with `has_aux` the first part of it.
    vjp_fn : callable
        ``vjp_fn(y_bar)`` is a tuple with the cotangent of each argument, shaped like it. It may be
        called any number of times.
    aux
        With `has_aux`, the second part.

    Raises
    ------
    ArgumentError
        `f` is no function, or there is no point; with `has_aux`, `f` returned no pair.

    Examples
    --------
    >>> y, vjp_fn = vjp(lambda x, y: x * y, 3.0, 4.0)
    >>> y, vjp_fn(1.0)
    (12.0, (4.0, 3.0))
    """
    demand_point(f, len(primals) + len(kwargs), "vjp")
    before = [*map(structure_of, primals)]
    y, back = pullback_of_arguments(f, primals, kwargs)
    value, aux = split_aux(f, y, has_aux)

    def vjp_fn(y_bar: Any) -> tuple[Any, ...]:
        bars = back((y_bar, None) if has_aux else y_bar)
        return tuple([with_zeros(*pair) for pair in zip(before, bars, strict=True)])

    vjp_fn.__module__ = __name__
    return (value, public(vjp_fn), aux) if has_aux else (value, public(vjp_fn))


@public
def jacfwd(
    f: Callable[..., Any], argnums: Argnums = 0, *, has_aux: bool = False
) -> Callable[..., Any]:
    """Function that returns the Jacobian of `f`, one sweep per entry of the arguments.

    This is `jacobian_forward` in the form of JAX: with respect to the first argument, unless
    `argnums` names others (see `jacobian`).

    Raises
    ------
    ArgumentError
        `f` is no function, or `argnums` is a point.

    Examples
    --------
    >>> jacfwd(lambda x, y: x * y, argnums=1)(2.0, 3.0)
    2.0
    """
    return _jacobian(jacfwd, jacobian_forward, f, argnums, has_aux)


@public
def jacrev(
    f: Callable[..., Any], argnums: Argnums = 0, *, has_aux: bool = False
) -> Callable[..., Any]:
    """Function that returns the Jacobian of `f`, one sweep per entry of the result.

    This is `jacobian_reverse` in the form of JAX: with respect to the first argument, unless
    `argnums` names others (see `jacobian`).

    Raises
    ------
    ArgumentError
        `f` is no function, or `argnums` is a point.

    Examples
    --------
    >>> jacrev(lambda x, y: x * y, argnums=1)(2.0, 3.0)
    2.0
    """
    return _jacobian(jacrev, jacobian_reverse, f, argnums, has_aux)


def _jacobian(
    operator: Any, jacobian: Any, f: Any, argnums: Any, has_aux: bool
) -> Callable[..., Any]:
    name = operator.__name__
    demand_function(f, f"{name}(f)(x)")
    if not isinstance(argnums, int | str | list | tuple | np.integer | None):
        raise ArgumentError(
            f"argnums is {argnums!r}, which names no argument",
            hint=f"the point comes second: ad.{name}(f)(x), or ad.{jacobian.__name__}(f, x)",
        )
    argnums = copied_containers(argnums)

    def at_point(*args: Any, **kwargs: Any) -> Any:
        return jacobian(f, *args, argnums=argnums, has_aux=has_aux, **kwargs)

    at_point.__module__ = __name__
    made_by = MadeBy(operator, (f, argnums), {"has_aux": has_aux})
    return named_after(public(at_point), made_by)  # type: ignore[no-any-return]
