"""`cmath`."""

import cmath

import numpy as np

from adjoint.rulekit.registry import lookup
from tests.rules.harness import table

Z = [(0.3 + 0.4j,), (-1.2 + 0.5j,), (0.4 - 1.5j,), (np.complex64(0.3 + 0.4j),), (np.array(0.4j),)]
REAL = [(0.6,), (np.float32(0.6),)]
CASES = {
    **{
        f: [*Z, *REAL]
        for f in (
            cmath.exp,
            cmath.sqrt,
            cmath.log10,
            cmath.sin,
            cmath.cos,
            cmath.tan,
            cmath.sinh,
            cmath.cosh,
            cmath.tanh,
            cmath.asin,
            cmath.acos,
            cmath.atan,
            cmath.asinh,
            cmath.atanh,
        )
    },
    cmath.acosh: [*Z, (1.6,)],
    cmath.log: [*Z, *REAL, (2.0 + 1j, 3.0), (2.0, 0.5j), (2.0, 3.0)],
    cmath.phase: [*Z, *REAL],
    cmath.polar: [*Z[:3], (1.5,)],
    cmath.rect: [(1.5, 0.4), (2, 1), (np.float32(1.5), 0.4)],
}
test_rule = table(CASES)


def test_all_of_cmath_is_registered():
    for name, f in vars(cmath).items():
        if callable(f) and not name.startswith("_"):
            rules = lookup(f)
            assert rules is not None and (rules.rrules or rules.inactive), name
