"""Functions whose values are recomputed in the reverse sweep instead of being stored."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from adjoint.diagnostics.function_argument import demand_function
from adjoint.diagnostics.public_function import MadeBy, named_after
from adjoint.errors import ArgumentError
from adjoint.rulekit.registry import leveled, primitive
from adjoint.runtime.dispatch.call import call, call_keywords
from adjoint.runtime.recompute.rerun import call_without_residuals

F = TypeVar("F", bound=Callable[..., Any])
S = TypeVar("S")


def checkpoint(f: F) -> F:
    """Function equal to `f` whose values the reverse sweep recomputes instead of storing them.

    Memory for the values inside `f` is needed only while the sweep is in `f`; the price is a second
    run of `f`.

    Parameters
    ----------
    f : callable
        Any function, method or callable object. Derivatives of what it captures are unchanged.

    Returns
    -------
    callable
        With the arguments and the results of `f`. As a decorator it serves methods, too.

    Raises
    ------
    ArgumentError
        `f` is not callable.

    Notes
    -----
    `f` runs again during the sweep, with its arguments, captured values and memory as they were at
    the call. Random generators that `f` is given, captures or names, and those of `numpy.random`
    and `random`, are restored for that run. Output is printed twice. A result that differs in the
    second run is an error where its derivative is needed.

    The values of `f` are stored as usual if `f` writes into arrays, lists or dicts or assigns
    attributes (also in objects that it has made itself), takes an iterator, or returns anything but
    numbers, arrays, lists, tuples, dicts and objects of these; and if `gradient` or `pullback` is
    itself called inside differentiated code.

    Examples
    --------
    >>> import adjoint as ad
    >>> import numpy as np
    >>> @ad.checkpoint
    ... def block(x):
    ...     return np.tanh(x) * np.exp(-x)
    >>> ad.gradient(lambda x: block(block(x)), 0.0)
    (1.0,)
    """

    demand_function(f, "checkpoint(f)")

    @functools.wraps(f, updated=())
    def checkpointed(*args: Any, **kwargs: Any) -> Any:
        return _called(f, *args, **kwargs)

    return named_after(checkpointed, MadeBy(checkpoint, (f,), {}, is_plain=True))  # type: ignore[no-any-return]


def _called(f: Any, /, *args: Any, **kwargs: Any) -> Any:
    return f(*args, **kwargs)


@primitive(_called)
def _(record: list[Any], slot: int, f: Any, /, *args: Any, **kwargs: Any) -> Any:
    return call_without_residuals(record, slot, f, args, kwargs)


@leveled(_called)
def _(level: Any, record: list[Any], slot: int, f: Any, /, *args: Any, **kwargs: Any) -> Any:
    return call_keywords(record, slot, f, args, kwargs)


# ---- loops ---------------------------------------------------------------------------------------


TOGETHER = 48
"""Steps whose values a sweep stores at a time: about as many bytes as the default snapshots."""


def checkpoint_loop(
    step: Callable[..., S], state: S, n: int, *args: Any, snapshots: int | None = None
) -> S:
    """Result of ``for i in range(n): state = step(state, i, *args)``, recomputed in the reverse
    sweep.

    Only `snapshots` states are stored at a time. The steps between them are repeated when the sweep
    needs them, in the order with the fewest repetitions (Griewank & Walther): s snapshots and r
    repetitions of each step are enough for (s + r)! / (s! r!) times 48 steps.

    Parameters
    ----------
    step : callable
        ``step(state, i, *args)`` returns the next state. It must not change the old state, nor
        anything else that existed before; otherwise all values are stored, which is right but saves
        no memory.
    state
        The first state: a number, an array, a list, tuple, dict or object of them.
    n : int
        The number of steps.
    *args
        Passed to each step. These, `state` and what `step` captures have derivatives.
    snapshots : int, optional
        How many states are stored; more cost memory, fewer cost time. By default 10 log2(n), with
        which hardly any loop runs its steps more often than three times.

    Returns
    -------
    The last state.

    Raises
    ------
    ArgumentError
        `snapshots` is not positive, or `n` is no integer.

    References
    ----------
    Griewank & Walther, *Algorithm 799: Revolve*, ACM Trans. Math. Softw. 26 (2000).

    Examples
    --------
    >>> import adjoint as ad
    >>> def step(x, i, rate):
    ...     return x - rate * x
    >>> def loss(rate):
    ...     return ad.checkpoint_loop(step, 1.0, 1000, rate)
    >>> round(ad.gradient(loss, 0.001)[0], 6)
    -368.063488
    """
    units = _units(n, snapshots)
    if snapshots is None:
        snapshots = 10 * max(units, 2).bit_length()
    return _loop(step, state, 0, n, args, snapshots, _repetitions(units, snapshots))  # type: ignore[no-any-return]


def _units(n: Any, snapshots: Any) -> int:
    if isinstance(n, bool) or not hasattr(type(n), "__index__"):
        raise ArgumentError(
            f"the number of steps is {n!r}, not an integer",
            hint="checkpoint_loop(step, state, n, *args) makes n steps",
        )
    if snapshots is not None and (not isinstance(snapshots, int) or snapshots < 1):
        raise ArgumentError(
            f"snapshots is {snapshots!r}, not a positive integer",
            hint="give the number of states that may be kept, or None",
        )
    return -(-int(n) // TOGETHER)


def _repetitions(units: int, snapshots: int) -> int:
    """Return how often steps have to be repeated for a loop of so many units."""
    times = 0
    while _reach(snapshots, times) < units:
        times += 1
    return times


def _reach(snapshots: int, times: int) -> int:
    """Return the longest loop, in units, for so many snapshots and repetitions."""
    reach = 1
    for i in range(1, times + 1):
        reach = reach * (snapshots + i) // i
    return reach


def _loop(
    step: Any, state: Any, start: int, stop: int, args: Any, snapshots: int, times: int
) -> Any:
    """Run the steps from `start` to `stop`: checkpointed parts, then the remaining steps."""
    while times > 0 and stop - start > TOGETHER:
        middle = min(start + TOGETHER * _reach(snapshots, times - 1), stop)
        if middle == stop or snapshots == 0:
            return _loop(step, state, start, stop, args, snapshots, times - 1)
        state = _called(_loop, step, state, start, middle, args, snapshots, times - 1)
        start, snapshots = middle, snapshots - 1
    for i in range(start, stop):
        state = _stepped(step, state, i, args)
    return state


def _stepped(step: Any, state: Any, i: int, args: tuple[Any, ...]) -> Any:
    return step(state, i, *args)


@primitive(_stepped)
def _(record: list[Any], slot: int, step: Any, state: Any, i: int, args: tuple[Any, ...]) -> Any:
    """Run a step as one operation, because steps are frequent."""
    memory = record[0]
    inner: list[Any] = [memory, None]

    def stepped_back(y_bar: Any) -> tuple[Any, ...]:
        bars = None if inner[1] is None else inner[1](y_bar)
        if bars is None:
            return (None,) * 5
        for k, bar in enumerate(bars[3:]):
            memory.add_item(args, k, bar)
        return None, bars[0], bars[1], bars[2], None

    record[slot] = stepped_back
    return call(inner, 1, step, state, i, *args)


@leveled(_stepped)
def _(level: Any, record: list[Any], slot: int, step: Any, state: Any, i: int, args: Any) -> Any:
    return call(record, slot, step, state, i, *args)
