"""Rules of hypergeometric functions in the argument (DLMF 13.3, 15.5, 16.3).

The derivatives in the parameters are hypergeometric functions of more variables.
"""

from __future__ import annotations

import numpy as np
from scipy import special as sp

from adjoint.rulekit.families import NoDerivative, elementwise

PARAMETER = NoDerivative("a parameter")

elementwise(
    sp.hyp0f1, PARAMETER, lambda v, z: sp.hyp0f1(np.real(v) + 1, z) / np.real(v), singular=True
)
elementwise(
    sp.hyp1f1,
    PARAMETER,
    PARAMETER,
    lambda a, b, z: np.real(a / b) * sp.hyp1f1(np.real(a) + 1, np.real(b) + 1, z),
    singular=True,
)
elementwise(
    sp.hyp2f1,
    PARAMETER,
    PARAMETER,
    PARAMETER,
    lambda a, b, c, z: (
        np.real(a * b / c) * sp.hyp2f1(np.real(a) + 1, np.real(b) + 1, np.real(c) + 1, z)
    ),
    singular=True,
)
elementwise(
    sp.hyperu, PARAMETER, PARAMETER, lambda a, b, x: -a * sp.hyperu(a + 1, b + 1, x), singular=True
)
