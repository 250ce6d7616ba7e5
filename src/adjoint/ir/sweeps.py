"""The IR of the two generated functions: what `adjoint.ir.nodes` says, plus records and cotangents.

A *record* is the list that one activation of a region (a call, one iteration of a loop) fills, one
slot per call site; a slot that was not reached keeps its *blank*: the pullback of nothing, a loop
without iterations, no mark. The forward function is the user's own control flow with `Recorded`
calls; the reverse function walks the regions in reverse textual order.
"""

from __future__ import annotations

from typing import TypeAlias

from adjoint.ir.node import node
from adjoint.ir.nodes import Call, For, Op, Span, Unpack, Var, While

Blank: TypeAlias = "int | tuple[()] | None"
"""What a slot holds before it is reached: the pullback of a call of n operands, no iterations, no
mark."""


@node
class Slot:
    """Place `index` of the record of the loop nest of depth `depth` (0: the function's own)."""

    depth: int
    index: int


# ---- forward -------------------------------------------------------------------------------------


@node
class Recorded:
    """Run the operation through the runtime, which leaves its pullback in the slot."""

    op: Call | Unpack
    slot: Slot


@node
class Mark:
    """Note in the record that this point was reached."""

    slot: Slot
    value: bool
    span: Span | None = None


@node
class Traced:
    """A loop that makes one record (slot 0 and `blank`) per iteration and keeps them in a list in
    `slot`.

    `items` is the slot of what a ``for`` iterates over; ``None``: its elements carry no derivative.
    `made` is the slot of the call whose result is iterated over and has no name: nobody else holds
    a generator that this call made, so it is closed when the loop is left.
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
    """Run the pullback in the slot: takes the cotangents of `results`, adds to those of `operands`.

    `reached` is a mark that tells whether the results were bound, where the slot alone does not: a
    call may have been left by an exception, or have had an inactive result. Operands that cannot be
    active are ``None``.
    """

    slot: Slot
    results: tuple[Var, ...]
    operands: tuple[Var | None, ...]
    reached: Slot | None = None
    span: Span | None = None


@node
class Move:
    """The reverse of ``target = source``: the cotangent of `target` goes to `source`."""

    target: Var
    source: Var
    span: Span | None = None


@node
class Clear:
    """The variable was assigned here: what it held before has no cotangent yet."""

    target: Var


@node
class Seed:
    """The reverse of ``return value``: the cotangent of the result goes to `value` (``None``: a
    constant)."""

    value: Var | None
    span: Span | None = None


@node
class When:
    """`body` if the mark is `value`."""

    slot: Slot
    value: bool
    body: BackRegion


@node
class Unwind:
    """The iterations of a `Traced` loop, the last one first."""

    loop: Traced
    target: Var | None
    iterable: Var | None
    body: BackRegion
    span: Span | None = None


@node
class Resume:
    """The reverse of ``target = yield value``: gives the cotangent of `target`, receives that of
    `value`."""

    target: Var | None
    value: Var | None
    slot: Slot
    span: Span | None = None


ReverseOp: TypeAlias = Pull | Move | Clear | Seed | When | Unwind | Resume
BackRegion: TypeAlias = tuple[ReverseOp, ...]


@node
class Sweeps:
    """The pair that `adjoint.transform.reverse` makes of a function.

    `blank` is what the slots of the function's own record hold at first (slot 0, the memory, left
    out). `loaded` are the variables that hold nothing but a global one,
    which rarely carries a derivative.
    A function whose only ``return`` ends it has its `Seed` at the head of `reverse`.
    """

    forward: tuple[ForwardOp, ...]
    reverse: BackRegion
    blank: tuple[Blank, ...]
    loaded: frozenset[str] = frozenset()
