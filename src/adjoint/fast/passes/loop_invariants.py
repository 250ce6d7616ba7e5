"""Loop-invariant code motion.

Before, after::

                                         a = mul(x, 2)
    y = for i in n with z = 0            y = for i in n with z = 0
        a = mul(x, 2)                        b = add(z, a)
        b = add(z, a)                        -> b
        -> b

Operations inside an ``if`` do not move: the loop may never run them.
"""

from __future__ import annotations

from collections.abc import Callable

from adjoint.fast.single_assignment.walk import reads_any, results, with_blocks, with_body
from adjoint.ir.single import Block, Call, Function, If, Loop, Op, Operand, Unpack, Value


def move_invariant(
    function: Function, is_pure: Callable[[Call], bool], is_safe: Callable[[Call], bool]
) -> Function:
    """Return a function with loop-invariant calls in front of the loops.

    Parameters
    ----------
    function : Function
    is_pure : callable
        Whether a call has no effect, its result depends on the operands only, and the result is
        never written to.
    is_safe : callable
        Whether a call cannot raise, for any values of its operands.
    """
    return with_body(function, _Mover(is_pure, is_safe).block(function.body))


class _Mover:
    def __init__(self, is_pure: Callable[[Call], bool], is_safe: Callable[[Call], bool]) -> None:
        self._is_pure, self._is_safe = is_pure, is_safe
        self._moved: set[Operand] = set()

    def block(self, block: Block) -> Block:
        """Return a block with the invariant operations in front of its loops."""
        if _HAVE_BLOCKS.isdisjoint(map(type, block.ops)):
            return block
        ops: list[Op] = []
        for op in block.ops:
            ops += self._loop(op) if isinstance(op, Loop) else [with_blocks(op, self.block)]
        return Block(block.parameters, tuple(ops), block.results)

    def _loop(self, op: Loop) -> list[Op]:
        before: list[Op] = []
        stays = with_blocks(op, lambda block: self._split(self.block(block), before))
        return [*before, stays]

    def _split(self, block: Block, before: list[Op]) -> Block:
        """Move the invariant operations of `block` to `before`."""
        inside = set(block.parameters)
        stays: list[Op] = []
        for op in block.ops:
            if self._moves(op, inside):
                before.append(op)
                self._moved.update(results(op))
            else:
                inside.update(results(op))
                stays.append(op)
        return Block(block.parameters, tuple(stays), block.results)

    def _moves(self, op: Op, inside: set[Value]) -> bool:
        if isinstance(op, Unpack):  # moves with the call whose result it unpacks
            return op.value in self._moved
        return (
            type(op) is Call
            and op.result is not None
            and not reads_any(op, inside)
            and self._is_pure(op)
            and self._is_safe(op)
        )


_HAVE_BLOCKS = frozenset({If, Loop})
