"""Functions with a derivative written by hand."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from adjoint.api.gradients import pullback
from adjoint.errors import ArgumentError, RuleError
from adjoint.rulekit import registry
from adjoint.rulekit.wanted import asks, may_ask

F = TypeVar("F", bound=Callable[..., Any])
Rule = Callable[..., Any]


def custom(
    f: Callable[..., Any] | None = None,
    *,
    reverse: Rule | None = None,
    forward: Rule | None = None,
) -> Any:
    """Function equal to `f`, with a derivative written by hand.

    Parameters
    ----------
    f : callable
        The function.
    reverse : callable, optional
        With the arguments of `f`; returns ``(y, back)``, where ``back(y_bar)`` returns a tuple with
        one cotangent for each positional argument, ``None`` for zero; for a single argument also
        the cotangent itself.
    forward : callable, optional
        ``forward(dots, *args)`` returns ``(y, y_dot)``; `dots` has a tangent for each positional
        argument, ``None`` for zero.

    Returns
    -------
    callable
        Called like `f`. Its attributes ``reverse`` and ``forward`` are decorators that add rules
        later. Without `f`: a decorator.

    Raises
    ------
    ArgumentError
        The parameters of a rule are not those of `f`.
    RuleError
        When a derivative is computed: a rule returns a wrong number of cotangents, or cotangents of
        a wrong shape.

    Notes
    -----
    One rule is enough: the other mode follows from it, from a forward rule for numbers and arrays
    only. Derivatives of higher order are derivatives of the code of the rule. Variables that `f`
    captures then have no derivative: pass them as arguments.

    Examples
    --------
    >>> import adjoint as ad
    >>> @ad.custom
    ... def log1pexp(x):
    ...     return np.log(1.0 + np.exp(x))
    >>> @log1pexp.reverse
    ... def _(x):
    ...     return log1pexp(x), lambda y_bar: y_bar / (1.0 + np.exp(-x))
    >>> ad.gradient(log1pexp, 0.0), ad.gradient(log1pexp, -800.0)
    ((0.5,), (0.0,))
    """
    if f is None:
        return functools.partial(custom, reverse=reverse, forward=forward)
    if not callable(f):
        raise ArgumentError(
            f"a function is given a derivative, not {f!r}", hint="write @ad.custom above a function"
        )

    @functools.wraps(f, updated=())
    def customised(*args: Any, **kwargs: Any) -> Any:
        return f(*args, **kwargs)

    rules = _Rules(f, customised)
    customised.reverse, customised.forward = rules.reverse, rules.forward  # type: ignore[attr-defined]
    if reverse is not None:
        rules.reverse(reverse)
    if forward is not None:
        rules.forward(forward)
    return customised


class _Rules:
    """Registers the rules of one function."""

    def __init__(self, f: Callable[..., Any], customised: Callable[..., Any]) -> None:
        self._f, self._customised = f, customised
        self._has_reverse = False

    def reverse(self, rule: F) -> F:
        """Register the decorated function as the reverse rule."""
        self._check(rule, "reverse", 0)
        registry.rrule.register(self._customised, alias=True)(_reverse_of(self._f, rule))
        self._has_reverse = True
        return rule

    def forward(self, rule: F) -> F:
        """Register the decorated function as the forward rule."""
        self._check(rule, "forward", 1)
        registry.frule.register(self._customised)(_forward_of(self._f, rule))
        if not self._has_reverse:
            derived = _reverse_from_forward(self._f, rule)
            registry.rrule.register(self._customised, alias=True)(_reverse_of(self._f, derived))
        return rule

    def _check(self, rule: Any, mode: str, skipped: int) -> None:
        if not callable(rule):
            raise ArgumentError(
                f"a rule is a function, not {rule!r}",
                hint=f"write @{self._name}.{mode} above a function with the arguments of"
                f" {self._name}",
            )
        own, given = (inspect.signature(g).parameters.values() for g in (self._f, rule))
        kinds = {parameter.kind for parameter in given}
        if inspect.Parameter.VAR_KEYWORD not in kinds:
            if inspect.Parameter.VAR_POSITIONAL in kinds and len(given) == 1 + skipped:
                return
            if [p.name for p in own] == [p.name for p in given][skipped:]:
                return
        names = ", ".join([*["dots"] * skipped, *(p.name for p in own)])
        raise ArgumentError(
            f"the {mode} rule of '{self._name}' takes {inspect.signature(rule)}",
            hint=f"give it the parameters of '{self._name}': ({names})",
        )

    @property
    def _name(self) -> str:
        return _name_of(self._f)


def _name_of(f: Any) -> str:
    return str(getattr(f, "__name__", type(f).__name__))


def _reverse_of(f: Any, reverse: Rule) -> Rule:
    """Return the rule in the form of the engine, with a cotangent of the function first.

    Cotangents of arguments that were not given are optional.
    """
    kinds = [parameter.kind for parameter in inspect.signature(reverse).parameters.values()]
    most = sum(kind in _BY_POSITION for kind in kinds)

    def applied(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        result = reverse(*args, **kwargs)
        if result is NotImplemented:
            return None
        if type(result) is not tuple or len(result) != 2 or not callable(result[1]):
            raise _wrong(f, "reverse", f"a {type(result).__name__} instead of (y, back)")
        return result

    def engine_bars(bars: Any, n: int) -> tuple[Any, ...]:
        if type(bars) is not tuple and n == 1:
            bars = (bars,)
        if type(bars) is not tuple or not n <= len(bars) <= max(n, most):
            kind = f"{len(bars)} cotangents" if type(bars) is tuple else f"a {type(bars).__name__}"
            raise _wrong(f, "reverse", f"{kind} for {n} arguments")
        return (None, *bars)

    @functools.wraps(reverse, updated=())
    def rule(*args: Any, **kwargs: Any) -> Any:
        found = applied(args, kwargs)
        if found is None:
            return NotImplemented
        y, back = found

        def custom_back(y_bar: Any) -> tuple[Any, ...]:
            return engine_bars(back(y_bar), len(args))

        return y, custom_back

    @functools.wraps(reverse, updated=())
    def rule_that_asks(*args: Any, **kwargs: Any) -> Any:
        found = applied(args, kwargs)
        if found is None:
            return NotImplemented
        y, back = found

        def custom_back(y_bar: Any, *, wanted: tuple[bool, ...]) -> tuple[Any, ...]:
            return engine_bars(back(y_bar, wanted=wanted) if asks(back) else back(y_bar), len(args))

        return y, custom_back

    return rule_that_asks if may_ask(reverse) else rule


_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _forward_of(f: Any, forward: Rule) -> Rule:
    @functools.wraps(forward, updated=())
    def rule(dots: Any, /, *args: Any, **kwargs: Any) -> Any:
        result = forward(dots, *args, **kwargs)
        if result is NotImplemented:
            return result
        if type(result) is not tuple or len(result) != 2:
            raise _wrong(f, "forward", f"a {type(result).__name__} instead of (y, y_dot)")
        return result

    return rule


def _wrong(f: Any, mode: str, what: str) -> RuleError:
    hints = {
        "reverse": "return (y, back); back(y_bar) gives a tuple of one cotangent for each"
        " argument, None for zero",
        "forward": "return the value and its tangent",
    }
    return RuleError(f"the {mode} rule of '{_name_of(f)}' returned {what}", hint=hints[mode])


def _reverse_from_forward(f: Any, forward: Rule) -> Rule:
    """Return a reverse rule made of a forward rule: the derivative of the tangent in `dots`."""

    @functools.wraps(f, updated=())
    def reverse(*args: Any, **kwargs: Any) -> Any:
        zeros = []
        for arg in args:
            if not isinstance(arg, float | complex | np.inexact | np.ndarray | int):
                raise RuleError(
                    f"'{_name_of(f)}' has a forward rule only, and a {type(arg).__name__} among"
                    " its arguments",
                    hint=f"give it a reverse rule: @{_name_of(f)}.reverse",
                )
            zeros.append(arg * 0.0)
        y = f(*args, **kwargs)

        def back(y_bar: Any) -> tuple[Any, ...]:
            def y_dot(*dots: Any) -> Any:
                return forward(dots, *args, **kwargs)[1]

            bars: tuple[Any, ...] = pullback(y_dot, *zeros)[1](y_bar)
            return bars[1:]

        return y, back

    return reverse
