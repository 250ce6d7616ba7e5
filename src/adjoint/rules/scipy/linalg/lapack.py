"""Rules of LAPACK routines that solve linear equations, as SciPy's own code calls them.

The routines also return a factorization, whose derivative is refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import get_lapack_funcs

from adjoint.cotangents.poison import Poison
from adjoint.rulekit.projection import is_numeric, projector
from adjoint.rulekit.refusal import NoDerivative, may_be_nonzero, refusal, refused_bar
from adjoint.rulekit.registry import frule, non_differentiable, rrule, substitute
from adjoint.rules.numpy.linalg.matrices import dagger
from adjoint.rules.scipy.overwrite_options import take_overwritten

FACTORS = NoDerivative("its factors", "has no rule")


def _routine(name: str, dtype: Any) -> Any:
    return get_lapack_funcs((name,), dtype=dtype)[0]


class _System:
    """One call of a routine `f`, whose last two results are the solution and a status.

    A derived class defines solving with the matrix or its adjoint, by the known factors
    (`substituted`) and by `f` itself (`anew`), the product of a matrix tangent and the solution
    (`times`), and the cotangent of the matrix from b̄ (`bar_of`).
    """

    def __init__(self, f: Any, y: tuple[Any, ...]) -> None:
        self.f, self.y, self.x = f, y, y[-2]

    def substituted(self, right: Any, adjoint: bool) -> Any:
        raise NotImplementedError

    def anew(self, right: Any, adjoint: bool) -> Any:
        raise NotImplementedError

    def times(self, a_dot: Any) -> Any:
        return a_dot @ self.x

    def bar_of(self, bar: Any) -> Any:
        return -(_columns(bar) @ dagger(_columns(self.x)))

    def back(self, y_bar: Any, to_a: Any, to_b: Any) -> tuple[Any, Any]:
        """Return the cotangents of the matrix and of the right-hand side."""
        if any(map(may_be_nonzero, y_bar[:-2])):
            poison = refused_bar(self.f, FACTORS, y_bar)
            return poison, poison
        if y_bar[-2] is None:
            return None, None
        bar = _solved(self, y_bar[-2], True)
        return to_a(self.bar_of(bar)), to_b(bar)

    def push(self, a_dot: Any, b_dot: Any) -> tuple[Any, ...]:
        right = np.zeros_like(self.x) if b_dot is None else b_dot
        if a_dot is not None:
            right = right - self.times(a_dot)
        unknown = None if a_dot is None else _refused_factors(self.f)
        return (*(unknown,) * (len(self.y) - 2), _solved(self, right, False), None)


def _solved(system: _System, right: Any, adjoint: bool) -> Any:
    """Return the solution for another right-hand side, from the known factors."""
    return system.substituted(right, adjoint)


@substitute(_solved)
def _(system: _System, right: Any, adjoint: bool) -> Any:
    """Solve with the matrix itself, because the factors have no derivative."""
    return system.anew(right, adjoint)


def _refused_factors(f: Any) -> Poison:
    return Poison(refusal(f, FACTORS))


non_differentiable(_refused_factors)


def _are_matrices(a: Any, b: Any) -> bool:
    return is_numeric(a) and is_numeric(b) and np.ndim(a) == 2 and np.ndim(b) in (1, 2)


def _columns(x: Any) -> Any:
    return x[:, None] if np.ndim(x) == 1 else x


# ---- a general matrix ----------------------------------------------------------------------------


class _General(_System):
    def __init__(self, f: Any, substitution: Any, a: Any, b: Any) -> None:
        super().__init__(f, f(a, b))
        self.substitution, self.a = substitution, a

    def substituted(self, right: Any, adjoint: bool) -> Any:
        return self.substitution(self.y[0], self.y[1], right, trans=2 * adjoint)[0]

    def anew(self, right: Any, adjoint: bool) -> Any:
        return self.f(dagger(self.a) if adjoint else self.a, right)[-2]


def _general(dtype: Any) -> None:
    f, substitution = _routine("gesv", dtype), _routine("getrs", dtype)

    @rrule.register(f)
    def _(a, b, *, overwrite_a=0, overwrite_b=0):
        if not _are_matrices(a, b):
            return NotImplemented
        system, fits = _General(f, substitution, a, b), (projector(a), projector(b))
        return system.y, lambda y_bar: (None, *system.back(y_bar, *fits))

    @frule.register(f)
    def _(dots, a, b, *, overwrite_a=0, overwrite_b=0):
        if not _are_matrices(a, b):
            return NotImplemented
        system = _General(f, substitution, a, b)
        return system.y, system.push(*dots[:2])


# ---- a symmetric matrix, given by one triangle ---------------------------------------------------


class _Symmetric(_System):
    def __init__(self, f: Any, a: Any, b: Any, lower: Any) -> None:
        super().__init__(f, f(a, b, lower=lower))
        self.lower, self.whole = lower, self.mirrored(a, lower)

    @staticmethod
    def mirrored(a: Any, lower: Any) -> Any:
        half = np.tril(a, -1) if lower else np.triu(a, 1)
        return half + half.T + np.diag(np.diag(a))

    def substituted(self, right: Any, adjoint: bool) -> Any:
        return np.linalg.solve(np.conj(self.whole) if adjoint else self.whole, right)

    anew = substituted

    def times(self, a_dot: Any) -> Any:
        return self.mirrored(a_dot, self.lower) @ self.x

    def bar_of(self, bar: Any) -> Any:
        whole = super().bar_of(bar)
        both = whole + whole.T
        return (np.tril(both, -1) if self.lower else np.triu(both, 1)) + np.diag(np.diag(whole))


def _symmetric(dtype: Any) -> None:
    f = _routine("sysv", dtype)

    @rrule.register(f)
    def _(a, b, *, lower=0, overwrite_a=0, overwrite_b=0):
        if not _are_matrices(a, b):
            return NotImplemented
        system, fits = _Symmetric(f, a, b, lower), (projector(a), projector(b))
        return system.y, lambda y_bar: (None, *system.back(y_bar, *fits))

    @frule.register(f)
    def _(dots, a, b, *, lower=0, overwrite_a=0, overwrite_b=0):
        if not _are_matrices(a, b):
            return NotImplemented
        system = _Symmetric(f, a, b, lower)
        return system.y, system.push(*dots[:2])


# ---- a banded matrix -----------------------------------------------------------------------------


class _Banded(_System):
    """A banded matrix: element (i, j) is in row kl + ku + i − j of `ab`."""

    def __init__(self, f: Any, substitution: Any, kl: Any, ku: Any, ab: Any, b: Any) -> None:
        super().__init__(f, f(kl, ku, ab, b))
        self.substitution, self.kl, self.ku, self.ab = substitution, int(kl), int(ku), ab

    def diagonals(self) -> Any:
        """Yield for each diagonal its row of `ab`, and its rows and columns in the matrix."""
        n = np.shape(self.ab)[1]
        for below in range(-min(self.ku, n - 1), min(self.kl, n - 1) + 1):
            columns = np.arange(max(0, -below), min(n, n - below))
            yield self.kl + self.ku + below, columns + below, columns

    def substituted(self, right: Any, adjoint: bool) -> Any:
        factors, pivots = self.y[:2]
        return self.substitution(factors, self.kl, self.ku, right, pivots, trans=2 * adjoint)[0]

    def anew(self, right: Any, adjoint: bool) -> Any:
        if not adjoint:
            return self.f(self.kl, self.ku, self.ab, right)[-2]
        ab = np.zeros_like(self.ab)
        for row, i, j in self.diagonals():  # element (j, i) of the adjoint
            ab[2 * (self.kl + self.ku) - row, i] = np.conj(self.ab[row, j])
        return self.f(self.ku, self.kl, ab, right)[-2]

    def times(self, a_dot: Any) -> Any:
        x = _columns(self.x)
        product = np.zeros_like(x)
        for row, i, j in self.diagonals():
            product[i] += a_dot[row, j, None] * x[j]
        return np.reshape(product, np.shape(self.x))

    def bar_of(self, bar: Any) -> Any:
        ab_bar = np.zeros(np.shape(self.ab), bar.dtype)
        bar, x = _columns(bar), _columns(self.x)
        for row, i, j in self.diagonals():
            ab_bar[row, j] = -np.sum(bar[i] * np.conj(x[j]), axis=1)
        return ab_bar


def _banded(dtype: Any) -> None:
    f, substitution = _routine("gbsv", dtype), _routine("gbtrs", dtype)

    @rrule.register(f)
    def _(kl, ku, ab, b, *, overwrite_ab=0, overwrite_b=0):
        if not _are_matrices(ab, b):
            return NotImplemented
        system, fits = _Banded(f, substitution, kl, ku, ab, b), (projector(ab), projector(b))
        return system.y, lambda y_bar: (None, None, None, *system.back(y_bar, *fits))

    @frule.register(f)
    def _(dots, kl, ku, ab, b, *, overwrite_ab=0, overwrite_b=0):
        if not _are_matrices(ab, b):
            return NotImplemented
        system = _Banded(f, substitution, kl, ku, ab, b)
        return system.y, system.push(*dots[2:4])


for _dtype in "fdFD":
    _general(_dtype)
    _symmetric(_dtype)
    _banded(_dtype)
    take_overwritten(_routine(name, _dtype) for name in ("gesv", "sysv", "gbsv"))
