"""Calls with functions of the user as they are, made anew from the values of a program."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import CellType, FunctionType, MethodType
from typing import Any

from adjoint.fast.not_covered import Deoptimize
from adjoint.rulekit.registry import non_differentiable

Step = tuple[Callable[..., Any], tuple[int, ...]]


class Recipe:
    """How objects are made of the values of a program.

    Attributes
    ----------
    constants
        Objects that are known at specialisation.
    steps
        Each makes one object of others, which are named by their places: leaves come first, then
        `constants`, then what the steps before have made.
    given
        The places of the objects asked for.
    """

    def __init__(
        self, constants: tuple[Any, ...], steps: tuple[Step, ...], given: tuple[int, ...]
    ) -> None:
        self.constants, self.steps, self.given = constants, steps, given

    def made_of(self, leaves: tuple[Any, ...]) -> list[Any]:
        found = [*leaves, *self.constants]
        for make, places in self.steps:
            found.append(make(*[found[i] for i in places]))
        return [found[i] for i in self.given]


@non_differentiable
def plain_call(find: Callable[..., Any], recipe: Recipe, *leaves: Any) -> Any:
    """Return what `find` returns for the objects of a recipe. The functions among them have no
    effects, and run as they are."""
    return find(*recipe.made_of(leaves))


def demanded(condition: Any) -> bool:
    """Check a condition."""
    if not condition:
        raise Deoptimize("a search that has to be followed")
    return True


def demand_float(x: Any) -> Any:
    """Check that a number is a float or a float64."""
    if not isinstance(x, float):
        raise Deoptimize("a function returns something else than was foreseen")
    return x


# ---- steps ---------------------------------------------------------------------------------------


def a_tuple(kind: type) -> Callable[..., Any]:
    return lambda *items: tuple.__new__(kind, items)


def a_list(*items: Any) -> Any:
    return [*items]


def a_dict(keys: tuple[Any, ...]) -> Callable[..., Any]:
    return lambda *items: dict(zip(keys, items, strict=True))


def an_object(cls: type, names: tuple[str, ...]) -> Callable[..., Any]:
    def make(*fields: Any) -> Any:
        made: Any = object.__new__(cls)
        vars(made).update(zip(names, fields, strict=True))
        return made

    return make


def a_function(
    code: Any, namespace: dict[str, Any], count: int, names: tuple[str, ...]
) -> Callable[..., Any]:
    """Return the step that makes a function of `count` defaults, of the defaults that have `names`,
    and of the contents of its captured variables."""

    def make(*parts: Any) -> Any:
        cells = tuple(map(CellType, parts[count + len(names) :]))
        made = FunctionType(code, namespace, code.co_name, parts[:count] or None, cells)
        if names:
            made.__kwdefaults__ = dict(zip(names, parts[count:], strict=False))
        return made

    return make


def with_attributes(names: tuple[str, ...]) -> Callable[..., Any]:
    """Return the step that sets attributes of a function."""

    def make(f: Any, *fields: Any) -> Any:
        vars(f).update(zip(names, fields, strict=True))
        return f

    return make


a_method = MethodType


def a_partial(count: int, names: tuple[str, ...]) -> Callable[..., Any]:
    def make(f: Any, *given: Any) -> Any:
        named = dict(zip(names, given[count:], strict=True))
        return functools.partial(f, *given[:count], **named)

    return make
