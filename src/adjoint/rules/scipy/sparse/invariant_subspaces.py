"""Derivatives of spaces of eigenvectors, of which only some are known.

The columns of X span a space of eigenvectors with A X = M X L. Within the directions that leave
Yᴴ X unchanged they move by the equations

    (A − w_j M) x_j' − M X l = −r_j',    Yᴴ x_j' = 0,    r = A X − M X L,    Y with the span of M X,

which have a unique solution unless an eigenvalue outside those of X equals w_j (Andrew & Tan,
*Computation of derivatives of repeated eigenvalues and the corresponding eigenvectors*, 1998;
Magnus, *On differentiating eigenvalues and eigenvectors*, 1985). Values and vectors are those of
the small matrix L in the basis X, which handles equal values among those of X.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.sparse import linalg as sl

from adjoint.cotangents.finiteness import doubt
from adjoint.cotangents.poison import Poison
from adjoint.errors import AdjointError
from adjoint.levels.distinct_objects import fresh
from adjoint.primal.engine_object import EngineObject
from adjoint.rulekit.projection import project
from adjoint.rulekit.registry import frule, non_differentiable, rrule
from adjoint.rules.numpy.linalg.matrices import dagger, undetermined

NEAR = 1e-3
"""Largest residual relative to the distance of an eigenvalue from the others."""

SMALLEST = 1e5
"""Least distance of an eigenvalue from the others, in units of a matrix' rounding."""


class Equations(EngineObject):
    """The equations above with constant matrices, each factorized at its first use.

    Attributes
    ----------
    f
        The function that found the eigenvectors.
    a, m
        The matrices, dense or sparse; ``None`` for the identity.
    x, w
        The vectors and their values.
    y
        Vectors of the condition: an orthonormal basis of the space of M X.
    eps
        The precision of the numbers.
    """

    a: Any
    eps: float
    f: Any
    m: Any
    w: Any
    x: Any

    def __init__(self, f: Any, a: Any, m: Any, x: Any, w: Any, eps: float) -> None:
        self.f, self.a, self.m, self.x, self.w, self.eps = f, a, m, x, w, eps
        self.mx: Any = x if m is None else m @ x
        self.y: Any = np.linalg.qr(self.mx)[0]
        self._solvers: dict[int, Callable[[Any, bool], Any]] = {}

    def __deepcopy__(self, _: Any) -> Equations:
        return self  # immutable

    def solve(self, r: Any) -> Any:
        """Return x' for r', column by column."""
        return self._solved(r, False)

    def solve_adjoint(self, x_bar: Any) -> Any:
        """Return r̄ for x̄."""
        return self._solved(x_bar, True)

    def require_separated(self, used: Any) -> None:
        """Refuse eigenvalues that are equal to others that were not found."""
        for j in np.flatnonzero(used):
            self._solver(int(j))

    def _solved(self, r: Any, adjoint: bool) -> Any:
        n, k = self.x.shape
        found = np.zeros((n, k), np.result_type(self.x, r))
        for j in range(k):
            if np.any(r[:, j]):
                whole = np.concatenate([r[:, j], np.zeros(k)])
                found[:, j] = self._solver(j)(whole, adjoint)[:n]
        return found

    def _solver(self, j: int) -> Callable[[Any, bool], Any]:
        if j not in self._solvers:
            shifted = self._shifted(j)
            size = float(abs(shifted).max())
            solve = self._factorized(shifted, size or 1.0)
            if solve is None or not self._is_determined(solve, j, size):
                raise undetermined(
                    self.f,
                    "an eigenvalue or singular value is equal to one that was not found, or too"
                    " close to it, or not found well enough",
                    "ask for all that are equal, or for a smaller tolerance",
                )
            self._solvers[j] = solve
        return self._solvers[j]

    def _shifted(self, j: int) -> Any:
        w = self.w[j]
        if self.m is not None:
            return self.a - w * self.m
        if sparse.issparse(self.a):
            return self.a - w * sparse.eye_array(len(self.x), format="csc")
        return self.a - w * np.eye(len(self.x))

    def _factorized(self, shifted: Any, size: float) -> Callable[[Any, bool], Any] | None:
        """Factorize the matrix with a border, scaled to the size of the matrix."""
        column, row = -size * self.y, size * dagger(self.y)
        if sparse.issparse(shifted):
            blocks = [[shifted, sparse.csc_array(column)], [sparse.csc_array(row), None]]
            try:
                factors = sl.splu(sparse.csc_array(sparse.block_array(blocks, format="csc")))
            except RuntimeError:  # exactly singular
                return None
            kind = factors.L.dtype

            def solve_sparse(r: Any, adjoint: bool) -> Any:
                if np.iscomplexobj(r) and kind.kind != "c":
                    return solve_sparse(r.real, adjoint) + 1j * solve_sparse(r.imag, adjoint)
                return factors.solve(r.astype(kind), "H" if adjoint else "N")

            return solve_sparse
        k = self.x.shape[1]
        whole = np.block([[shifted, column], [row, np.zeros((k, k))]])
        factorize = linalg.get_lapack_funcs("getrf", (whole,))  # lu_factor would warn
        *lu, info = factorize(whole)
        if info:
            return None
        return lambda r, adjoint: linalg.lu_solve(lu, r, 2 * adjoint, check_finite=False)

    def _is_determined(self, solve: Callable[[Any, bool], Any], j: int, size: float) -> bool:
        """Return whether the solution is determined, by a norm of the inverse."""
        n, k = self.x.shape
        z, norm = np.random.default_rng(0).normal(size=n + k), 0.0
        for _ in range(4):
            z = solve(solve(z / np.linalg.norm(z), True), False)
            norm = float(np.linalg.norm(z))
            if not np.isfinite(norm):
                return False
        gap = 1 / np.sqrt(norm)
        residual = self.a @ self.x[:, j] - self.w[j] * self.mx[:, j]
        distance = np.linalg.norm(residual) / np.linalg.norm(self.x[:, j])
        return bool(gap > SMALLEST * self.eps * size and distance <= NEAR * gap)


# ---- operations on vectors and values ------------------------------------------------------------


def _guarded(back: Callable[[Any], Any], *places: bool) -> Callable[[Any], Any]:
    """Return `back` with a refusal turned into poison of the operands that are flagged."""

    def guarded_back(y_bar: Any) -> Any:
        try:
            return back(y_bar)
        except AdjointError as error:
            doubt(y_bar)
            poison = Poison(error)
            return None, *[poison if active else None for active in places]

    return guarded_back


def solution(r: Any, equations: Equations) -> Any:
    """Return x' for r'."""
    return equations.solve(r)


def adjoint_solution(x_bar: Any, equations: Equations) -> Any:
    """Return r̄ for x̄."""
    return equations.solve_adjoint(x_bar)


def _linear(f: Any, adjoint: Any) -> None:
    @rrule.register(f)
    def _(x, equations):
        def back(y_bar):
            return None, project(adjoint(y_bar, equations), x), None

        return f(x, equations), _guarded(back, True, False)

    @frule.register(f)
    def _(dots, x, equations):
        return f(x, equations), None if dots[0] is None else f(dots[0], equations)


_linear(solution, adjoint_solution)
_linear(adjoint_solution, solution)


def moved(x: Any, residual: Any, equations: Equations) -> Any:
    """Return `x` with the derivative of a Newton step against `residual`, which is zero here. The
    value stays `x`."""
    return fresh(x)


@rrule.register(moved)
def _(x, residual, equations):
    def moved_back(y_bar):
        bar = -adjoint_solution(y_bar, equations)
        return None, project(y_bar, x), project(bar, residual), None

    return moved(x, residual, equations), _guarded(moved_back, True, True, False)


@frule.register(moved)
def _(dots, x, residual, equations):
    y, (x_dot, residual_dot, _) = moved(x, residual, equations), dots
    if residual_dot is None:
        return y, x_dot
    try:
        step = -solution(residual_dot, equations)
    except AdjointError as error:
        return y, Poison(error)
    return y, step if x_dot is None else x_dot + step


def separated(w: Any, equations: Equations) -> Any:
    """Return eigenvalues, whose derivatives are refused where they do not exist."""
    return fresh(w)


@rrule.register(separated)
def _(w, equations):
    def apart_back(w_bar):
        _demand_apart(equations, w_bar)
        return None, w_bar, None

    return fresh(w), _guarded(apart_back, True, False)


@frule.register(separated)
def _(dots, w, equations):
    if dots[0] is not None:
        try:
            _demand_apart(equations, dots[0])
        except AdjointError as error:
            return fresh(w), Poison(error)
    return fresh(w), dots[0]


@non_differentiable
def _demand_apart(equations: Equations, moving: Any) -> None:
    equations.require_separated(moving != 0)


def of_any_phase(v: Any, f: Any) -> Any:
    """Return vectors whose phases are undetermined: a result that shows a phase is refused. In
    forward mode, and inside other derivatives, they turn as little as possible."""
    return fresh(v)


@rrule.register(of_any_phase)
def _(v, f):
    def of_any_phase_back(v_bar):
        _demand_no_turn(v, v_bar, f)
        return None, v_bar, None

    return fresh(v), _guarded(of_any_phase_back, True, False)


@frule.register(of_any_phase)
def _(dots, v, f):
    return fresh(v), dots[0]


@non_differentiable
def _demand_no_turn(v: Any, v_bar: Any, f: Any) -> None:
    if not np.iscomplexobj(v):
        return
    turn = np.abs(np.imag(np.sum(np.conj(v) * v_bar, 0)))
    size = np.sqrt(np.sum(np.abs(v) ** 2, 0) * np.sum(np.abs(v_bar) ** 2, 0))
    if np.any(turn > np.sqrt(np.finfo(v.dtype).eps) * size):
        raise undetermined(
            f,
            "the phase of a vector shows in the result, and nothing determines it",
            "use what does not depend on it, such as abs(v), or v * conj(v[k])",
        )
