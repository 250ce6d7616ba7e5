"""Products of arrays and linear algebra for all rows at once."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint.fast.batch.arrays import evaluated, known, written
from adjoint.fast.batch.formulas import formula
from adjoint.fast.evaluate.result_types.lengths import product, settled
from adjoint.fast.evaluate.types import ANYTHING, Array, number
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.single_assignment.walk import callee_of
from adjoint.fast.support import functions as runtime
from adjoint.fast.support.members import members
from adjoint.ir import primitives
from adjoint.ir.single import Call, Const, Operand, Value

if TYPE_CHECKING:
    from adjoint.fast.batch.values import BatchValues


@formula(operator.matmul, np.matmul, np.dot, np.ndarray.dot, np.inner)
def _(sweep: BatchValues, op: Call) -> Value:
    """A product by ``@``, which takes the rows for a stack of matrices: a vector of each row is the
    row of a matrix where the other operand is the same for all rows, and else a matrix of one
    column."""
    a, b = op.operands
    ranks = sweep.rank(a), sweep.rank(b)
    of_a, of_b = sweep.differs(a), sweep.differs(b)
    if not op.keywords and min(ranks) > 1 and callee_of(op) in (operator.matmul, np.matmul):
        if max(ranks) > 2:  # stacks of matrices, which NumPy broadcasts
            return _multiplied(sweep, sweep.aligned(a, max(ranks)), sweep.aligned(b, max(ranks)))
    if op.keywords or not set(ranks) <= {1, 2} or (callee_of(op) is np.inner and ranks != (1, 1)):
        raise NotCovered("a product of rows of other ranks", op.span)
    left: Operand = sweep.full(a) if of_a else a
    right: Operand = sweep.full(b) if of_b else b
    if ranks == (1, 1):
        if of_a and of_b:
            return _sum_of_products(sweep, left, right, 1)
        return _multiplied(sweep, *((left, right) if of_a else (right, left)))
    if ranks == (2, 1) and of_b:
        if not of_a:
            return _multiplied(sweep, right, evaluated(sweep, np.transpose, [left]))
        return _part(
            sweep, _multiplied(sweep, left, _part(sweep, right, (_ALL, _ALL, None))), (Ellipsis, 0)
        )
    if ranks == (2, 2) and not of_b:
        return _in_one(sweep, op, left, right)
    if ranks == (1, 2) and of_a and of_b:
        return _part(sweep, _multiplied(sweep, _part(sweep, left, (_ALL, None)), right), (_ALL, 0))
    return _multiplied(sweep, left, right)


_ALL = slice(None)


def _multiplied(sweep: BatchValues, left: Operand, right: Operand) -> Value:
    return evaluated(sweep, operator.matmul, [left, right])


def _in_one(sweep: BatchValues, op: Call, left: Operand, right: Operand) -> Value:
    """Write the product of a matrix in each row and one that is the same for all, as a product of
    two matrices, which takes less time than one for each row."""
    ev = sweep.ev
    of_left, of_right = ev.array_type(left), ev.array_type(right)
    whole = settled(product(of_left.shape[:2]), ev.derived)
    inner = ev.operation(runtime.length, (right, Const(0)), number(int), name="n")
    shape = ev.operation(primitives.build_tuple, (Const(-1), inner), ANYTHING, name="shape")
    flat = Array(of_left.dtype, (whole, of_left.shape[2]))
    left = ev.operation(np.reshape, (left, shape), flat, name="t")
    dtype = np.result_type(of_left.dtype, of_right.dtype)
    found = Array(dtype, (whole, of_right.shape[1]))
    made = ev.operation(operator.matmul, (left, right), found, name="t")
    outer = ev.operation(runtime.length, (right, Const(1)), number(int), name="n")
    parts = (sweep.count, Const(-1), outer)
    shape = ev.operation(primitives.build_tuple, parts, ANYTHING, name="shape")
    return written(sweep, op, np.reshape, made, shape)


def _part(sweep: BatchValues, x: Operand, index: Any) -> Value:
    return evaluated(sweep, operator.getitem, [x, Const(index)])


def _sum_of_products(sweep: BatchValues, left: Operand, right: Operand, rank: int) -> Value:
    made = evaluated(sweep, operator.mul, [left, right])
    axis = 1 if rank == 1 else tuple(range(1, rank + 1))
    return evaluated(sweep, np.sum, [made], {"axis": axis})


@formula(np.vdot)
def _(sweep: BatchValues, op: Call) -> Value:
    a, b = op.operands
    if any(sweep.ev.array_type(x).dtype.kind == "c" for x in (a, b)):
        raise NotCovered("a product of complex rows", op.span)
    rank = sweep.rank(a)
    return _sum_of_products(sweep, sweep.aligned(a, rank), sweep.aligned(b, rank), rank)


@formula(np.outer)
def _(sweep: BatchValues, op: Call) -> Value:
    a, b = op.operands
    if (sweep.rank(a), sweep.rank(b)) != (1, 1):
        raise NotCovered("an outer product of rows of other ranks", op.span)
    left = _part(sweep, sweep.full(a), (_ALL, _ALL, None)) if sweep.differs(a) else None
    right = _part(sweep, sweep.full(b), (_ALL, None)) if sweep.differs(b) else b
    if left is None:
        left = evaluated(sweep, operator.getitem, [a, Const((_ALL, None))])
    return evaluated(sweep, operator.mul, [left, right])


@formula(np.tensordot)
def _(sweep: BatchValues, op: Call) -> Value:
    options = dict(op.keywords)
    a, b, *rest = op.operands
    axes = known(sweep, rest[0] if rest else options.pop("axes", Const(2)))
    if options or (sweep.differs(a) and sweep.differs(b)):
        raise NotCovered("a product of rows along axes", op.span)
    rank = sweep.rank(a)
    if isinstance(axes, int):
        axes = tuple(range(rank - axes, rank)), tuple(range(axes))
    of_a, of_b = ((x,) if isinstance(x, int) else tuple(x) for x in axes)
    of_a = tuple(i % rank for i in of_a)
    of_b = tuple(i % sweep.rank(b) for i in of_b)
    if sweep.differs(a):
        shifted = tuple(i + 1 for i in of_a), of_b
        return evaluated(sweep, np.tensordot, [sweep.full(a), b], {"axes": shifted})
    shifted = of_a, tuple(i + 1 for i in of_b)
    found = evaluated(sweep, np.tensordot, [a, sweep.full(b)], {"axes": shifted})
    return evaluated(sweep, np.moveaxis, [found, Const(rank - len(of_a)), Const(0)])


@formula(np.einsum)
def _(sweep: BatchValues, op: Call) -> Value:
    subscripts, *operands = op.operands
    text = known(sweep, subscripts)
    if op.keywords or not isinstance(text, str) or "->" not in text or "." in text:
        raise NotCovered("an einsum of rows in another form", op.span)
    given, result = text.replace(" ", "").split("->")
    letter = next(x for x in "ZYXWVUTSRQPONMLKJIHGFEDCBA" if x not in text)
    parts = [
        letter + part if sweep.differs(x) else part
        for part, x in zip(given.split(","), operands, strict=True)
    ]
    rows = [sweep.rows.get(x, x) if isinstance(x, Value) else x for x in operands]
    return evaluated(sweep, np.einsum, [Const(f"{','.join(parts)}->{letter}{result}"), *rows])


@formula(*members(np.linalg, "inv det cholesky pinv eigvalsh"))
def _(sweep: BatchValues, op: Call) -> Value:
    if op.keywords:
        raise NotCovered("an option of linear algebra of rows", op.span)
    return evaluated(sweep, callee_of(op), [sweep.full(op.operands[0])])


@formula(np.linalg.solve)
def _(sweep: BatchValues, op: Call) -> Value:
    a, b = (sweep.full(x) for x in op.operands)
    if sweep.rank(op.operands[1]) > 1:
        return evaluated(sweep, np.linalg.solve, [a, b])
    column = _part(sweep, b, (_ALL, _ALL, None))
    return _part(sweep, evaluated(sweep, np.linalg.solve, [a, column]), (Ellipsis, 0))
