"""The single-assignment IR of the fast tier.

Every value is defined once, by an operation or as a parameter of a block. Control flow is
structured: an `If` or a `Loop` owns blocks, which see the surrounding values, take parameters and
return results. There is no jump: `adjoint.fast.single_assignment.construction` turns ``break``,
``continue`` and early ``return`` into conditions among the results of blocks.

>>> # while x > 1: x = x / 2            becomes
>>> # x.3 = loop (x.1)
>>> #   test (x.2):  c = gt(x.2, 1)     -> c, x.2
>>> #   body (x.2b): x.4 = truediv(x.2b, 2)   -> x.4
"""

from __future__ import annotations

from dataclasses import field
from typing import TypeAlias

from adjoint.ir.node import node
from adjoint.ir.nodes import Const, Global, Parameter, Path, Span

__all__ = [
    "Block",
    "Call",
    "Const",
    "Function",
    "Global",
    "If",
    "Loop",
    "Op",
    "Operand",
    "Path",
    "Raise",
    "Undefined",
    "Unpack",
    "Value",
]


@node(eq=False)
class Value:
    """One value, compared by identity. `name` is the user's variable or a hint; it need not be
    unique."""

    name: str

    def __repr__(self) -> str:
        return f"{self.name}.{id(self) & 0xFFFF:x}"


@node
class Undefined:
    """The content of the variable `name` where it is unassigned."""

    name: str


Operand: TypeAlias = Value | Const | Global | Path | Undefined


@node
class Block:
    """Operations in order. `results` is ``None`` if the end is never reached: the last operation is
    a `Raise`, or an `If` neither of whose blocks reaches its end."""

    parameters: tuple[Value, ...]
    ops: tuple[Op, ...]
    results: tuple[Operand, ...] | None


@node
class Call:
    """``result = callee(*operands, **keywords)``; without a result, the returned value is
    discarded."""

    result: Value | None
    callee: Operand
    operands: tuple[Operand, ...]
    keywords: tuple[tuple[str, Operand], ...] = ()
    span: Span | None = field(default=None, compare=False)


@node
class Unpack:
    """``a, b, *c = value``; `starred` is the index of the starred result."""

    results: tuple[Value, ...]
    value: Operand
    starred: int | None = None
    span: Span | None = field(default=None, compare=False)


@node
class If:
    """``results = body if condition else orelse``. The blocks have no parameters. Each has as many
    results as `results`, or ``None``."""

    results: tuple[Value, ...]
    condition: Operand
    body: Block
    orelse: Block
    span: Span | None = field(default=None, compare=False)


@node
class Loop:
    """A ``for`` (with an `iterable`) or ``while`` (with a `test`) loop.

    Attributes
    ----------
    results
        The carried values after the loop. If `stops`, a bool precedes them: whether the iterable or
        the test ended the loop (false: ``break`` or ``return`` left it).
    initial
        The carried values before the first iteration.
    iterable
        The operand after ``in`` in the source, before ``iter``.
    test
        Of a ``while`` loop: maps the carried values to the condition and new carried values. The
        body takes the latter, or the loop ends with them.
    body
        Maps the item (of a ``for`` loop only) and the carried values to new carried values; if
        `stops`, a bool precedes them: whether to go on. Its results are ``None`` if an iteration
        never reaches its end.
    """

    results: tuple[Value, ...]
    initial: tuple[Operand, ...]
    iterable: Operand | None
    test: Block | None
    body: Block
    stops: bool = False
    span: Span | None = field(default=None, compare=False)


@node
class Raise:
    """``raise exception from cause``, the last operation of its block."""

    exception: Operand | None
    cause: Operand | None = None
    span: Span | None = field(default=None, compare=False)


Op: TypeAlias = Call | Unpack | If | Loop | Raise


@node
class Function:
    """One function in single assignment.

    Attributes
    ----------
    parameters
        In the order of the signature, as in the named IR.
    free
        The names of the captured variables, in the order of ``code.co_freevars``.
    body
        Its parameters are those of the function, then the cells of `free`. Its one result is the
        returned value.
    """

    name: str
    parameters: tuple[Parameter, ...]
    free: tuple[str, ...]
    body: Block
    filename: str
    span: Span | None = field(default=None, compare=False)
