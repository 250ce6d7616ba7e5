"""Memory of the results of functions: new, an alias of an operand, or new on every call."""

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
"""Functions besides ufuncs that return a new array, which the program may write to."""

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
"""Functions besides ufuncs whose results own their memory and refer to no operand."""

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
"""Functions whose results may be changed or used up, so that two calls must not become one."""

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
"""Functions whose result may be an operand or an alias of one."""
