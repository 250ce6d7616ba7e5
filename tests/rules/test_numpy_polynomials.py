"""Polynomials of NumPy, the older ones and those of `numpy.polynomial`."""

import numpy as np
import pytest
from numpy import polynomial
from numpy.polynomial import Chebyshev, Laguerre, Legendre, Polynomial, polyutils

import adjoint as ad
from adjoint.errors import NoDerivativeError
from adjoint.rulekit.registry import rrule
from adjoint.rules.numpy.leading_zeros import without_zeros
from adjoint.rules.numpy.polynomials import without_leading_zeros
from tests.levels import NESTINGS
from tests.rules.harness import case, complexes, reals, table
from tests.support import check_reverse

C, D = reals(4, seed=5) + 2.5, reals(3, seed=6) + 3.1
V, X, Z = reals(6), reals(3, 4), complexes(3, 4)
PAIRS = [
    (C, D),
    (D, C),
    (C, C + 1),
    ([1.0, 2.0], (3.0, 4.0, 1.0)),
    (C, 2.0),
    (complexes(3), C),
    (np.float32([1, 2, 3]), np.float32([0.5, 1.5])),
    (C, [1.0, 0.0, 0.0]),
    case(C, c2=D),
]
BASES = [
    (polynomial.polynomial, "poly"),
    (polynomial.chebyshev, "cheb"),
    (polynomial.legendre, "leg"),
    (polynomial.hermite, "herm"),
    (polynomial.hermite_e, "herme"),
    (polynomial.laguerre, "lag"),
]
CASES = {
    np.polyval: [
        (C, V),
        (C, X),
        (C, 1.3),
        (C.tolist(), [0.5, 1.5]),
        (complexes(3), complexes(4)),
        (C, Z),
        (complexes(3), V),
        ([], V),
        (np.float32([1, 2, 3]), np.float32([0.5, 0.25])),
        case(p=C, x=V),
        ([2.0], V),
    ],
    np.roots: [
        (C,),
        (np.array([1.0, -6.0, 11.0, -6.1]),),
        (np.array([1.0, -3.0, 2.0, 0.0]),),
        (complexes(4),),
        ([1.0, -3.0, 2.0],),
        ([2.0, 3.0],),
        ([2.0],),
        (np.float32([1.0, -3.0, 1.5]),),
    ],
    without_zeros: [(np.poly1d, kept, kept[:1]) for kept in (C, complexes(3), np.float32([1, 2]))],
    **{
        getattr(module, f"{prefix}{name}"): PAIRS
        for module, prefix in BASES
        for name in ("add", "sub", "mul")
    },
}
test_rule = table(CASES)


# ---- zeros that are cut off ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "f",
    [
        lambda c, x: (Polynomial(c) + Polynomial([1.0, -2.0]))(x),
        lambda c, x: (Polynomial(c - [0.0, 2.0]) * Polynomial([x, 1.0]))(x),
        lambda c, x: (Legendre([1.0, 2.0]) - Legendre(c))(x),
        lambda c, x: np.poly1d(c[::-1] - [2.0, 0.0])(x),
        lambda c, x: np.polymul(c - [1.0, 0.0], [1.0, x]).sum(),
    ],
)
def test_what_is_cut_off_is_not_lost_in_silence(f):
    """The coefficient that is zero moves the result, in an array that is too short for it."""
    with pytest.raises(NoDerivativeError, match="zero here and have been cut off"):
        ad.gradient(f, np.array([1.0, 2.0]), 0.7)


def filled(*coefficients):
    c = np.empty(3)
    c[0], c[1], c[2] = coefficients
    return c


CUTS = {
    "listed": lambda x: np.poly1d([x, 1.0, 2.0])(3.0),
    "filled": lambda x: np.poly1d(filled(x, 1.0, 2.0))(3.0),
    "sequence": lambda x: polyutils.trimseq(filled(2.0, 1.0, x)).sum(),
    "trimmed": lambda x: Polynomial(filled(2.0, 1.0, x)).trim()(3.0),
}
"""Functions of a coefficient that is cut off where it is zero."""


@pytest.mark.parametrize("name", CUTS)
def test_coefficients_that_were_written_are_not_lost_either(name):
    f = CUTS[name]
    for slope in (ad.grad(f), ad.grad(f, tier="generic"), ad.derivative(f)):
        with pytest.raises(NoDerivativeError, match="zero here and have been cut off"):
            slope(0.0)


def nested(nesting, f):
    outer, inner = nesting.split("_over_")
    of = {"forward": ad.derivative, "reverse": ad.grad}
    return of[outer](of[inner](f))


@pytest.mark.parametrize("nesting", NESTINGS)
@pytest.mark.parametrize("name", CUTS)
def test_a_second_derivative_of_what_is_cut_off(name, nesting):
    """The first derivative, or what is asked of the result, is zero here, the second is not."""
    for f in (lambda x: CUTS[name](x * x), lambda x: x * CUTS[name](x)):
        with pytest.raises(NoDerivativeError, match="zero here and have been cut off"):
            nested(nesting, f)(0.0)
        h = 1e-3
        curvature = (f(h) - 2.0 * f(0.0) + f(-h)) / h**2
        assert abs(curvature) > 1.0
        assert nested(nesting, f)(1e-9) == pytest.approx(curvature, rel=1e-5)


@pytest.mark.parametrize("nesting", NESTINGS)
@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.poly1d([0.0, x * x, 1.0])(3.0),
        lambda x: np.poly1d(filled(0.0, x * x, 1.0))(3.0),
        lambda x: polyutils.trimseq(filled(1.0, 3.0 * x * x, 0.0)).sum(),
    ],
)
def test_constants_that_are_cut_off_ask_for_nothing(f, nesting):
    assert f(2.0) == 13.0
    for slope in (ad.grad(f), ad.grad(f, tier="generic"), ad.derivative(f)):
        assert slope(2.0) == 12.0
    assert nested(nesting, f)(2.0) == 6.0


def test_what_is_cut_still_looks_at_the_array():
    def f(x):
        c = filled(0.0, x, 1.0)
        p = np.poly1d(c)
        c[1] = x * x
        p.coeffs[1] = 3.0 * x
        return p(2.0) + c[2] * x, np.shares_memory(p.coeffs, c)

    assert f(2.0) == (26.0, True)  # 2 x² + 3 x + 3 x²
    assert ad.pullback(f, 2.0)[0] == (26.0, True)
    assert ad.grad(lambda x: f(x)[0])(2.0) == 23.0
    assert ad.derivative(lambda x: f(x)[0])(2.0) == 23.0


def test_only_needed_derivatives_are_refused():
    c = np.array([0.0, 1.0, 0.0])
    c.flags.writeable = False
    for f in (lambda c: np.poly1d(c)(2.0), lambda c: polyutils.trimseq(c)[1]):
        assert ad.gradient(lambda c, f=f: f(c) * 0.0, c)[0].tolist() == [0.0, 0.0, 0.0]
        assert ad.pushforward(f, (c,), (np.array([0.0, 1.0, 0.0]),))[1] in (1.0, 2.0)
        with pytest.raises(NoDerivativeError):
            ad.pushforward(f, (c,), (np.ones(3),))


def test_zeros_inside_an_arithmetic_are_right():
    """The product of the roots 1 and 2 has a factor whose coefficients are zero on the way."""
    check_reverse(polynomial.laguerre.lagfromroots, [1.0, 2.0])
    check_reverse(lambda c, d: Polynomial(c)(Polynomial(d)).coef, C, D)
    check_reverse(lambda c, d: Chebyshev(c)(Chebyshev(d)).coef, C, D)
    check_reverse(lambda p, q: np.poly1d(p)(np.poly1d(q)).c, C, D)


def test_the_zeros_of_all_zero_coefficients():
    assert without_leading_zeros(np.zeros(3)).tolist() == [0]
    assert without_leading_zeros(np.zeros(0)).tolist() == [0]
    assert ad.pullback(lambda p: np.poly1d(p).c, np.zeros(2))[0].tolist() == [0]


# ---- objects -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [Polynomial, Chebyshev, Legendre, Laguerre])
def test_a_series_in_another_basis(kind):
    check_reverse(lambda c: kind(c).convert(kind=Polynomial).coef, C)
    check_reverse(lambda c: kind(c).convert(kind=Chebyshev, domain=[0, 2]).coef, C)
    check_reverse(lambda c: kind.cast(Polynomial(c)).coef, C)


def test_older_polynomials():
    check_reverse(lambda p: np.poly1d(np.poly1d(p), variable="z").c * 2, C)
    check_reverse(lambda r: np.poly1d(r, True).c, V)
    check_reverse(lambda p, q: (np.poly1d(p) * np.poly1d(q) + np.poly1d(p) - q).coeffs, C, D)
    check_reverse(lambda p, x: np.polyval(np.poly1d(p), x), C, V)
    check_reverse(lambda p: np.asarray(np.poly1d(p).deriv(2)), C)
    with pytest.raises(ValueError, match="1d only"):
        ad.gradient(lambda p: np.poly1d(p).c.sum(), X)


def test_roots_where_the_highest_coefficient_is_zero():
    """The root at infinity is not there; the others move with every coefficient."""
    p = np.array([1.0, -3.0, 2.0])
    _, back = rrule(np.roots, np.append(0.0, p))
    y_bar = np.array([1.0, 10.0])
    np.testing.assert_allclose(back(y_bar)[1][1:], rrule(np.roots, p)[1](y_bar)[1])
    near = [np.roots(np.append(h, p))[-2:] for h in (1e-6, -1e-6)]
    assert back(y_bar)[1][0] == pytest.approx((near[0] - near[1]) @ y_bar / 2e-6, rel=1e-5)


def test_multiple_roots_have_no_derivative():
    y, back = rrule(np.roots, np.array([1.0, 0.0, 0.0]))
    with np.errstate(all="ignore"):
        assert y.tolist() == [0, 0] and not np.isfinite(back(np.ones(2))[1]).all()
        assert back(np.zeros(2))[1].tolist() == [0, 0, 0]


BESIDE = {
    "evaluated": lambda c, x: np.polyval(np.poly1d(c), x),
    "outer": lambda c, x: np.outer(np.poly1d(c), x),
    "convolved": lambda c, x: np.convolve(np.poly1d(c), x),
    "multiplied": lambda c, x: np.kron(x, np.poly1d(c)),
    "dot": lambda c, x: np.dot(np.poly1d(c), c) * x,
    "listed": lambda c, x: np.array([np.poly1d(c), c]) * x[0],
    "clipped": lambda c, x: np.clip(c + 1.0, np.poly1d(c), 9.0) * x[0],
}
"""Functions of a polynomial and of an array."""
REFUSED = {"dot", "listed", "clipped"}
"""In which code in C makes an array of it."""


@pytest.mark.parametrize("jacobian", [ad.jacobian_forward, ad.jacobian_reverse])
@pytest.mark.parametrize("name", BESIDE)
def test_a_polynomial_beside_an_array_keeps_its_derivative_or_is_refused(name, jacobian):
    f, c, x, step = BESIDE[name], np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.7]), 1e-6
    if name in REFUSED:
        with pytest.raises(NoDerivativeError):
            jacobian(f, c, x)
        return
    expected = [(f(c + e, x) - f(c - e, x)) / (2 * step) for e in step * np.eye(3)]
    found = jacobian(f, c, x)[0]
    np.testing.assert_allclose(np.moveaxis(found, -1, 0), expected, rtol=1e-7, atol=1e-8)
