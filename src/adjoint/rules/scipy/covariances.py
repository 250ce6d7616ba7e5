"""Rules of `scipy.stats`: covariances of multivariate distributions.

A distribution uses the determinant of a matrix M of full rank and M⁻¹ = U Uᵀ, where SciPy makes U
from eigenvectors, which have no derivative where eigenvalues are equal. Any derivative of U that
keeps U Uᵀ the inverse is right: U keeps SciPy's value and moves as L⁻ᵀ times a constant, with M = L
Lᵀ.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats._multivariate import _PSD

from adjoint.rulekit.registry import non_differentiable, substitute
from adjoint.rulekit.substitute_source import without_rule
from adjoint.rules.scipy.searches import with_value

_FACTORED = without_rule(_PSD.__init__)


def _found(*args: Any) -> tuple[dict[str, Any], Any]:
    """Return SciPy's factors, and the constant Lᵀ U (``None`` where the matrix is singular)."""
    found = _PSD(*args)
    full, lower = found.rank == len(found.U), args[3]
    root = np.linalg.cholesky(found._M if lower else found._M.T) if full else None
    return vars(found), None if root is None else root.T @ found.U


non_differentiable(_found)


@substitute(_PSD.__init__)
def factored(
    self, M, cond=None, rcond=None, lower=True, check_finite=True, allow_singular=True
):  # fmt: skip
    found, turn = _found(M, cond, rcond, lower, check_finite, allow_singular)
    if turn is None:
        _FACTORED(self, M, cond, rcond, lower, check_finite, allow_singular)
        return
    for name, value in found.items():
        setattr(self, name, value)
    self._M = np.asarray(M)
    root = np.linalg.cholesky(self._M if lower else self._M.T)
    self.U = with_value(found["U"], np.linalg.solve(root.T, turn))
    self.log_pdet = with_value(found["log_pdet"], 2 * np.sum(np.log(np.diagonal(root))))
