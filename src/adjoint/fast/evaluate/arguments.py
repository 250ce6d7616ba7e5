"""Binding of arguments to the parameters of an inlined function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from adjoint.fast.evaluate.values import Abstract, Closure, DictOf, Tuple
from adjoint.fast.not_covered import NotCovered
from adjoint.ir.single import Function

if TYPE_CHECKING:
    from adjoint.fast.evaluate.evaluator import Evaluator


def bind(
    ev: Evaluator,
    function: Function,
    closure: Closure,
    args: Sequence[Abstract],
    keywords: dict[str, Abstract],
) -> list[Abstract]:
    """Return one value per parameter.

    Raises
    ------
    NotCovered
        The arguments do not fit; the generic tier raises with Python's message.
    """
    by_position = [p.name for p in function.parameters if p.kind <= 1]
    given = dict(zip(by_position, args, strict=False))
    rest = tuple(args[len(by_position) :])
    left = dict(keywords)
    # Decorators may give a function of ``*args`` the more numerous defaults of what it wraps.
    count = min(len(closure.defaults), len(by_position))
    defaults = dict(
        zip(
            by_position[len(by_position) - count :],
            closure.defaults[len(closure.defaults) - count :],
            strict=True,
        )
    )
    named_defaults = dict(closure.named_defaults)
    values: list[Abstract] = []
    for parameter in function.parameters:
        name = parameter.name
        match parameter.kind:
            case 2:
                values.append(Tuple(rest))
                rest = ()
            case 4:
                values.append(ev.allocate(DictOf(tuple(left), tuple(left.values()))))
                left = {}
            case _:
                if name in given:
                    if parameter.kind == 1 and name in left:
                        raise NotCovered("arguments that do not fit", ev.span)
                    values.append(given[name])
                elif parameter.kind != 0 and name in left:
                    values.append(left.pop(name))
                elif parameter.kind != 3 and name in defaults:
                    values.append(defaults[name])
                elif parameter.kind == 3 and name in named_defaults:
                    values.append(named_defaults[name])
                else:
                    raise NotCovered("arguments that do not fit", ev.span)
    if rest or left:
        raise NotCovered("arguments that do not fit", ev.span)
    return values
