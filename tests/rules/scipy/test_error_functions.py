"""`adjoint.rules.scipy.special.error_functions`."""

import numpy as np
import scipy.special as sp

from tests.rules.harness import table
from tests.rules.scipy.operands import holomorphic, ranges, real

CASES = {
    sp.erf: [*holomorphic(-2, 2, 0.0, 5.0, 3)],
    sp.erfc: [*holomorphic(-2, 2, 0.0, 5.0, 3)],
    sp.erfi: [*holomorphic(-2, 2, 0.0, 5.0)],
    sp.erfcx: [*holomorphic(-2, 2, 0.0, -5.0, 15.0, 25.0, 1e4, 30 + 4j, 30 - 40j, -0.5 + 30j)],
    sp.dawsn: [*holomorphic(-2, 2, 0.0, 15.0, -25.0, 1e4, 30 + 2j, 3j)],
    sp.wofz: [*holomorphic(-2, 2, 0.0, 15.0, -25.0, 1e4, 30 + 2j, 30 - 0.1j, 2 - 3j)],
    sp.erfinv: real(-0.9, 0.9, 0.0, 0.999),
    sp.erfcinv: real(0.1, 1.9, 1.0, 1e-3),
    sp.ndtr: holomorphic(-2, 2, 0.0, -6.0, 6.0),
    sp.log_ndtr: holomorphic(-2, 2, 0.0, -6.0, -40.0, -1e4, 6.0),
    sp.ndtri: real(0.1, 0.9, 0.5, 1e-4),
    sp.ndtri_exp: real(-5, -0.1, -1e3, -1e8, -1e-4),
    sp.owens_t: [*ranges((-2, 2), (-2, 2)), *ranges((3, 5), (0, 2))],
    sp.voigt_profile: [
        *ranges((-3, 3), (0.5, 2), (0.5, 2)),
        *ranges((20, 30), (0.1, 0.2), (0.5, 2)),
        *ranges((-2, 2), (0.05, 0.1), (5, 6)),
    ],
    sp.fresnel: holomorphic(-2, 2, 0.0, 4.0),
    sp.modfresnelp: real(0.1, 2, 5.0, 30.0),
    sp.modfresnelm: real(0.1, 2, 5.0, 30.0),
    sp.exp1: holomorphic(0.2, 3, 10.0, 1e-3),
    sp.expi: holomorphic(0.2, 3, 10.0, -1.0, 1e-3),
    sp.expn: [
        *(c for n in (0, 1, 2, 5) for c in ranges(n, (0.2, 3))),
        *ranges(np.array([0, 1, 2]), (0.2, 3)),
    ],
    sp.sici: holomorphic(0.2, 3, 10.0, 30.0),
    sp.shichi: holomorphic(0.2, 3, 10.0),
}
test_rule = table(CASES)
