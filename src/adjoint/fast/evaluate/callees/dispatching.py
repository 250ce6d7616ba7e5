"""Functions that dispatch on the class of their first argument: `functools.singledispatch`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.values import Abstract, External
from adjoint.fast.not_covered import NotCovered, Raises
from adjoint.ir.node import node


@node
class _Chosen:
    """The function that `functools.singledispatch` chooses for a class."""

    cls: type

    def __call__(self, f: Any) -> Any:
        return f.dispatch(self.cls)


def call_dispatching(
    ev: Evaluator, f: External, args: Sequence[Abstract], keywords: dict[str, Abstract]
) -> Abstract:
    """Evaluate a call of a function that dispatches on the class of its first argument."""
    if not args:
        raise Raises(TypeError, "no argument to dispatch on", ev.span)
    cls = ev.class_of(args[0])
    if cls is None or ev.outside.of_function:
        raise NotCovered("dispatch on a value of several types", ev.span)
    chosen = f.sample.dispatch(cls)
    ev.outside.guard(f.source, "fact", (_Chosen(cls), chosen))
    return ev.call(ev.outside.bring(ev.outside.root("object", chosen), chosen), args, keywords)
