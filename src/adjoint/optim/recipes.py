"""Optimizers and schedules are pickled by the call that made them: they hold functions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple, ParamSpec, TypeVar, cast

from adjoint.optim.transformation import GradientTransformation

P = ParamSpec("P")
Made = TypeVar("Made")


class Recipe(NamedTuple):
    """A call of a function."""

    make: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def remade(make: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Make again what was pickled."""
    return make(*args, **kwargs)


class MadeTransformation(GradientTransformation):
    """A transformation that knows the call that made it."""

    recipe: Recipe

    def __reduce__(self) -> Any:
        return remade, tuple(self.recipe)


class MadeSchedule:
    """A schedule that knows the call that made it."""

    def __init__(self, schedule: Callable[[int], float], recipe: Recipe) -> None:
        self.schedule: Callable[[int], float] = schedule
        self.recipe: Recipe = recipe

    def __call__(self, count: int) -> float:
        return self.schedule(count)

    def __reduce__(self) -> Any:
        return remade, tuple(self.recipe)


def pickled_by_call(make: Callable[P, Made]) -> Callable[P, Made]:
    """Let what a public function makes, a transformation or a schedule, remember the call."""

    @functools.wraps(make)
    def call(*args: P.args, **kwargs: P.kwargs) -> Made:
        made, recipe = make(*args, **kwargs), Recipe(call, args, kwargs)
        if not isinstance(made, GradientTransformation):
            return cast(Made, MadeSchedule(cast(Any, made), recipe))
        found = MadeTransformation(*made)
        found.recipe = recipe
        return cast(Made, found)

    return call
