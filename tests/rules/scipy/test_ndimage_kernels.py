"""`adjoint.rules.scipy.ndimage.kernels`: correlations, and coefficients of splines."""

import numpy as np

from adjoint.rules.scipy.ndimage.kernels import (
    averaged,
    correlated,
    products,
    spline_coefficients,
    spread,
    spread_coefficients,
)
from tests.rules.harness import reals, table

EVEN = np.array([0.2, 0.5, 0.2])
MODES = range(7)

CASES = {
    f: [
        *((reals(5, 4), reals(3), axis, mode, 1) for axis in (0, 1) for mode in MODES),
        *((reals(6), reals(4, seed=1), 0, mode, -2) for mode in MODES),
        *((reals(5, 4), reals(3, 2, seed=1), None, mode, (0, -1)) for mode in MODES),
        *((reals(5), EVEN, 0, mode, 0) for mode in MODES),
        *((reals(4, 5), np.outer(EVEN, EVEN), None, mode, (0, 0)) for mode in (0, 2)),
        (reals(4, 5), np.outer(EVEN, [1.0, 2.0, 3.0]), None, 2, (0, 0)),
    ]
    for f in (correlated, spread)
}
CASES[products] = [
    *((reals(5, 4), reals(5, 4, seed=1), (3,), axis, mode, 0) for axis in (0, 1) for mode in MODES),
    *((reals(5, 4), reals(5, 4, seed=1), (3, 2), None, mode, (0, -1)) for mode in MODES),
]
CASES[averaged] = [
    *((reals(5, 4), 3, axis, mode, 1) for axis in (0, 1) for mode in MODES),
    *((reals(6), 4, 0, mode, -2) for mode in MODES),
]
for _f in (spline_coefficients, spread_coefficients):
    CASES[_f] = [
        *((reals(n), order, 0, mode) for n in (5, 50) for order in (2, 3) for mode in MODES),
        *((reals(4, 6), 3, axis, mode) for axis in (0, 1) for mode in (2, 3)),
    ]
test_rule = table(CASES)
