"""The named, structured IR of one function (design, section 3.2).

Variables keep the user's names, control flow keeps its structure, and *everything that happens is a
call*: operators are calls of ``operator.*``, attribute access of ``getattr``, displays of the
constructors in `adjoint.ir.primitives`. Evaluation order is explicit: each operand is a name, a
constant or a global, so an operation never hides another one.

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
    """A place in the user's file: lines count from 1, columns (UTF-8 bytes, as in `ast`) from 0."""

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
    """A value known when the function is lowered: a literal, or the function that a `Call`
    calls."""

    value: object

    def __hash__(self) -> int:
        return hash(type(self.value))  # the value itself need not have one: slices, lists


@node
class Global:
    """A name read, when the operation runs, from the function's globals, then from the builtins."""

    name: str


@node
class Path:
    """Something read from a module by name when the operation runs, ``np.linalg.norm``: made by
    `transform.paths`."""

    names: tuple[str, ...]


Operand: TypeAlias = Var | Const | Global | Path


# ---- operations ----------------------------------------------------------------------------------


@node
class Call:
    """``target = callee(*operands, **keywords)``; without a target the result is dropped."""

    target: Var | None
    callee: Operand
    operands: tuple[Operand, ...]
    keywords: tuple[tuple[str, Operand], ...] = ()
    span: Span | None = field(default=None, compare=False)


@node
class Assign:
    """``target = source``: one more name for the same value."""

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
    """``for target in iterable`` (`iterable` is what the user wrote, before ``iter``)."""

    target: Var
    iterable: Operand
    body: Region
    orelse: Region
    span: Span | None = field(default=None, compare=False)


@node
class While:
    """``while condition``: `test` computes `condition` anew before every iteration."""

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
    """``raise exception from cause``; without an exception, the one being handled."""

    exception: Operand | None
    cause: Operand | None = None
    span: Span | None = field(default=None, compare=False)


@node
class Try:
    """``try: body; except BaseException as caught: handler; else: orelse; finally: final``.

    There is one handler, which catches everything: the frontend writes the user's ``except``
    clauses as a chain of `If` on ``exception_match(caught, type)`` that ends in ``Raise(None)``.
    ``caught is None``: there is no handler.
    """

    body: Region
    caught: Var | None
    handler: Region
    orelse: Region
    final: Region
    span: Span | None = field(default=None, compare=False)


@node
class Yield:
    """``target = yield value``; within ``yield from``, what comes from the iterator `source`."""

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
    """One parameter; `kind` is that of `inspect.Parameter` (0 positional-only … 4 ``**kwargs``)."""

    name: str
    kind: int


@node
class Function:
    """One lowered function.

    Attributes
    ----------
    parameters
        In the order of the signature. Defaults are read from the function object when it is called.
    free
        ``(name, variable)``: the captured variables, in the order of ``code.co_freevars``, and the
        local variables in which the body expects their *cells*.
    body
        The operations. A variable that an inner function captures lives in a cell that the body
        makes itself (``new_cell``), reads (``load_cell``) and writes (``store_cell``), parameters
        included.
    """

    name: str
    parameters: tuple[Parameter, ...]
    free: tuple[tuple[str, Var], ...]
    body: Region
    is_generator: bool
    code: CodeType
    filename: str
    span: Span | None = field(default=None, compare=False)
