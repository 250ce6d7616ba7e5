"""Functions that a differentiated function calls to steer its own derivative."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adjoint.rules.registry import structural
from adjoint.run.accumulate import Poison, finish
from adjoint.run.memory import Memory
from adjoint.run.structure import by_value, deposit, take

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
    def shown(bar: Any) -> Any:
        if memory.trial:
            raise RuntimeError("a cotangent that nobody gave would be shown to a hook")
        return bar if type(bar) is Poison else on_cotangent(bar)

    if not by_value(x):
        # The uses of a container after this point are told apart from earlier ones by taking its
        # shadow.
        def structure_back(_: Any) -> tuple[None, ...]:
            deposit(memory, x, shown(take(memory, x, None)))
            return None, None, None

        return x, structure_back

    def hook_back(y_bar: Any) -> tuple[Any, ...]:
        return None, None, None if y_bar is None else shown(finish(y_bar))

    return x, hook_back
