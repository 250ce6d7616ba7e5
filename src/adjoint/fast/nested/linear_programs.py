"""Linear programs in terms of operations of programs: the definition of `linprog`.

SciPy finds the solution. One in a vertex solves the equations that hold there, which give its
derivative. The generic tier takes all others.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from scipy import optimize

from adjoint.fast.evaluate.callees.numpy_definitions import constant, definition, with_derivative
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.table import in_programs
from adjoint.fast.evaluate.values import Abstract, Known
from adjoint.fast.nested.plain_calls import OWN_VECTOR, SCALAR, VECTOR, plainly
from adjoint.fast.nested.solvers import inverse_at, report
from adjoint.fast.not_covered import Deoptimize
from adjoint.rulekit.registry import non_differentiable
from adjoint.rules.scipy.equivalents import result_like
from adjoint.rules.scipy.linear_programs import DEGENERATE, held_at
from adjoint.rules.scipy.searches import corrections


@functools.cache
def _fields() -> tuple[str, ...]:
    return tuple(optimize.linprog([1.0]))


@in_programs
def fields(ev: Evaluator) -> Abstract:
    """Stand for the names of the fields of a solution."""
    return Known(_fields())


def _linprog(c: Any, A_ub: Any, b_ub: Any, A_eq: Any, b_eq: Any, *options: Any) -> Any:
    bounds, method, settings = options
    found = optimize.linprog(c, A_ub, b_ub, A_eq, b_eq, bounds, method, options=settings)
    held = held_at(found)
    if held is None:
        raise Deoptimize(DEGENERATE)
    count, rows = len(found.x), [*range(len(found.con))]
    start = len(rows)
    for places, length in zip(held, (len(found.slack), count, count), strict=True):
        rows += [start + i for i in places]
        start += length
    if len(rows) != count:
        raise Deoptimize(DEGENERATE)
    return found.x, found.fun, found.nit, np.array(rows, float), found.slack


def _ends(bounds, side, other, x):
    """Return the lower or the upper bounds of all variables; `other` where there is none."""
    if not isinstance(bounds, tuple | list):
        raise TypeError("bounds of another kind")
    if isinstance(bounds[0], tuple | list):
        return np.array([other if pair[side] is None else pair[side] for pair in bounds]) * 1.0
    return np.zeros(len(x)) + (other if bounds[side] is None else bounds[side])


@definition(optimize.linprog)
def linprog(
    c, A_ub=None, b_ub=None, A_eq=None, b_eq=None, bounds=(0, None), method="highs", callback=None,
    options=None, x0=None, integrality=None,
):  # fmt: skip
    if not method.startswith("highs") or callback is not None or integrality is not None:
        raise ValueError("other options")
    given = c, A_ub, b_ub, A_eq, b_eq, bounds, method, options
    like = VECTOR, SCALAR, 0, VECTOR, OWN_VECTOR
    x, lowest, nit, places, slack = plainly(_linprog, given, like, lambda: 0.0)
    matrices, ends = [], []
    for matrix, right in ((A_eq, b_eq), (A_ub, b_ub)):
        if matrix is not None:
            matrices.append(np.asarray(matrix) * 1.0)
            ends.append(np.ravel(right) * 1.0)
    for side, other in ((0, -np.inf), (1, np.inf)):
        matrices.append(np.eye(len(x)))
        ends.append(_ends(bounds, side, other, x))
    rows = places.astype(int)
    left, right = np.concatenate(matrices)[rows], np.concatenate(ends)[rows]
    inverse = inverse_at(left, left @ x - right, x)
    for _ in corrections():
        residual = left @ x - right
        x = x - inverse @ (residual - constant(residual))
    known = {"x": x, "fun": with_derivative(lowest, (np.ravel(c) * 1.0) @ x)}
    if A_ub is not None:
        left_over = ends[0 if A_eq is None else 1] - matrices[0 if A_eq is None else 1] @ x
        known["slack"] = with_derivative(slack, left_over)
    return report(fields(), success=True, status=0, nit=nit, **known)


# ---- assignments ---------------------------------------------------------------------------------


@result_like(lambda cost, maximize: np.zeros((2, min(cost.shape)), int))
@non_differentiable
def _assigned(cost, maximize):
    return np.array(optimize.linear_sum_assignment(cost, maximize))


@definition(optimize.linear_sum_assignment)
def linear_sum_assignment(cost_matrix, maximize=False):
    rows, columns = _assigned(np.asarray(cost_matrix), maximize)
    return rows, columns
