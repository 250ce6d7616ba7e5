"""Rule of `scipy.optimize.linprog`: a solution in a vertex solves the equations that hold there."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import optimize, sparse

from adjoint.levels.foreign.search_state import restore_after, run_search
from adjoint.rulekit.registry import non_differentiable, substitute
from adjoint.rulekit.substitute_source import without_rule
from adjoint.rules.scipy.searches import (
    corrected,
    corrections,
    is_determined,
    refuse_rest,
    refused_result,
    with_value,
)

HOLDS = 1e-8
"""Largest distance from a constraint that holds, and smallest price of one that is needed."""
DEGENERATE = "has found no vertex that as many constraints determine as there are unknowns"


@non_differentiable
def held_at(found: Any) -> Any:
    """Return the inequalities, lower bounds and upper bounds that hold at a solution; ``None``
    where one of them is not needed: another solution may be as good, or the next one elsewhere."""
    if found.status != 0:
        return None
    parts = found.ineqlin, found.lower, found.upper
    scales = 1.0, 1.0 + np.abs(found.x), 1.0 + np.abs(found.x)
    held = [part.residual <= HOLDS * scale for part, scale in zip(parts, scales, strict=True)]
    for part, holds in zip(parts, held, strict=True):
        if np.any(np.abs(part.marginals[holds]) <= HOLDS):
            return None
    return [np.flatnonzero(holds).tolist() for holds in held]


_LINPROG = without_rule(optimize.linprog)


@substitute(optimize.linprog)
def linprog(
    c, A_ub=None, b_ub=None, A_eq=None, b_eq=None, bounds=(0, None), method="highs", callback=None,
    options=None, x0=None, integrality=None,
):  # fmt: skip
    given = c, A_ub, b_ub, A_eq, b_eq, bounds, method, callback, options, x0, integrality
    if not method.startswith("highs") or np.any(integrality) or _is_sparse(A_ub, A_eq):
        return _LINPROG(*given)
    found, search = run_search(optimize.linprog, given, {})
    held = held_at(found)
    if held is None:
        return _refused(found, search, given)
    x, matrix, ends = found.x, [], []
    if A_eq is not None:
        matrix.append(np.asarray(A_eq) * 1.0)
        ends.append(np.ravel(b_eq))
    if held[0]:
        matrix.append((np.asarray(A_ub) * 1.0)[held[0]])
        ends.append(np.ravel(b_ub)[held[0]])
    for side in (0, 1):
        for i in held[1 + side]:
            matrix.append(np.eye(len(x))[[i]])
            ends.append(np.ravel(bounds[side] if np.ndim(bounds) == 1 else bounds[i][side]))
    left = np.concatenate(matrix) if matrix else np.zeros((0, len(x)))
    if left.shape[0] != len(x) or not is_determined(left):
        return _refused(found, search, given)
    right = np.concatenate(ends)
    for _ in corrections():
        x = corrected(x, left @ x - right, left)
    found.x, found.fun = x, with_value(found.fun, np.ravel(c) @ x)
    known = ["x", "fun"]
    if A_ub is not None:
        found.slack = with_value(found.slack, np.ravel(b_ub) - np.asarray(A_ub) @ x)
        known.append("slack")
    restore_after(search)
    return refuse_rest(optimize.linprog, found, given, *known)


def _refused(found, search, given):
    for name in ("x", "fun", "slack"):
        found[name] = refused_result(found[name], optimize.linprog, DEGENERATE, *given)
    restore_after(search)
    return refuse_rest(optimize.linprog, found, given, "x", "fun", "slack")


@non_differentiable
def _is_sparse(*matrices: Any) -> bool:
    return any(map(sparse.issparse, matrices))
