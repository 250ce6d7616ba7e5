"""`adjoint.rules.scipy.special.orthogonal_polynomials`."""

import numpy as np
import pytest
import scipy.special as sp

import adjoint as ad
from adjoint.errors import NoDerivativeError
from tests.rules.harness import case, complexes, table
from tests.rules.scipy.operands import EXACT, ranges
from tests.support import check_reverse

Z = complexes(2, 2)


def degrees(*bounds, low=-0.9, high=0.9, complex_too=True, real_too=True):
    """Degrees 0, 1, 2, 5 and arrays of them; real degrees; complex arguments."""
    held = [float(np.mean(b)) for b in bounds]
    lines = [c for n in (0, 1, 2, 5) for c in ranges(n, *bounds, (low, high))]
    lines += ranges(np.array([0, 3, 1]), *bounds, (low, high))
    if real_too:
        lines += ranges((0.5, 3), *bounds, (low, high))
    if complex_too:
        lines += [case(n, *held, Z, tolerances=EXACT) for n in (0, 3)]
        lines += [case(n, *held, 0.3 + 0.2j, tolerances=EXACT) for n in (1, 2)]
    return [*lines, case(30, *held, (low + high) / 2 + 0.1, tolerances=EXACT)]


CASES = {
    sp.eval_chebyt: degrees(),
    sp.eval_chebyu: degrees(),
    sp.eval_chebyc: degrees(low=-1.8, high=1.8),
    sp.eval_chebys: degrees(low=-1.8, high=1.8),
    sp.eval_sh_chebyt: degrees(low=0.1, high=0.9),
    sp.eval_sh_chebyu: degrees(low=0.1, high=0.9),
    sp.eval_legendre: degrees(),
    sp.eval_sh_legendre: degrees(low=0.1, high=0.9),
    sp.eval_gegenbauer: degrees((0.5, 2)),
    sp.eval_jacobi: degrees((-0.5, 2), (-0.5, 2)),
    sp.eval_sh_jacobi: degrees((1.5, 3), (0.5, 1.4), low=0.1),
    sp.eval_genlaguerre: degrees((-0.5, 2), low=0.1, high=3),
    sp.eval_laguerre: degrees(low=0.1, high=3),
    sp.eval_hermite: degrees(complex_too=False, real_too=False),
    sp.eval_hermitenorm: degrees(complex_too=False, real_too=False),
}
test_rule = table(CASES)


def test_the_ends_of_the_interval():
    """P_n′(1) = n (n + 1)/2, T_n′(1) = n², U_n′(1) = n (n + 1) (n + 2)/3."""
    n = np.arange(6)
    slopes = [
        ad.gradient(lambda x: f(n, x).sum(), 1.0)[0]
        for f in (sp.eval_legendre, sp.eval_chebyt, sp.eval_chebyu)
    ]
    expected = [(n * (n + 1) / 2).sum(), (n**2).sum(), (n * (n + 1) * (n + 2) / 3).sum()]
    np.testing.assert_allclose(slopes, expected)


@pytest.mark.parametrize(
    "f, args", [(sp.eval_legendre, (2.5, 0.3)), (sp.eval_jacobi, (2, 0.5, 1.0, 0.3))]
)
def test_degrees_and_parameters_have_no_derivative(f, args):
    with pytest.raises(NoDerivativeError, match="is needed, which has no closed form"):
        ad.gradient(lambda a: f(*args[:-2], a, args[-1]), args[-2])


def test_polynomials_as_objects():
    p = sp.legendre(3)
    check_reverse(lambda x: p(x) * x, 0.3)
    check_reverse(lambda x: sp.legendre(3)(x), np.array([0.3, -0.4]))
