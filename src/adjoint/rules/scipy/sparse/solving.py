"""Rules of `scipy.sparse.linalg`: linear equations, solved by factors or iteration.

A⁻¹ b has the cotangents b̄ = A⁻ᴴ x̄ and Ā = −b̄ xᴴ at the stored entries (Giles, *Collected matrix
derivative results*, 2008, section 2.3.1). The result of an iteration has the derivatives of the
exact solution.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import linalg as sl

from adjoint.cotangents.accumulate import finish
from adjoint.cotangents.poison import Poison
from adjoint.rulekit.elementwise_forward import like_result
from adjoint.rulekit.projection import project
from adjoint.rulekit.refusal import NoDerivative, may_be_nonzero, refusal
from adjoint.rulekit.registry import (
    frule,
    leveled,
    non_differentiable,
    primitive,
    rrule,
    structural,
)
from adjoint.rules.scipy.sparse.arrays import WITH_DATA
from adjoint.rules.scipy.sparse.sparsity import major_of
from adjoint.runtime.dispatch.checked_pullback import finished_cotangent, result_of
from adjoint.runtime.dispatch.source_call import call_function
from adjoint.runtime.memory.deposit import deposit
from adjoint.runtime.memory.memory import Memory

_superlu: Any = sl.splu.__globals__["_superlu"]
INCOMPLETE = NoDerivative("the matrix", "an incomplete factorization does not have")
IN_FORWARD_MODE = NoDerivative("the matrix", "factors have in reverse mode only: use spsolve")
NOT_CONVERGED = NoDerivative("the equations", "the iteration did not come to solve")


def _entry_bars(rows: Any, columns: Any, b_bar: Any, x: Any) -> Any:
    """Return −b̄ xᴴ at stored entries, for one or several right-hand sides."""
    parts = b_bar[rows] * np.conj(x[columns])
    return -(np.sum(parts, -1) if parts.ndim > 1 else parts)


def _places(indices: Any, pointers: Any, by_columns: Any) -> tuple[Any, Any]:
    """Return rows and columns of the entries of a compressed array."""
    major = major_of(pointers)
    return (indices, major) if by_columns else (major, indices)


# ---- gssv, which spsolve calls -------------------------------------------------------------------


@rrule.register(_superlu.gssv)
def _(N, nnz, data, indices, pointers, b, by_columns, *, options=None):
    options = {} if options is None else options
    x, info = _superlu.gssv(N, nnz, data, indices, pointers, b, by_columns, options=options)

    def gssv_back(y_bar):
        none = None, None, None
        x_bar = None if y_bar is None else y_bar[0]
        if x_bar is None:
            return *none, None, None, None, None, None
        kind = np.result_type(data, x_bar)
        b_bar, _ = _superlu.gssv(
            N,
            nnz,
            np.conj(data).astype(kind),
            indices,
            pointers,
            np.asarray(x_bar, kind),
            not by_columns,
            options=options,
        )
        data_bar = _entry_bars(*_places(indices, pointers, by_columns), b_bar, x)
        return *none, project(data_bar, data), None, None, project(b_bar, b), None

    return (x, info), gssv_back


@frule.register(_superlu.gssv)
def _(dots, N, nnz, data, indices, pointers, b, by_columns, *, options=None):
    options = {} if options is None else options
    x, info = _superlu.gssv(N, nnz, data, indices, pointers, b, by_columns, options=options)
    data_dot, b_dot = dots[2], dots[5]
    if data_dot is None and b_dot is None:
        return (x, info), None
    right = np.zeros(np.shape(x), x.dtype) if b_dot is None else b_dot
    if data_dot is not None:
        rows, columns = _places(indices, pointers, by_columns)
        moved = sparse.coo_array((data_dot, (rows, columns)), shape=(N, N))
        right = right - moved @ x
    x_dot, _ = _superlu.gssv(
        N, nnz, data, indices, pointers, np.asarray(right, x.dtype), by_columns, options=options
    )
    return (x, info), (like_result(x_dot, x), None)


# ---- factors: splu, spilu, factorized ------------------------------------------------------------

ADJOINT = {"N": "H", "H": "N"}


@structural(_superlu.gstrf)
def _(
    memory: Memory, N: Any, nnz: Any, data: Any, indices: Any, pointers: Any, **named: Any
) -> Any:
    """Factorize; the shadow of the factors holds the cotangent of the matrix data."""
    factors = _superlu.gstrf(N, nnz, data, indices, pointers, **named)
    memory.caches["factors", id(factors)] = (
        factors,  # kept alive, so that no other object gets its identity
        None if named.get("ilu") else (np.array(indices), major_of(pointers)),
    )

    def gstrf_back(_: Any) -> tuple[Any, ...]:
        bar, poison = memory.take_entry(factors, "data"), memory.take_entry(factors, "*")
        bar = finish(bar) if poison is None else poison
        return None, None, None, deposit(memory, data, bar), None, None

    return factors, gstrf_back


def _factors(args: Any, csc_construct_func: Any, ilu: bool, options: Any) -> Any:
    named = {} if options is None else {"options": options}
    return _superlu.gstrf(*args, csc_construct_func=csc_construct_func, ilu=ilu, **named)


@rrule.register(_superlu.gstrf)
def _(N, nnz, data, indices, pointers, *, csc_construct_func, ilu=False, options=None):
    """Factorize for calls of the rule alone, where no memory holds the cotangent of the factors."""
    args, poison = (N, nnz, data, indices, pointers), Poison(refusal(sl.splu, IN_FORWARD_MODE))
    return _factors(args, csc_construct_func, ilu, options), lambda factors_bar: (
        None,
        None,
        None,
        poison,
        None,
        None,
    )


@frule.register(_superlu.gstrf)
def _(dots, N, nnz, data, indices, pointers, *, csc_construct_func, ilu=False, options=None):
    if may_be_nonzero(dots[2]):
        raise refusal(sl.splu, IN_FORWARD_MODE)
    return _factors((N, nnz, data, indices, pointers), csc_construct_func, ilu, options), None


def _solve_adjoint(factors: Any, x_bar: Any, trans: str) -> Any:
    """Return A⁻ᴴ x̄ for the matrix A of the solution."""
    if trans == "T":
        return np.conj(factors.solve(np.conj(x_bar)))
    return factors.solve(x_bar, ADJOINT[trans])


@structural((sl.SuperLU, "solve"))
def _(memory: Memory, factors: Any, b: Any, trans: str = "N") -> Any:
    if not isinstance(b, np.ndarray) or b.dtype.kind not in "fc":
        return NotImplemented
    x = factors.solve(b, trans)
    result = result_of(memory, x)
    known = memory.caches.get(("factors", id(factors)))

    def solve_back(x_bar: Any) -> tuple[Any, ...]:
        x_bar = finished_cotangent(memory, result, x_bar)
        if x_bar is None or type(x_bar) is Poison:
            if x_bar is not None and known is not None:
                memory.add_entry(factors, "*", x_bar)
            return None, None, deposit(memory, b, x_bar), None
        b_bar = _solve_adjoint(factors, x_bar, trans)
        if known is not None and known[1] is None:
            memory.add_entry(factors, "*", Poison(refusal(sl.spilu, INCOMPLETE)))
        elif known is not None:
            rows, columns = known[1]
            places = (rows, columns) if trans == "N" else (columns, rows)
            data_bar = _entry_bars(*places, b_bar, x)
            memory.add_entry(factors, "data", np.conj(data_bar) if trans == "H" else data_bar)
        return None, None, deposit(memory, b, project(b_bar, b)), None

    return x, solve_back


@rrule.register((sl.SuperLU, "solve"))
def _(factors, b, trans="N"):
    """Solve with constant factors."""
    return factors.solve(b, trans), lambda x_bar: (
        None,
        None,
        project(_solve_adjoint(factors, x_bar, trans), b),
        None,
    )


@frule.register((sl.SuperLU, "solve"))
def _(dots, factors, b, trans="N"):
    x = factors.solve(b, trans)
    return x, None if dots[1] is None else like_result(factors.solve(dots[1], trans), x)


# ---- factors on levels: the matrix is solved again -----------------------------------------------


@leveled(_superlu.gstrf)
def _(
    level: Any, record: Any, slot: int, N: Any, nnz: Any, data: Any, indices: Any, pointers: Any,
    **named: Any,
) -> Any:  # fmt: skip
    if named.get("ilu") or not level.is_active(data):
        return NotImplemented
    factors = level.below(_superlu.gstrf, N, nnz, data, indices, pointers, **named)
    matrix = level.run(np.array, data), np.array(indices), np.array(pointers)
    level.memory.caches["held", id(factors)] = factors, matrix
    return factors


@leveled((sl.SuperLU, "solve"))
def _(level: Any, record: Any, slot: int, factors: Any, b: Any, trans: str = "N") -> Any:
    known = level.memory.caches.get(("held", id(factors)))
    if known is None or not isinstance(b, np.ndarray) or b.dtype.kind not in "fc":
        return NotImplemented
    return level.run(_solved, factors.solve(b, trans), *known[1], b, trans)


def _solved(x, data, indices, pointers, b, trans):
    """Return the solution `x` with the derivatives in the matrix and the right-hand side."""
    kind = np.result_type(data, b)
    entries = np.conj(data) if trans == "H" else data
    exact, _ = _superlu.gssv(
        len(pointers) - 1,
        len(data),
        entries.astype(kind),
        indices,
        pointers,
        b.astype(kind),
        trans == "N",
        options={"ColPerm": "COLAMD"},
    )
    return valued(x, exact)


# ---- iterations ----------------------------------------------------------------------------------


def valued(x: Any, solution: Any) -> Any:
    """Return a copy of `x` with the derivatives of the solution that it approximates."""
    return x.copy()


@rrule.register(valued)
def _(x, solution):
    return x.copy(), lambda y_bar: (None, None, project(y_bar, solution))


@frule.register(valued)
def _(dots, x, solution):
    return x.copy(), dots[1]


def unconverged(x: Any, operands: Any) -> Any:
    """Return a copy of `x`, whose derivatives in the operands are refused."""
    return x.copy()


@rrule.register(unconverged)
def _(x, operands):
    def stopped_back(y_bar):
        bar = Poison(refusal(unconverged, NOT_CONVERGED)) if may_be_nonzero(y_bar) else None
        return None, y_bar, tuple([bar for _ in operands])

    return x.copy(), stopped_back


@frule.register(unconverged)
def _(dots, x, operands):
    if may_be_nonzero(dots[1]):
        raise refusal(unconverged, NOT_CONVERGED)
    return x.copy(), dots[0]


def _run(f: Any, args: Any, kwargs: Any) -> Any:
    return f(*args, **kwargs)


def _by_iteration(f: Any) -> None:
    def solve(*args, **kwargs):
        x, info = _run(f, args, kwargs)
        a, b = args[0], args[1]
        data = a.data if sparse.issparse(a) else a
        if info != 0:
            return unconverged(x, (data, b)), info
        b = np.ravel(b)
        exact = sl.spsolve(sparse.csc_array(a), b) if sparse.issparse(a) else np.linalg.solve(a, b)
        return valued(x, exact.reshape(x.shape)), info

    @primitive(f)
    def iterate(record: list[Any], slot: int, /, *args: Any, **kwargs: Any) -> Any:
        if len(args) < 2 or not isinstance(args[1], np.ndarray):
            return NotImplemented
        if not isinstance(args[0], np.ndarray) and getattr(args[0], "format", "") not in WITH_DATA:
            return NotImplemented
        return call_function(record, slot, solve, args, kwargs)


for _name in "bicg bicgstab cg cgs gcrotmk gmres lgmres minres qmr tfqmr".split():
    _by_iteration(getattr(sl, _name))


def _solve_triangular(a, b, *settings, **named):
    x = _run(sl.spsolve_triangular, (a, b, *settings), named)
    return valued(x, sl.spsolve(sparse.csc_array(a), b).reshape(x.shape))


@primitive(sl.spsolve_triangular)
def _(record: list[Any], slot: int, /, a: Any, b: Any, *settings: Any, **named: Any) -> Any:
    unit = named.get("unit_diagonal", settings[3] if len(settings) > 3 else False)
    if getattr(a, "format", "") not in WITH_DATA or not isinstance(b, np.ndarray) or unit:
        return NotImplemented
    return call_function(record, slot, _solve_triangular, (a, b, *settings), named)


non_differentiable(_run)
