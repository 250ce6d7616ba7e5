"""The public operators (design, section 2)."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from types import FunctionType
from typing import Any, Literal, NamedTuple

from adjoint.api.argument_selection import Argnums, Selection, copied_containers, select, split_aux
from adjoint.api.generic_tier import (
    Pullback,
    chosen_pullback,
    forward,
    generic_pullback,
    look_at_once,
)
from adjoint.api.program_choice import caller, chosen_mode, gradient_mode, pair_mode, pullback_mode
from adjoint.api.tier_report import OperatorCall
from adjoint.api.unit_cotangent import cotangent_one
from adjoint.diagnostics.function_argument import demand_function, demand_point
from adjoint.diagnostics.public_function import (
    MadeBy,
    hide_frames,
    named_after,
    plain_function,
    public,
)
from adjoint.errors import ArgumentError
from adjoint.fast.build.modes import Mode
from adjoint.fast.programs.pullback import SpecialisedPullback
from adjoint.fast.programs.store import MISS, is_enabled
from adjoint.fast.programs.store import run as run_specialised
from adjoint.levels.current import current
from adjoint.levels.foreign.mentions import goes_on_a_tape, mentions_operator
from adjoint.levels.reverse import NestedPullback, nested
from adjoint.primal.compiled_functions import python_of
from adjoint.rulekit import nested as rules_call
from adjoint.runtime.results import structure_of, with_zeros
from adjoint.runtime.session import leaving, session

Tier = Literal["fast", "generic"] | None


class ValueAndGradient(NamedTuple):
    """Result of `withgradient`: the ``value``, and the ``gradient`` by each argument."""

    value: Any
    gradient: tuple[Any, ...]


@public
def pullback(
    f: Callable[..., Any], /, *args: Any, **kwargs: Any
) -> tuple[Any, Pullback | NestedPullback | SpecialisedPullback]:
    """Value of a function, and its pullback at that point.

    Parameters
    ----------
    f : callable
        Any Python function, method, class or callable object.
    *args
        The point: numbers, arrays, containers, objects.
    **kwargs
        Passed through, held constant.

    Returns
    -------
    y
        ``f(*args, **kwargs)``.
    back : Pullback
        ``back(y_bar)`` returns ``(f_bar, *arg_bars)``: the cotangent of what `f` captured, then one
        per positional argument, with the structure and dtype of its primal; ``None`` is zero.

    Raises
    ------
    UnsupportedSyntaxError
        `f`, or a function that it calls, contains syntax that is not differentiated.

    Examples
    --------
    >>> y, back = pullback(lambda x: x * x, 3.0)
    >>> y, back(1.0)
    (9.0, (None, 6.0))
    """
    if type(f) is not FunctionType:  # whose captured variables have cotangents
        f = python_of(f) or plain_function(f) or f
    specialised = _specialised_pullback(f, args, kwargs)
    if specialised is not None:
        return specialised
    demand_function(f, "pullback(f, x)")
    if current.level is not None or mentions_operator(f, args):
        return nested(f, args, kwargs, of_function=True)
    with leaving, session:
        y, back = forward(f, args, kwargs)
        return y, back.mark()


def _specialised_pullback(
    f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, SpecialisedPullback] | None:
    """Return value and pullback from a specialised program; ``None`` if there is none."""
    if current.level is not None or not is_enabled[0]:
        return None
    given = (*args, *kwargs.values()) if kwargs else args
    back = partial(generic_pullback, f, args, kwargs)
    return _by_program(f, given, pullback_mode(kwargs), len(args), back)


def _by_program(
    f: Any, given: tuple[Any, ...], mode: Mode, count: int, generic: Callable[[], Any]
) -> tuple[Any, SpecialisedPullback] | None:
    """Return value and pullback to the function and `count` arguments from a program, or ``None``.
    `generic` makes the pullback that replaces a failing one."""
    found = run_specialised(f, given, mode)
    if found is MISS:
        return None
    is_tied = found[-1][2]
    if is_tied is not None and is_tied():
        return None
    return found[0], SpecialisedPullback(f, given, found, count, generic)


def pullback_of_arguments(
    f: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    wanted: tuple[int, ...] | None = None,
) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """Return value and pullback to the arguments alone. Captured variables are constants, even
    where they are also arguments."""
    specialised = _specialised_pullback(f, args, kwargs)
    if specialised is not None:
        y, made = specialised
        return y, lambda y_bar: made.swept(y_bar)[1:]
    if goes_on_a_tape(f, args):
        y, inner = nested(f, args, kwargs, of_function=False, wanted=wanted)
        return y, lambda y_bar: inner.swept(y_bar)[1:]
    with leaving, session:
        y, back = forward(f, args, kwargs, wanted=wanted)
        back.mark()
        return y, lambda y_bar: back.sweep(y_bar, of_function=False)[1:]


@public
def withgradient(
    f: Callable[..., Any], /, *args: Any, has_aux: bool = False, **kwargs: Any
) -> ValueAndGradient:
    """Value and gradient of a real-scalar-valued function at one point; `f` runs once.

    Parameters
    ----------
    f : callable
        Returns one real number: a float or an array of shape ``()``.
    *args, **kwargs
        As for `gradient`: the point, and what is held constant.
    has_aux : bool
        `f` returns a pair ``(value, extra)``, of which the value is differentiated.

    Returns
    -------
    ValueAndGradient
        A named tuple: ``value`` is the result of `f`, with `has_aux` the pair; ``gradient`` is the
        tuple that `gradient` returns.

    Raises
    ------
    NotScalarError
        `f`, or the first part of the pair, is not one real number.
    ArgumentError
        With `has_aux`: `f` returned no pair.

    Examples
    --------
    >>> withgradient(lambda x: x * x, 3.0)
    ValueAndGradient(value=9.0, gradient=(6.0,))
    >>> withgradient(lambda x: (x * x, "extra"), 3.0, has_aux=True)
    ValueAndGradient(value=(9.0, 'extra'), gradient=(6.0,))
    """
    if has_aux:
        demand_point(f, len(args) + len(kwargs), "withgradient")
        return ValueAndGradient(*_chosen(f, tuple(range(len(args))), args, kwargs, True, None))
    return ValueAndGradient(*_both(f, args, kwargs, "withgradient"))


def _both(
    f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], operator: str = "gradient"
) -> tuple[Any, tuple[Any, ...]]:
    """Return the value and the gradient in all positional arguments."""
    if current.level is None and is_enabled[0]:
        mode = gradient_mode(kwargs)
        found = run_specialised(f, (*args, *kwargs.values()), mode)
        if found is not MISS:
            return found  # type: ignore[no-any-return]
    demand_point(f, len(args) + len(kwargs), operator)
    return _chosen(f, tuple(range(len(args))), args, kwargs, False, None)


def _generic(
    f: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    tier: Tier,
    wanted: Collection[int] | None = None,
) -> tuple[Any, tuple[Any, ...]]:
    """Return the value and the cotangents of the arguments in the generic tier."""
    with leaving, session:
        y, back = forward(f, args, kwargs, specialising=_is_fast(tier), wanted=wanted)
        return y, back.swept(cotangent_one(f, y), None, of_function=False)[1:]


def gradient(f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
    """Gradient of a real-scalar-valued function at one point.

    Parameters
    ----------
    f : callable
        Returns one real number: a float or an array of shape ``()``.
    *args
        The point. Arrays of any shape, numbers, containers, objects.
    **kwargs
        Passed through, held constant.

    Returns
    -------
    tuple
        One entry per positional argument, shaped like it, in units of (result) / (argument); zero
        where no path leads from the argument to the result, ``None`` for what has no derivative:
        text, functions, ``None``.

    Raises
    ------
    NotScalarError
        `f` returned something else; the message names `pullback`.

    Examples
    --------
    >>> gradient(lambda x, y: x * y, 3.0, 4.0)
    (4.0, 3.0)
    """
    try:
        return _both(f, args, kwargs)[1]
    except BaseException as error:
        hide_frames(error)
        raise


gradient = public(gradient, hides_frames=True)


def _is_fast(tier: Tier) -> bool:
    """Return whether calls are specialised where possible."""
    return is_enabled[0] if tier is None else tier == "fast"


@public
def value_and_grad(
    f: Callable[..., Any], argnums: Argnums = 0, *, has_aux: bool = False, tier: Tier = None
) -> Callable[..., tuple[Any, Any]]:
    """Function that returns the value of `f` and its gradient with respect to some arguments.

    Parameters
    ----------
    f : callable
        Returns one real number.
    argnums : int, str, list or tuple
        The argument to differentiate in: a position counted from 0, the name of a parameter (that
        of a keyword argument, too), or a path into containers and objects, as a list of a position
        or name and then keys, indices, attributes: ``[0, "weights", 1]``. A tuple of these gives a
        tuple of gradients; ``None`` stands for all positional arguments.
    has_aux : bool
        `f` returns a pair ``(value, extra)``, of which the value is differentiated.
    tier : str, optional
        ``generic``: calls are not specialised; ``fast``: calls are specialised where possible,
        which is the default unless the environment sets ``ADJOINT_TIER=generic``. See `tier`.

    Returns
    -------
    callable
        With the arguments of `f`. Where no path leads from an argument to the result, the gradient
        is zero. With `has_aux` it returns ``((value, extra), gradient)``.

    Raises
    ------
    ArgumentError
        `tier` is unknown; when called: `argnums` names no argument.
    NotScalarError
        When called: `f` returned something other than one real number.

    Examples
    --------
    >>> value_and_grad(lambda x, scale: scale * x**2, argnums="scale")(3.0, scale=2.0)
    (18.0, 9.0)
    """
    argnums = copied_containers(argnums)

    def value_and_gradient(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
        return _chosen(f, argnums, args, kwargs, has_aux, tier)

    asked = OperatorCall(f, argnums, has_aux, tier, with_value=True)
    return _made("value_and_grad", value_and_gradient, asked)


@public
def grad(
    f: Callable[..., Any], argnums: Argnums = 0, *, has_aux: bool = False, tier: Tier = None
) -> Callable[..., Any]:
    """Function that returns the gradient of `f` with respect to some arguments.

    Parameters
    ----------
    f : callable
        Returns one real number.
    argnums, has_aux, tier
        As for `value_and_grad`: `argnums` is a position, a name, a path, or a tuple of these.

    Returns
    -------
    callable
        With the arguments of `f`. Returns the gradient alone, not in a tuple unless `argnums` is
        one or ``None``; with `has_aux` the pair ``(gradient, extra)``.

    Raises
    ------
    ArgumentError
        `tier` is unknown; when called: `argnums` names no argument.
    NotScalarError
        When called: `f` returned something other than one real number.

    Examples
    --------
    >>> slope = grad(lambda x, y: x**2 * y)
    >>> slope(3.0, 10.0)
    60.0
    >>> grad(slope)(3.0, 10.0), grad(lambda x, y: x**2 * y, argnums=(0, 1))(3.0, 10.0)
    (20.0, (60.0, 9.0))
    """
    argnums = copied_containers(argnums)

    def gradient_alone(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        value, found = _chosen(f, argnums, args, kwargs, has_aux, tier)
        return (found, value[1]) if has_aux else found

    return _made("grad", gradient_alone, OperatorCall(f, argnums, has_aux, tier))


def _made(
    operator: str, run: Callable[[tuple[Any, ...], dict[str, Any]], Any], asked: OperatorCall
) -> Callable[..., Any]:
    """Return the function that an operator returns; `run` takes calls without a program."""
    f, tier = asked.f, asked.tier
    demand_function(f, f"{operator}(f)")
    if tier not in ("fast", "generic", None):
        raise ArgumentError(
            f"there is no tier {tier!r}", hint="give 'fast', 'generic', or None for the usual one"
        )
    made: Any
    if asked.has_aux:

        def derivative(*args: Any, **kwargs: Any) -> Any:
            return run(args, kwargs)

        made = public(derivative)
    else:
        enabled = is_enabled if tier is None else [tier == "fast"]  # `_is_fast`, without a call
        with_value = operator == "value_and_grad"
        derivative = caller(f, asked.argnums, enabled, run, with_value=with_value)
        derivative.__module__ = __name__  # for users, beside its operator
        made = public(derivative, hides_frames=True)
    made.asks_for = asked  # for `tier` and `code`
    options = {"has_aux": asked.has_aux, "tier": tier}
    made_by = MadeBy(globals()[operator], (f, asked.argnums), options)
    return named_after(made, made_by)  # type: ignore[no-any-return]


def _chosen(
    f: Callable[..., Any],
    argnums: Argnums,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    has_aux: bool,
    tier: Tier,
) -> tuple[Any, Any]:
    """Return the value and the gradient in `argnums`, without a program for whole arguments."""
    if type(argnums) is int and 0 <= argnums < len(args) and not has_aux:  # most calls
        if not goes_on_a_tape(f, args):
            arg = structure_of(args[argnums])
            value, bars = _generic(f, args, kwargs, tier, (argnums,))
            return value, with_zeros(arg, bars[argnums])
    chosen = select(f, argnums, args, kwargs)
    args = chosen.args
    before = {i: structure_of(args[i]) for i in chosen.wanted}
    if has_aux:
        value, bars = _both_of_pair(chosen, f, tier)
    elif goes_on_a_tape(chosen.f, chosen.args):
        value, back = nested(chosen.f, args, chosen.kwargs, of_function=False, wanted=chosen.wanted)
        bars = chosen.bars(back.swept(cotangent_one(f, value)))
    else:
        value, bars = _both_of_chosen(chosen, f, tier)
    found = zip(before.items(), bars, strict=True)
    return value, chosen.result({i: with_zeros(arg, bar) for (i, arg), bar in found})


def _both_of_chosen(chosen: Selection, f: Any, tier: Tier) -> tuple[Any, tuple[Any, ...]]:
    """Return the value and the cotangents of the chosen arguments."""
    if chosen.has_parts and current.level is None and _is_fast(tier):
        found = run_specialised(f, chosen.given, chosen_mode(chosen))
        if found is not MISS:
            return found  # type: ignore[no-any-return]
    value, bars = _generic(chosen.f, chosen.args, chosen.kwargs, tier, chosen.wanted)
    return value, chosen.bars((None, *bars))


def _both_of_pair(chosen: Selection, f: Any, tier: Tier) -> tuple[Any, tuple[Any, ...]]:
    """Return the pair of value and extra, and the cotangents of the chosen arguments."""
    if current.level is None and _is_fast(tier):
        generic, count = partial(chosen_pullback, chosen), len(chosen.wanted)
        specialised = _by_program(f, chosen.given, pair_mode(chosen), count, generic)
        if specialised is not None:
            pair, made = specialised
            value, _ = split_aux(f, pair, True)
            return pair, made.swept((cotangent_one(f, value), None))[1:]
    if goes_on_a_tape(chosen.f, chosen.args):
        pair, inner = nested(
            chosen.f, chosen.args, chosen.kwargs, of_function=False, wanted=chosen.wanted
        )
        value, _ = split_aux(f, pair, True)
        return pair, chosen.bars(inner.swept((cotangent_one(f, value), None)))
    if _is_fast(tier):
        look_at_once(chosen.f)  # no other program covers the whole call
    with leaving, session:
        pair, back = forward(
            chosen.f,
            chosen.args,
            chosen.kwargs,
            specialising=_is_fast(tier),
            wanted=chosen.wanted,
        )
        value, _ = split_aux(f, pair, True)
        return pair, chosen.bars(
            back.swept((cotangent_one(f, value), None), None, of_function=False)
        )


rules_call.gradient = gradient
rules_call.pullback = pullback
rules_call.withgradient = withgradient
rules_call.grad = grad
rules_call.value_and_grad = value_and_grad
rules_call.ValueAndGradient = ValueAndGradient
