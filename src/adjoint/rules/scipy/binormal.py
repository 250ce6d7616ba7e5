"""The bivariate normal distribution, which SciPy computes in compiled code."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtr

from adjoint.rulekit.families import elementwise
from adjoint.rules.scipy.special.error_functions import normal_density

FAR = 1e8
"""Bound that stands for infinity in the formulas below."""


def _slope(x: Any, y: Any, r: Any) -> Any:
    """Return d/dx of the probability to exceed `x` and `y` at correlation `r`."""
    x, y = np.clip(x, -FAR, FAR), np.clip(y, -FAR, FAR)
    return -normal_density(x) * ndtr((r * x - y) / np.sqrt(1 - r * r))


def _density(x: Any, y: Any, r: Any) -> Any:
    """Return the bivariate normal density, which is also the slope in the correlation."""
    x, y, rest = np.clip(x, -FAR, FAR), np.clip(y, -FAR, FAR), np.sqrt(1 - r * r)
    return normal_density(x) * normal_density((y - r * x) / rest) / rest


def _compiled() -> Any:
    try:
        from scipy.special._ufuncs import _bivariate_normal_cdf

        return _bivariate_normal_cdf
    except ImportError:
        from scipy.stats import _stats_pythran

        return getattr(_stats_pythran, "_bvnu", None)


above: Any = _compiled()
"""Compiled function of the upper tail; ``None`` in SciPy versions that have it in Fortran."""

if above is not None:
    elementwise(above, _slope, lambda x, y, r: _slope(y, x, r), _density)
