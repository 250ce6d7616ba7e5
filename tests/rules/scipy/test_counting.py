"""`adjoint.rules.scipy.special.integer_functions`, and that nothing of `scipy.special` is left
out."""

import types

import numpy as np
import pytest
import scipy.special as sp

import adjoint as ad
from adjoint.errors import NoDerivativeError
from adjoint.rulekit.registry import lookup
from tests.rules.harness import case
from tests.support import check_reverse

CASES = {
    sp.roots_gegenbauer: [(3, 1.5), case(3, 1.5, mu=True)],
    sp.roots_genlaguerre: [(3, 1.5)],
    sp.roots_jacobi: [(3, 1.5, 0.5), (3, 1.5, 0.5, True)],
    sp.roots_sh_jacobi: [(3, 2.5, 0.5)],
}
OWN_SOURCE = {
    sp.assoc_laguerre,
    sp.gegenbauer,
    sp.genlaguerre,
    sp.jacobi,
    sp.sh_jacobi,
}


@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
def test_nodes_do_not_follow_parameters_of_the_weight(f):
    for call in CASES[f]:
        n, a, *others = call if isinstance(call, tuple) and not hasattr(call, "args") else call.args
        ad.gradient(lambda x: x * f(n, a, *others)[0].sum(), 2.0)
        with pytest.raises(NoDerivativeError, match="parameter of the weight is needed"):
            ad.gradient(lambda a: f(n, a, *others)[0].sum(), a)


def test_quadrature():
    """Nodes and weights are constants of the integral."""

    def integral(k):
        x, w = sp.roots_legendre(5)
        return np.sum(w * np.exp(k * x))

    check_reverse(integral, 0.7)


def test_assoc_laguerre_by_its_own_source():
    check_reverse(lambda x: sp.assoc_laguerre(x, 3, 1), 0.7)
    check_reverse(lambda x: sp.assoc_laguerre(x, 3, 0.5), 0.7)


@pytest.mark.parametrize(
    "make",
    [
        lambda: sp.jacobi(3, 0.5, 1.5),
        lambda: sp.gegenbauer(3, 0.5),
        lambda: sp.genlaguerre(3, 0.5),
        lambda: sp.sh_jacobi(3, 2.5, 1.5),
        lambda: sp.hermite(3),
    ],
)
def test_polynomials_made_inside(make):
    check_reverse(lambda x: make()(x) * x, 0.3)


def test_polynomials_do_not_follow_their_parameter():
    with pytest.raises(NoDerivativeError, match="'eval_jacobi' in a parameter is needed"):
        ad.gradient(lambda a: sp.jacobi(3, a, 1.5)(0.3), 0.5)


def test_everything_is_accounted_for():
    """Each public function has a rule, has derivative zero, or is differentiated by its source."""
    left = []
    for name in sp.__all__:
        f = getattr(sp, name)
        if not callable(f) or isinstance(f, type | types.ModuleType) or f in OWN_SOURCE:
            continue
        rules = lookup(f)
        if rules is None or not (rules.inactive or (rules.rrules and rules.frules)):
            left.append(name)
    assert not left
