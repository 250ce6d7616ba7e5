"""Contraction of sums of products into inner products.

Before, after::

    p = mul(t_bar, x)          a_bar = dot(t_bar, x)
    a_bar = sum(p)

The products are not stored in memory. Only sums that the reverse sweep made are contracted: a sum
of the function that is computed again must have the same bits as before.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Collection, Container, Mapping
from dataclasses import replace

import numpy as np

from adjoint.fast.evaluate.types import Array, Type
from adjoint.fast.single_assignment.walk import count_reads, with_blocks
from adjoint.ir.single import Block, Call, Const, Op, Operand, Value


def contract(block: Block, totals: Collection[Value], types: Mapping[Value, Type]) -> Block:
    """Return a block with inner products, where nothing else reads the products.

    Parameters
    ----------
    block : Block
    totals : collection of Value
        The sums of all elements that may be computed in another order.
    types : mapping
        The types of all values.
    """
    if not totals:
        return block
    return _Contractor(count_reads(block), totals, types).block(block)


class _Contractor:
    def __init__(
        self, reads: Counter[Operand], totals: Container[Value], types: Mapping[Value, Type]
    ) -> None:
        self._reads, self._totals, self._types = reads, totals, types

    def block(self, block: Block) -> Block:
        calls = [op for op in block.ops if isinstance(op, Call)]
        totals = {op.operands[0]: op.result for op in calls if self._is_total(op)}
        # At the place of the products: their factors may be overwritten before the sum.
        inner = {
            op.result: replace(op, result=totals[op.result], callee=_INNER)
            for op in calls
            if op.result in totals and self._is_product(op)
        }
        computed = {op.result for op in inner.values()}
        ops: list[Op] = []
        for op in block.ops:
            if isinstance(op, Call) and op.result in inner:
                ops.append(inner[op.result])
            elif not isinstance(op, Call) or op.result is None or op.result not in computed:
                ops.append(with_blocks(op, self.block))
        return Block(block.parameters, tuple(ops), block.results)

    def _is_total(self, op: Call) -> bool:
        if op.callee != _SUM or op.result is None or op.result not in self._totals:
            return False
        return self._reads[op.operands[0]] == 1

    def _is_product(self, op: Call) -> bool:
        """Return whether a call is a product of two float64 vectors of the same length: the few
        accumulators of BLAS cost long float32 vectors half of their digits."""
        if op.callee != _PRODUCT:
            return False
        a, b = (self._types.get(x) if isinstance(x, Value) else None for x in op.operands)
        return a == b and isinstance(a, Array) and len(a.shape) == 1 and a.dtype.char == "d"


_SUM, _PRODUCT, _INNER = Const(np.sum), Const(operator.mul), Const(np.dot)
