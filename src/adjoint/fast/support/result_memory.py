"""Memory of the results of functions: new, an alias of an operand, or new on every call."""

from __future__ import annotations

import itertools
import operator
from typing import Any

import numpy as np

from adjoint.fast.single_assignment.primitives import same
from adjoint.fast.support import functions as runtime
from adjoint.fast.support import rows
from adjoint.fast.support.members import members
from adjoint.fast.support.structural_zeros import zero_beside
from adjoint.ir import primitives
from adjoint.rulekit.row_sums import by_class, by_sample, column_sums

_CREATED = members(
    np,
    "zeros ones empty full eye identity zeros_like ones_like empty_like full_like array copy "
    "ndarray.copy",
)
_ARITHMETIC = members(operator, "add sub mul truediv neg pow matmul")

_COMPUTED = members(
    np,
    "sum mean std var where outer dot concatenate stack cumsum tile arange linspace sort argsort "
    "partition argpartition take take_along_axis argwhere flatnonzero bincount searchsorted "
    "cumprod prod max min vstack hstack clip kron inner repeat tri "
    "ndarray.sum ndarray.mean ndarray.std ndarray.var ndarray.prod ndarray.max ndarray.min",
)

IDENTITIES: tuple[Any, ...] = (
    same,
    runtime.real,
    runtime.inexact,
    runtime.assigned,
    runtime.foreseen,
    runtime.foreseen_number,
    float,
    np.float64,
    np.asarray,
)
"""Functions that check or convert their operand and return it."""
COPIES: tuple[Any, ...] = (runtime.apart, runtime.exactly, runtime.inner_derivative)
"""Further functions whose first operand is what their result equals and depends on."""

NEW_ARRAYS: frozenset[Any] = (
    _CREATED
    | _ARITHMETIC
    | _COMPUTED
    | {runtime.apart, runtime.constant, runtime.inner_derivative, runtime.repeated}
    | {rows.array_of, rows.stacked, rows.total}
)
"""Functions besides ufuncs that return a new array, which the program may write to."""

_OWN = frozenset(
    {
        runtime.apart,
        runtime.constant,
        runtime.zeros_like,
        runtime.own,
        runtime.inner_derivative,
        runtime.broadcast_like,
        runtime.real_like,
        runtime.summed_part,
        runtime.last_part,
        runtime.repeated,
    }
)

OWN_MEMORY: frozenset[Any] = (
    _ARITHMETIC
    | _OWN
    | {
        np.sum,
        column_sums,
        np.outer,
        np.where,
        np.array,
        runtime.to_extremes,
        runtime.direction,
    }
)
"""Functions besides ufuncs whose results own their memory and refer to no operand."""

MADE_EACH_TIME: frozenset[Any] = (
    _CREATED
    | _OWN
    | {
        runtime.new_tape,
        rows.zeros_of,
        rows.complex_zeros_of,
        rows.array_zeros_of,
        rows.part,
        rows.repeated,
        rows.array_of,
        rows.stacked,
        primitives.build_list,
        runtime.new_stream,
        zip,
        enumerate,
        reversed,
        itertools.count,
        operator.call,
    }
)
"""Functions whose results may be changed or used up, so that two calls must not become one."""

VIEWS: frozenset[Any] = members(
    np,
    "transpose swapaxes moveaxis ravel reshape ascontiguousarray expand_dims squeeze broadcast_to "
    "flip diag einsum atleast_1d atleast_2d asarray ndarray.transpose ndarray.swapaxes "
    "ndarray.ravel ndarray.reshape ndarray.squeeze ndarray.astype",
) | {
    operator.getitem,
    by_class,
    by_sample,
    runtime.assigned,
    runtime.fitting,
    zero_beside,
    runtime.real_part,
    runtime.imaginary_part,
    same,
}
"""Functions whose result may be an operand or an alias of one."""

SHOWING: frozenset[Any] = members(
    np,
    "transpose swapaxes moveaxis expand_dims squeeze flip atleast_1d atleast_2d "
    "ndarray.transpose ndarray.swapaxes ndarray.squeeze",
) | {operator.getitem, runtime.fitting, runtime.real_part, runtime.imaginary_part, same}
"""Functions whose result is a view of the first operand; an index has to be basic."""

MAY_SHOW: frozenset[Any] = members(
    np, "ravel reshape asarray ascontiguousarray ndarray.ravel ndarray.reshape"
)
"""Functions whose result is a view of the first operand, or a copy."""
