"""The calls that are being inlined, and the single-assignment form of their functions."""

from __future__ import annotations

import weakref
from types import CellType, CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from adjoint.errors import AdjointError
from adjoint.fast.covered import NotCovered
from adjoint.fast.evaluate.outside import is_own
from adjoint.fast.evaluate.values import Abstract, Closure
from adjoint.fast.single.convert import single
from adjoint.ir import single as ir
from adjoint.ir.nodes import Span
from adjoint.ir.single import Value
from adjoint.run.lowered import lowered

if TYPE_CHECKING:
    from adjoint.fast.evaluate.generators import Consumer

__all__ = ["Frame", "place", "single_of"]


class Frame:
    """One call that is being inlined."""

    __slots__ = ("cells", "code", "consumer", "filename", "namespace", "values")

    def __init__(self, function: ir.Function, closure: Closure) -> None:
        self.values: dict[Value, Abstract] = {}
        self.namespace = closure.namespace
        self.filename = function.filename
        self.code = closure.code
        self.consumer: Consumer | None = None


_singles: weakref.WeakKeyDictionary[CodeType, Any] = weakref.WeakKeyDictionary()


def single_of(closure: Closure) -> ir.Function:
    """The single-assignment form of a function, made once.

    Raises
    ------
    NotCovered
        There is no source, or it contains what this form does not cover.
    """
    known = _singles.get(closure.code)
    if known is None:
        f: Any = closure.function
        if f is None:
            cells = tuple(CellType() for _ in closure.code.co_freevars)
            f = FunctionType(closure.code, closure.namespace, closure.code.co_name, None, cells)
        try:
            known = single(lowered(f), yields=True)
        except NotCovered as error:
            known = error
        except AdjointError as error:
            known = NotCovered(str(error).partition("\n")[0])
        _singles[closure.code] = known
    if isinstance(known, NotCovered):
        refused = NotCovered(known.reason, known.span)
        place(refused, closure, None, closure.code.co_filename)
        raise refused
    return known


def place(error: NotCovered, closure: Closure, span: Span | None, filename: str) -> None:
    """Say where it is: at a line of the user's, who does not look into this library."""
    if not is_own(closure.namespace):
        error.at(span, filename)
    elif error.filename is None:
        error.span = None
