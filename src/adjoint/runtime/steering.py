"""Functions that a differentiated function calls to control its own derivative."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from adjoint.cotangents.accumulate import accumulate, finish
from adjoint.cotangents.form import fitted_cotangent, form_of
from adjoint.cotangents.poison import Poison
from adjoint.diagnostics.no_derivative import name_of
from adjoint.diagnostics.user_place import current_place
from adjoint.errors import ArgumentError, CotangentError
from adjoint.primal.value_kinds import by_value
from adjoint.rulekit.projection import projector
from adjoint.rulekit.refusal import demand_known
from adjoint.rulekit.registry import structural
from adjoint.runtime.memory.collect import collect
from adjoint.runtime.memory.deposit import deposit
from adjoint.runtime.memory.detached_copy import detached
from adjoint.runtime.memory.memory import Memory


def stop_gradient(x: Any) -> Any:
    """Return a constant copy of `x`, through which no derivative flows back.

    Parameters
    ----------
    x
        A number, an array of any shape, a container, a function or an object.

    Returns
    -------
    object
        A number is returned itself. Arrays, containers and objects are copied with all their parts,
        inside and outside of differentiated code, so that writes to the copy do not change `x`.

    Raises
    ------
    MutationError
        `x` holds an iterator, or an object of C that holds numbers and cannot be copied.

    Examples
    --------
    >>> import adjoint as ad
    >>> ad.gradient(lambda x: x * ad.stop_gradient(x), 3.0)
    (3.0,)
    """
    return detached(x)


def hook(on_cotangent: Callable[..., Any], x: Any, *, name: str | None = None) -> Any:
    """Return `x`, and send its cotangent through `on_cotangent` in the reverse sweep.

    Forward mode ignores the hook. Nested derivatives differentiate `on_cotangent`.

    Parameters
    ----------
    on_cotangent : callable
        Called with the cotangent of this use of `x`, shaped like `x`; returns a cotangent of the
        same shape, or ``None`` for zero.
    x
        A number, an array of any shape, a container or an object.
    name : str, optional
        Second argument of `on_cotangent`, so that one function serves many variables.

    Returns
    -------
    object
        `x` itself.

    Raises
    ------
    ArgumentError
        `on_cotangent` is not callable.
    CotangentError
        In the reverse sweep: `on_cotangent` returned a cotangent that does not fit `x`.

    Examples
    --------
    >>> import adjoint as ad
    >>> ad.gradient(lambda x: ad.hook(lambda bar: 2 * bar, x) ** 2, 3.0)
    (12.0,)

    Log cotangents by variable:

    >>> seen = {}
    >>> def log(bar, name):
    ...     seen[name] = bar
    ...     return bar
    >>> def f(x):
    ...     h = ad.hook(log, x * x, name="h")
    ...     y = ad.hook(log, h * x, name="y")
    ...     return 2.0 * y
    >>> ad.gradient(f, 3.0), seen
    ((54.0,), {'y': 2.0, 'h': 6.0})
    """
    with_name(on_cotangent, name)
    return x


@structural(stop_gradient)
def _(memory: Memory, x: Any) -> Any:
    return detached(x), None


@structural(hook)
def _(memory: Memory, on_cotangent: Any, x: Any, *, name: str | None = None) -> Any:
    memory.runs_user_code = True
    on_cotangent = with_name(on_cotangent, name)

    def shown(bar: Any, take_it: Callable[[Any], Any]) -> Any:
        if memory.trial:
            raise RuntimeError("a cotangent that nobody gave would be shown to a hook")
        if type(bar) is Poison:
            return take_it(bar)
        demand_known(bar)
        return _of_hook(on_cotangent, take_it, on_cotangent(bar))

    if not by_value(x):
        # The shadow holds the cotangent of the uses after this point; the hook replaces it.
        def structure_back(_: Any) -> tuple[None, ...]:
            shown(collect(memory, x, None), partial(deposit, memory, x))
            return None, None, None

        return x, structure_back

    def fitted(bar: Any) -> Any:
        return bar if type(bar) is Poison or bar is None else to_x(fitted_cotangent(form, bar))

    def hook_back(y_bar: Any) -> tuple[Any, ...]:
        if memory.buffers and isinstance(x, np.ndarray) and memory.is_written(x):
            bar = accumulate(y_bar, _held(memory, x))  # `x` was written since
            if bar is not None:
                memory.add_array(x, shown(finish(bar), fitted))
            return None, None, None
        return None, None, None if y_bar is None else shown(finish(y_bar), fitted)

    form, to_x = form_of(x), projector(x)
    return x, hook_back


def _held(memory: Memory, x: np.ndarray[Any, Any]) -> Any:
    """Take the cotangent of a written array out of its shadow; ``None`` if it is zero."""
    bar = memory.take_array(x)
    return bar if type(bar) is Poison or (bar is not None and bar.any()) else None


def with_name(on_cotangent: Callable[..., Any], name: str | None) -> Callable[..., Any]:
    """Return a function of a cotangent that calls the hook, with `name` if there is one."""
    if not callable(on_cotangent):
        raise ArgumentError(
            f"a hook calls its first argument, and that is a {type(on_cotangent).__name__}",
            hint="the function comes first: ad.hook(on_cotangent, x)",
        )
    if name is None:
        return on_cotangent

    def named(bar: Any) -> Any:
        return on_cotangent(bar, name)

    named.__name__ = name_of(on_cotangent)
    return named


def _of_hook(on_cotangent: Any, take_it: Callable[[Any], Any], bar: Any) -> Any:
    """Return ``take_it(bar)`` of a hook's cotangent; a `CotangentError` names the hook."""
    try:
        return take_it(bar)
    except CotangentError as error:
        refused = error
    raise CotangentError(
        f"the hook '{name_of(on_cotangent)}' returned what does not fit: {refused.problem}",
        hint="return a cotangent like the one that was given, or None",
        place=current_place(),
    )
