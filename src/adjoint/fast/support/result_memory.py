"""Which functions return arrays, lists or iterators of their own, and which return views."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from adjoint.fast.single.primitives import same
from adjoint.fast.support import functions as runtime
from adjoint.fast.support import rows
from adjoint.ir import primitives
from adjoint.rulekit.row_sums import by_class, by_sample, column_sums

_CREATED: frozenset[Any] = frozenset(
    {
        np.zeros,
        np.ones,
        np.empty,
        np.full,
        np.zeros_like,
        np.ones_like,
        np.empty_like,
        np.full_like,
        np.array,
        np.copy,
        np.ndarray.copy,
    }
)
_ARITHMETIC: frozenset[Any] = frozenset(
    {
        operator.add,
        operator.sub,
        operator.mul,
        operator.truediv,
        operator.neg,
        operator.pow,
        operator.matmul,
    }
)

NEW_ARRAYS = _CREATED | _ARITHMETIC
"""What, beside ufuncs, gives a function an array of its own, into which it may write."""

OWN_MEMORY = _ARITHMETIC | {
    np.sum,
    column_sums,
    np.outer,
    np.where,
    np.array,
    runtime.zeros_like,
    runtime.own,
    runtime.broadcast_like,
    runtime.real_like,
    runtime.summed_part,
    runtime.to_extremes,
    runtime.direction,
}
"""What, beside ufuncs, gives arrays in memory of their own and keeps nothing of its operands."""

MADE_EACH_TIME = _CREATED | {
    runtime.new_tape,
    runtime.zeros_like,
    runtime.own,
    runtime.broadcast_like,
    runtime.real_like,
    runtime.summed_part,
    rows.zeros_of,
    rows.complex_zeros_of,
    rows.part,
    rows.repeated,
    rows.array_of,
    primitives.build_list,
    zip,
    enumerate,
    reversed,
    operator.call,
}
"""What is not the same twice, for it may be changed or used up."""

VIEWS: frozenset[Any] = frozenset(
    {
        operator.getitem,
        np.transpose,
        np.swapaxes,
        np.moveaxis,
        np.ravel,
        np.reshape,
        np.expand_dims,
        np.squeeze,
        np.broadcast_to,
        np.flip,
        np.diag,
        np.einsum,
        np.atleast_1d,
        np.atleast_2d,
        np.asarray,
        np.ndarray.transpose,
        np.ndarray.swapaxes,
        np.ndarray.ravel,
        np.ndarray.reshape,
        np.ndarray.squeeze,
        np.ndarray.astype,
        by_class,
        by_sample,
        runtime.assigned,
        runtime.real_part,
        runtime.imaginary_part,
        same,
    }
)
"""Functions whose result may be, or look at, the memory of an operand."""
