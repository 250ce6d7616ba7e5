"""The single-assignment IR of the fast tier (design, sections 3.2 and 3.7).

Every value is defined once, by an operation or as the parameter of a block. Control flow is
structured: an `If` and a `Loop` own blocks, which see the values around them, take parameters, and
hand results on. There is no jump: ``break``, ``continue`` and early ``return`` are conditions that
`adjoint.fast.single.convert` has put into the results of blocks.

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
    """One value: compared by identity. `name` is the user's variable, or a hint for a name; several
    values may have the same."""

    name: str

    def __repr__(self) -> str:
        return f"{self.name}.{id(self) & 0xFFFF:x}"


@node
class Undefined:
    """What a variable holds where it has no value (yet, or any more): `name` is its name."""

    name: str


Operand: TypeAlias = Value | Const | Global | Path | Undefined


@node
class Block:
    """Operations in order. `results` is ``None`` where the end is never reached, because the last
    operation is a `Raise` or an `If` of whose blocks no one reaches its end."""

    parameters: tuple[Value, ...]
    ops: tuple[Op, ...]
    results: tuple[Operand, ...] | None


@node
class Call:
    """``result = callee(*operands, **keywords)``; without a result, what it returns is dropped."""

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
    """``results = body if condition else orelse``; the blocks have no parameters, and as many
    results as there are `results`, or ``None``."""

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
        The carried values when the loop has ended, preceded, if `stops`, by whether it went on
        until the iterable or the test ended it (false: it was left).
    initial
        The carried values before the first iteration.
    iterable
        What the user wrote after ``in``, before ``iter``.
    test
        Of a ``while`` loop: takes the carried values, gives the condition, then the carried values,
        which the body takes, or which the loop ends with.
    body
        Takes the item (of a ``for`` loop only), then the carried values; gives, if `stops`, whether
        to go on, then the carried values. ``None``: an iteration never reaches its end.
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
        Its parameters are those of the function, then the cells of `free`; its one result is what
        the function returns.
    """

    name: str
    parameters: tuple[Parameter, ...]
    free: tuple[str, ...]
    body: Block
    filename: str
    span: Span | None = field(default=None, compare=False)
