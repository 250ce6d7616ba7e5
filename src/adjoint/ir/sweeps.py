"""The IR of the two generated functions: `adjoint.ir.nodes` plus records and cotangents.

A *record* is the list that one activation of a region (a call, one iteration of a loop) fills, one
slot per call site; a slot that is not reached keeps its *blank*. The forward function is the user's
control flow with `Recorded` calls; the reverse function walks the regions in reverse textual order.
"""

from __future__ import annotations

from typing import TypeAlias

from adjoint.ir.node import node
from adjoint.ir.nodes import Call, For, Op, Span, Unpack, Var, While

Blank: TypeAlias = "int | tuple[()] | None"
"""The content of a slot that is not reached. An ``int`` n: the pullback of a call of n operands.
``()``: a loop without iterations. ``None``: an unset mark."""


@node
class Slot:
    """Slot `index` of the record at loop depth `depth` (0: the record of the function itself)."""

    depth: int
    index: int


# ---- forward -------------------------------------------------------------------------------------


@node
class Recorded:
    """Run `op` through the runtime, which puts the pullback into `slot`."""

    op: Call | Unpack
    slot: Slot


@node
class Mark:
    """Write `value` into `slot`: this point was reached."""

    slot: Slot
    value: bool
    span: Span | None = None


@node
class Traced:
    """A loop that makes one record per iteration and keeps the list of records in `slot`.

    A record of an iteration consists of slot 0 and `blank`. `items` is the slot for the iterable of
    a ``for`` loop (``None``: its elements carry no derivative). `made` is the slot of the call that
    made an iterable without a name: the loop holds the only reference to a generator made this way,
    so the generator is closed when the loop is left.
    """

    loop: For | While
    slot: Slot
    blank: tuple[Blank, ...]
    items: Slot | None = None
    made: Slot | None = None


ForwardOp: TypeAlias = Op | Recorded | Mark | Traced


# ---- reverse -------------------------------------------------------------------------------------


@node
class Pull:
    """Run the pullback in `slot`: take the cotangents of `results`, accumulate those of `operands`.

    `reached` is a mark that tells whether the results were bound. It exists where the slot alone
    does not tell: an exception may have left the call, or its result was inactive. Operands that
    cannot be active are ``None``.
    """

    slot: Slot
    results: tuple[Var, ...]
    operands: tuple[Var | None, ...]
    reached: Slot | None = None
    span: Span | None = None


@node
class Move:
    """Reverse ``target = source``: move the cotangent of `target` to `source`."""

    target: Var
    source: Var
    span: Span | None = None


@node
class Clear:
    """Drop the cotangent of `target`, which was assigned here."""

    target: Var


@node
class Seed:
    """Reverse ``return value``: give the cotangent of the result to `value` (``None``: a
    constant)."""

    value: Var | None
    span: Span | None = None


@node
class When:
    """Run `body` if the mark in `slot` equals `value`."""

    slot: Slot
    value: bool
    body: BackRegion


@node
class Unwind:
    """Run `body` for each iteration of a `Traced` loop, the last one first."""

    loop: Traced
    target: Var | None
    iterable: Var | None
    body: BackRegion
    span: Span | None = None


@node
class Resume:
    """Reverse ``target = yield value``: send out the cotangent of `target`, receive that of
    `value`."""

    target: Var | None
    value: Var | None
    slot: Slot
    span: Span | None = None


ReverseOp: TypeAlias = Pull | Move | Clear | Seed | When | Unwind | Resume
BackRegion: TypeAlias = tuple[ReverseOp, ...]


@node
class Sweeps:
    """The two sweeps of a function, made by `adjoint.transform.reverse`.

    `blank` is the initial content of the function's own record (without slot 0, the memory).
    `loaded` names the variables that only hold a global, which rarely carries a derivative. If the
    only ``return`` ends the function, its `Seed` is at the head of `reverse`.
    """

    forward: tuple[ForwardOp, ...]
    reverse: BackRegion
    blank: tuple[Blank, ...]
    loaded: frozenset[str] = frozenset()
