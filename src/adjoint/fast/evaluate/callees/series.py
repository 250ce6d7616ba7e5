"""Values of series of polynomials, in terms of the values of the basis: the definitions that
programs inline in place of the recursions of NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.polynomial import chebyshev, hermite, hermite_e, laguerre, legendre

from adjoint.fast.evaluate.callees.linear_models import of_doubles
from adjoint.fast.evaluate.callees.numpy_definitions import definition, with_derivative
from adjoint.rulekit.registry import non_differentiable
from adjoint.rules.scipy.equivalents import result_like


def _values(f: Any, basis: Any) -> None:
    @result_like(lambda x, c: x * 1.0 if np.ndim(x) else c[0])
    @non_differentiable
    def value(x, c):
        return f(x, c)

    @definition(f)
    def series(x, c, tensor=True):
        x = np.asarray(x) if isinstance(x, list | tuple) else x
        c = of_doubles(np.asarray(c))
        if c.ndim != 1:
            raise TypeError("several series")
        moved = basis(x, len(c) - 1) @ c
        return with_derivative(value(x, c), moved if np.ndim(x) else moved[0])


for _f, _basis in (
    (chebyshev.chebval, chebyshev.chebvander),
    (legendre.legval, legendre.legvander),
    (laguerre.lagval, laguerre.lagvander),
    (hermite.hermval, hermite.hermvander),
    (hermite_e.hermeval, hermite_e.hermevander),
):
    _values(_f, _basis)
