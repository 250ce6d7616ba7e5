"""Rules of the orthogonal polynomials ``eval_*`` in the argument.

The derivative is a polynomial of the same or a wider family and one degree less (DLMF 18.9).
Derivatives in degrees and parameters, which may be real for some, are refused: they have no closed
form.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special as sp

from adjoint.rulekit.families import NoDerivative, elementwise

DEGREE = NoDerivative("the degree")
PARAMETER = NoDerivative("a parameter")


def _degree(n: Any) -> Any:
    """Return an integral degree with an integer dtype, for which SciPy has better algorithms."""
    n = np.asarray(np.real(n))
    whole = bool(np.all(np.equal(n, np.floor(n)) & (np.abs(n) < 2**31)))
    return n.astype(np.intp) if whole else n


def _below(n: Any, f: Any, *others: Any) -> Any:
    """Return ``f(n − 1, *others)``, and 0 for degree 0."""
    n = _degree(n)
    zero = np.equal(n, 0)
    return np.where(zero, 0, f(np.where(zero, 1, n) - 1, *others))[()]


# ---- Gegenbauer (18.9.19), with special cases Legendre, Chebyshev (18.7.4, 18.7.9) ---------------

elementwise(
    sp.eval_gegenbauer,
    DEGREE,
    PARAMETER,
    lambda n, a, x: 2 * np.real(a) * _below(n, sp.eval_gegenbauer, np.real(a) + 1, x),
    singular=True,
)


def _gegenbauer(f: Any, order: float, factor: float, inner: Any) -> None:
    elementwise(
        f,
        DEGREE,
        lambda n, x: factor * _below(n, sp.eval_gegenbauer, order, inner(x)),
        singular=True,
    )


_gegenbauer(sp.eval_legendre, 1.5, 1, lambda x: x)
_gegenbauer(sp.eval_sh_legendre, 1.5, 2, lambda x: 2 * x - 1)
_gegenbauer(sp.eval_chebyu, 2, 2, lambda x: x)
_gegenbauer(sp.eval_sh_chebyu, 2, 4, lambda x: 2 * x - 1)
_gegenbauer(sp.eval_chebys, 2, 1, lambda x: x / 2)


# ---- Chebyshev of the first kind (18.9.21) -------------------------------------------------------


def _first_kind(f: Any, second: Any, factor: float) -> None:
    elementwise(f, DEGREE, lambda n, x: factor * np.real(n) * _below(n, second, x), singular=True)


_first_kind(sp.eval_chebyt, sp.eval_chebyu, 1)
_first_kind(sp.eval_sh_chebyt, sp.eval_sh_chebyu, 2)
_first_kind(sp.eval_chebyc, sp.eval_chebys, 1)


# ---- Jacobi (18.9.15) ----------------------------------------------------------------------------


def _jacobi_slope(n: Any, a: Any, b: Any, x: Any) -> Any:
    a, b = np.real(a), np.real(b)
    return 0.5 * (np.real(n) + a + b + 1) * _below(n, sp.eval_jacobi, a + 1, b + 1, x)


def _shifted_jacobi_slope(n: Any, p: Any, q: Any, x: Any) -> Any:
    """Return the slope of the Jacobi polynomial (p − q, q − 1) at 2x − 1, over a binomial."""
    n, p, q = np.real(n), np.real(p), np.real(q)
    slope = 2 * _jacobi_slope(n, p - q, q - 1, 2 * x - 1)
    return slope / sp.binom(2 * n + p - 1, n)


for _f, _slope in ((sp.eval_jacobi, _jacobi_slope), (sp.eval_sh_jacobi, _shifted_jacobi_slope)):
    elementwise(_f, DEGREE, PARAMETER, PARAMETER, _slope, singular=True)


# ---- Laguerre (18.9.23), Hermite (18.9.25, 18.9.27) ----------------------------------------------

elementwise(
    sp.eval_genlaguerre,
    DEGREE,
    PARAMETER,
    lambda n, a, x: -_below(n, sp.eval_genlaguerre, np.real(a) + 1, x),
    singular=True,
)
elementwise(
    sp.eval_laguerre, DEGREE, lambda n, x: -_below(n, sp.eval_genlaguerre, 1, x), singular=True
)
elementwise(
    sp.eval_hermite, None, lambda n, x: 2 * n * _below(n, sp.eval_hermite, x), singular=True
)
elementwise(
    sp.eval_hermitenorm, None, lambda n, x: n * _below(n, sp.eval_hermitenorm, x), singular=True
)
