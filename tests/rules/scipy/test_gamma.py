"""`adjoint.rules.scipy.special.gamma`, `incomplete_gamma` and `incomplete_beta`."""

import inspect

import numpy as np
import pytest
import scipy.special as sp

from adjoint.rulekit.registry import rrule
from tests.rules.harness import case, reals, table
from tests.rules.scipy.operands import EXACT, holomorphic, ranges, real


def pairs(*values):
    return [case(*value, tolerances=EXACT) for value in values]


CASES = {
    sp.gamma: holomorphic(0.5, 3, -1.5, 10.5, 3),
    sp.gammaln: real(0.5, 3, -1.5, 1e5),
    sp.loggamma: holomorphic(0.5, 3, 1e5, -1.5 + 0.5j),
    sp.rgamma: holomorphic(0.5, 3, -1.5, 0.0, -1.0, -4.0, -3 + 0j),
    sp.psi: holomorphic(0.5, 3, -1.5, 30.0, -2.3 + 0.7j, -8.5 - 3j, 1e3 + 1j, 0.1j),
    sp.polygamma: [
        *(c for n in (0, 1, 4) for c in ranges(n, (0.5, 3))),
        case(np.arange(3), reals(2, 1, low=1, high=2)),
        case(n=2, x=1.5),
    ],
    sp.beta: [*ranges((0.5, 3), (0.5, 3)), *pairs((-1.4, -0.6), (0.3, -0.3), (0.5, -1.5))],
    sp.betaln: [*ranges((0.5, 3), (0.5, 3)), *ranges((1e3, 1e4), (0.5, 3))],
    sp.multigammaln: [(5.0, 3), (reals(2, 2, low=4, high=5), 1), ([4.0, 5.0], 2)],
    sp.poch: [
        *ranges((0.5, 3), (-0.4, 3)),
        *pairs((-2.5, 3.7), (1e3, 0.5)),
        *ranges((-2.5, -2.1), 5),
        # at a zero, and where both Γ have poles, a function of z for integer m
        *(case(z, m, tolerances=EXACT) for z, m in ((-2.0, 5), (0.0, 3), (-5.0, 2), (-3.0, 3))),
    ],
    sp.binom: [
        *ranges((2.5, 5), (0.5, 2)),
        *pairs((2.5, 4.2), (2.0, 5.0), (0.0, 1.0), (2.5, -1.0), (30.5, 12.0), (-2.5, 1.3)),
    ],
    sp.comb: [
        *ranges((2.5, 5), (0.5, 2)),
        *pairs((3.5, 5.2), (-0.5, 0.3)),
        case(5.5, 2.2, repetition=True),
        case(reals(3, low=2, high=3), 2.0, repetition=True),
        case(5, 2, exact=True),
    ],
    sp.perm: [*ranges((2.5, 5), (0.5, 2)), *pairs((3.5, 5.2), (-0.5, 0.3)), case(5, 2, exact=True)],
    sp.factorial: [
        *real(0.5, 3)[:-2],
        (-1.5,),
        case(5, exact=True),
    ],
    sp.factorial2: [(5,)],
    sp.factorialk: [(5, 3)],
    sp.gammainc: [*ranges((0.5, 3), (0.2, 3)), *pairs((100.0, 90.0), (1.0, 2.0))],
    sp.gammaincc: [*ranges((0.5, 3), (0.2, 3)), *pairs((100.0, 90.0))],
    sp.gammaincinv: [*ranges((0.5, 3), (0.1, 0.9)), *pairs((100.0, 0.3))],
    sp.gammainccinv: [*ranges((0.5, 3), (0.1, 0.9)), *pairs((100.0, 0.3))],
    sp.betainc: [*ranges((0.5, 3), (0.5, 3), (0.1, 0.9)), *pairs((50.0, 70.0, 0.4))],
    sp.betaincinv: [*ranges((0.5, 3), (0.5, 3), (0.1, 0.9)), *pairs((50.0, 70.0, 0.4))],
}
if "extend" in inspect.signature(sp.factorial).parameters:
    CASES[sp.factorial] += [case(2.5 + 1j, extend="complex"), case(-1.5, extend="complex")]
    CASES[sp.factorial2] += [case(x, extend="complex") for x in (2.5, reals(2, low=1) + 0.3j)]
    CASES[sp.factorialk] += [case(x, 3, extend="complex") for x in (2.5, -1.5)]
if hasattr(sp, "betaincc"):
    CASES[sp.betaincc] = ranges((0.5, 3), (0.5, 3), (0.1, 0.9))
    CASES[sp.betainccinv] = ranges((0.5, 3), (0.5, 3), (0.1, 0.9))
test_rule = table(CASES)


def slopes(f, *args):
    with np.errstate(all="ignore"):
        return rrule(f, *args)[1](np.float64(1.0))[1:]


def test_edge_points():
    inf = np.inf
    assert slopes(sp.gammainc, 0.5, 0.0)[1] == inf and slopes(sp.gammainc, 2.0, 0.0)[1] == 0
    assert slopes(sp.gammainc, 1.0, 0.0)[1] == 1 and slopes(sp.gammainc, 2.0, inf)[1] == 0
    assert slopes(sp.gammaincinv, 2.0, 0.0)[1] == inf and slopes(sp.gammaincinv, 2.0, 1.0)[1] == inf
    assert slopes(sp.betainc, 1.0, 2.0, 0.0)[2] == pytest.approx(2)
    assert slopes(sp.betainc, 2.0, 0.5, 1.0)[2] == inf and slopes(sp.betainc, 2.0, 3.0, 1.0)[2] == 0
    assert slopes(sp.gamma, 0.0) == (-inf,) and slopes(sp.psi, 0.0) == (inf,)
    with np.errstate(all="ignore"):
        for f in (sp.gammainc, sp.gammaincinv):  # a zero cotangent stays zero
            assert rrule(f, 0.5, np.zeros(1))[1](np.zeros(1))[2].tolist() == [0.0]
