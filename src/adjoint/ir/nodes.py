"""The named, structured IR of one function.

Variables keep the user's names, control flow keeps its structure, and *everything that happens is a
call*: operators are calls of ``operator.*``, attribute access of ``getattr``, displays of the
constructors in `adjoint.ir.primitives`. Evaluation order is explicit: each operand is a name, a
constant or a global, so operations do not nest.

>>> # r = x * y + 1 on line 3 becomes
>>> # _1 = mul(x, y)        # 3
>>> # r  = add(_1, 1)       # 3
"""

from __future__ import annotations

from dataclasses import field
from types import CodeType
from typing import TypeAlias

from adjoint.ir.node import node

__all__ = [
    "Assign",
    "Break",
    "Call",
    "Const",
    "Continue",
    "Delete",
    "For",
    "Function",
    "Global",
    "If",
    "Op",
    "Operand",
    "Parameter",
    "Path",
    "Raise",
    "Region",
    "Return",
    "Span",
    "Try",
    "Unpack",
    "Var",
    "While",
    "Yield",
]


@node
class Span:
    """A place in the user's source: lines count from 1, columns (UTF-8 bytes, as in `ast`) from
    0."""

    line: int
    column: int
    end_line: int
    end_column: int


# ---- operands ------------------------------------------------------------------------------------


@node
class Var:
    """A local variable: the user's own name, a temporary, or a hidden variable of the frontend.

    A temporary (``_1``, ``_2``, …) is assigned once on every path (in both arms of an `If`, where
    it merges them). A hidden variable has a plain name that the user does not use (``x_cell``,
    ``failed``, ``i_2``) and is assigned at will.
    """

    name: str


@node
class Const:
    """A value known at lowering: a literal, or a function that a `Call` calls."""

    value: object

    def __hash__(self) -> int:
        return hash(type(self.value))  # `value` may be unhashable: slices, lists


@node(eq=False)
class ConstArray(Const):
    """An array that a program holds, equal to itself only."""

    __eq__ = object.__eq__
    __hash__ = object.__hash__


@node
class Global:
    """A name looked up at run time: first in the function's globals, then in the builtins."""

    name: str


@node
class Path:
    """A member of a module read by name at run time (``np.linalg.norm``); made by
    `transform.paths`."""

    names: tuple[str, ...]


Operand: TypeAlias = Var | Const | Global | Path


# ---- operations ----------------------------------------------------------------------------------


@node
class Call:
    """``target = callee(*operands, **keywords)``; without a target the result is discarded."""

    target: Var | None
    callee: Operand
    operands: tuple[Operand, ...]
    keywords: tuple[tuple[str, Operand], ...] = ()
    span: Span | None = field(default=None, compare=False)


@node
class Assign:
    """``target = source``: bind another name to the same value."""

    target: Var
    source: Operand
    span: Span | None = field(default=None, compare=False)


@node
class Unpack:
    """``a, b, *c = value``; `starred` is the index of the starred target."""

    targets: tuple[Var, ...]
    value: Operand
    starred: int | None = None
    span: Span | None = field(default=None, compare=False)


@node
class Delete:
    """``del target``."""

    target: Var
    span: Span | None = field(default=None, compare=False)


@node
class If:
    condition: Operand
    body: Region
    orelse: Region
    span: Span | None = field(default=None, compare=False)


@node
class For:
    """``for target in iterable`` (`iterable` is the operand in the source, before ``iter``)."""

    target: Var
    iterable: Operand
    body: Region
    orelse: Region
    span: Span | None = field(default=None, compare=False)


@node
class While:
    """``while condition``: `test` computes `condition` before every iteration."""

    test: Region
    condition: Operand
    body: Region
    orelse: Region
    span: Span | None = field(default=None, compare=False)


@node
class Break:
    span: Span | None = field(default=None, compare=False)


@node
class Continue:
    span: Span | None = field(default=None, compare=False)


@node
class Return:
    value: Operand
    span: Span | None = field(default=None, compare=False)


@node
class Raise:
    """``raise exception from cause``; without an exception, re-raise the one being handled."""

    exception: Operand | None
    cause: Operand | None = None
    span: Span | None = field(default=None, compare=False)


@node
class Try:
    """``try: body; except BaseException as caught: handler; else: orelse; finally: final``.

    The single handler catches everything: the frontend writes the ``except`` clauses of the source
    as a chain of `If` on ``exception_match(caught, type)`` that ends in ``Raise(None)``. ``caught
    is None`` means that there is no handler.
    """

    body: Region
    caught: Var | None
    handler: Region
    orelse: Region
    final: Region
    span: Span | None = field(default=None, compare=False)


@node
class Yield:
    """``target = yield value``; in a ``yield from``, `source` is the iterator that produced
    `value`."""

    target: Var | None
    value: Operand
    source: Var | None = None
    span: Span | None = field(default=None, compare=False)


Op: TypeAlias = (
    Call
    | Assign
    | Unpack
    | Delete
    | If
    | For
    | While
    | Break
    | Continue
    | Return
    | Raise
    | Try
    | Yield
)
Region: TypeAlias = tuple[Op, ...]


# ---- functions -----------------------------------------------------------------------------------


@node
class Parameter:
    """One parameter; `kind` is as in `inspect.Parameter` (0 positional-only … 4 ``**kwargs``)."""

    name: str
    kind: int


@node
class Function:
    """One lowered function.

    Attributes
    ----------
    parameters
        In the order of the signature. Defaults are read from the function object at each call.
    free
        Pairs ``(name, variable)`` of the captured variables, in the order of ``code.co_freevars``:
        the body expects the *cell* of ``name`` in the local variable ``variable``.
    body
        The operations. A variable that an inner function captures lives in a cell, parameters
        included: the body makes the cell (``new_cell``), reads it (``load_cell``) and writes it
        (``store_cell``).
    """

    name: str
    parameters: tuple[Parameter, ...]
    free: tuple[tuple[str, Var], ...]
    body: Region
    is_generator: bool
    code: CodeType
    filename: str
    span: Span | None = field(default=None, compare=False)
