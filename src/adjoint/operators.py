"""Functions that a differentiated function calls to steer its own derivative."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from adjoint.errors import CotangentError
from adjoint.rules.projection import projector
from adjoint.rules.registry import structural
from adjoint.run.accumulate import Poison, finish
from adjoint.run.fitting import fitting, form_of
from adjoint.run.kinds import by_value
from adjoint.run.memory import Memory
from adjoint.run.place import current_place
from adjoint.run.structure import deposit, take
from adjoint.run.unknown import name_of

__all__ = ["hook", "stop_gradient"]


def stop_gradient(x: Any) -> Any:
    """`x` itself, as a constant: no derivative flows back through it.

    Examples
    --------
    >>> import adjoint as ad
    >>> ad.gradient(lambda x: x * ad.stop_gradient(x), 3.0)
    (3.0,)
    """
    return x


def hook(on_cotangent: Callable[[Any], Any], x: Any) -> Any:
    """`x` itself; its cotangent goes through `on_cotangent` on the way back.

    Parameters
    ----------
    on_cotangent : callable
        Called with the cotangent of this use of `x`; what it returns flows on. ``None`` stands for
        a cotangent that is not there.

    Examples
    --------
    >>> import adjoint as ad
    >>> ad.gradient(lambda x: ad.hook(lambda bar: 2 * bar, x) ** 2, 3.0)
    (12.0,)
    """
    return x


@structural(stop_gradient)
def _(memory: Memory, x: Any) -> Any:
    from adjoint.run.detach import detached

    return detached(x), None


@structural(hook)
def _(memory: Memory, on_cotangent: Any, x: Any) -> Any:
    memory.shown = True

    def shown(bar: Any, take_it: Callable[[Any], Any]) -> Any:
        if memory.trial:
            raise RuntimeError("a cotangent that nobody gave would be shown to a hook")
        if type(bar) is Poison:
            return take_it(bar)
        return _of_hook(on_cotangent, take_it, on_cotangent(bar))

    if not by_value(x):
        # The uses of a container after this point are told apart from earlier ones by taking its
        # shadow.
        def structure_back(_: Any) -> tuple[None, ...]:
            shown(take(memory, x, None), partial(deposit, memory, x))
            return None, None, None

        return x, structure_back

    def fitted(bar: Any) -> Any:
        return bar if type(bar) is Poison or bar is None else to_x(fitting(form, bar))

    def hook_back(y_bar: Any) -> tuple[Any, ...]:
        return None, None, None if y_bar is None else shown(finish(y_bar), fitted)

    form, to_x = form_of(x), projector(x)
    return x, hook_back


def _of_hook(on_cotangent: Any, take_it: Callable[[Any], Any], bar: Any) -> Any:
    """What `take_it` makes of a cotangent that a hook has returned."""
    try:
        return take_it(bar)
    except CotangentError as error:
        refused = error
    raise CotangentError(
        f"the hook '{name_of(on_cotangent)}' returned what does not fit: {refused.problem}",
        hint="return a cotangent like the one that was given, or None",
        place=current_place(),
    )
