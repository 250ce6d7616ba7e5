"""One rule of one function: its options, and the calls that it was written for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from adjoint.rulekit.rule_parameters import parameters_of
from adjoint.rulekit.wanted import asking, may_ask, told


@dataclass(slots=True)
class Rule:
    """One registered rule of one function.

    Attributes
    ----------
    function
        The rule itself.
    keywords
        The keyword arguments that it knows.
    positional
        The most positional arguments that it takes (-1: any number).
    required
        The fewest positional arguments that it takes.
    names, defaults
        The parameters that may be given by position, and the defaults of the last of them.
    types
        ``(position, type)`` from the annotations of its parameters; the rule declines other
        arguments.
    alias
        The result may be an alias of an argument (a view, or the argument itself).
    trusted
        The family that made the rule projects its cotangents, so the engine need not check them.
    keyword_bars
        ``back`` returns one entry more: a dict of cotangents of keyword arguments.
    partwise
        Each part of the result depends only on the argument at its position.
    foreign
        It was written outside this library.
    asking
        Its pullback asks which cotangents are wanted. `function` is the form of `wanted.asking`,
        unless it is trusted: then its pullback has a default, all of them.
    """

    function: Callable[..., Any]
    keywords: frozenset[str]
    positional: int
    required: int
    names: tuple[str, ...] = ()
    defaults: tuple[Any, ...] = ()
    types: tuple[tuple[int, Any], ...] = ()
    alias: bool = False
    trusted: bool = False
    keyword_bars: bool = False
    partwise: bool = False
    foreign: bool = False
    asking: bool = False

    @classmethod
    def of(
        cls,
        function: Callable[..., Any],
        *,
        alias: bool = False,
        trusted: bool = False,
        keyword_bars: bool = False,
        partwise: bool = False,
    ) -> Rule:
        """Create a rule, reading its parameters from its signature."""
        found = parameters_of(function)
        if found.has_keywords:
            raise TypeError(
                "a rule must name the keyword arguments that it knows;"
                " '**' would swallow the others"
            )
        asks, most = may_ask(function), -1 if found.has_any else len(found.names)
        return cls(
            asking(function, most) if asks and not trusted else function,
            frozenset(found.names[found.by_position :] + found.named),
            most,
            len(found.names) - len(found.defaults),
            () if found.has_any else found.names,
            () if found.has_any else found.defaults,
            found.types,
            alias,
            trusted,
            keyword_bars,
            partwise,
            _is_foreign(function),
            asks,
        )

    @property
    def written(self) -> Callable[..., Any]:
        """The rule as it was written."""
        is_told = self.asking and not self.trusted
        return vars(self.function)["__wrapped__"] if is_told else self.function

    def told(self, back: Any, wanted: Sequence[bool]) -> Any:
        """Tell a pullback of this rule which cotangents are wanted, if it asks."""
        return told(back, wanted, self.positional) if self.asking else back

    def for_wanted(self, wanted: Sequence[bool]) -> Callable[..., Any]:
        """Return the rule for calls of which these cotangents are wanted."""
        if not self.asking:
            return self.function
        return asking(self.function, self.positional, wanted)  # type: ignore[no-any-return]

    def arrange(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Move keyword arguments that the rule takes by position there, since only positional
        arguments get cotangents."""
        named = [i for i, name in enumerate(self.names) if name in kwargs]
        if not named:
            return args, kwargs
        kwargs = dict(kwargs)
        first_default = len(self.names) - len(self.defaults)
        arranged = list(args)
        for i in range(len(args), named[-1] + 1):
            if self.names[i] in kwargs:
                arranged.append(kwargs.pop(self.names[i]))
            elif i >= first_default:
                arranged.append(self.defaults[i - first_default])
            else:
                return args, kwargs
        return tuple(arranged), kwargs

    def accepts(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Return whether the rule was written for such a call."""
        if kwargs and not self.keywords.issuperset(kwargs):
            return False
        n = len(args)
        if 0 <= self.positional < n or (n < self.required and not kwargs):
            return False
        return all(i >= n or isinstance(args[i], kind) for i, kind in self.types)


def at_places(found: Any, places: tuple[int, ...], count: int) -> tuple[Any, ...]:
    """Return the cotangents of a function and of its `count` arguments by position: those of
    `found` at their places, and ``None``."""
    bars: list[Any] = [None] * (count + 1)
    for place, bar in zip(places, found):  # noqa: B905 (it is lowered)
        if place < count:
            bars[place + 1] = bar
    return tuple(bars)


def _is_foreign(function: Any) -> bool:
    while isinstance(function, partial):
        function = function.func
    module = getattr(function, "__module__", None)
    return not (isinstance(module, str) and module.startswith("adjoint."))
