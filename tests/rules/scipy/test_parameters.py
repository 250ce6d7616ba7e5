"""`adjoint.rules.scipy.special` in parameters, shapes and orders: `incomplete_gamma`,
`incomplete_beta`, `student`, `bessel_orders`, `quadrature`; against differences in many digits."""

import itertools

import mpmath as mp
import numpy as np
import pytest
import scipy.special as sp
from scipy import stats

import adjoint as ad
from adjoint.rules.scipy.special import (
    bessel_orders,
    incomplete_beta,
    incomplete_gamma,
    student,
)
from adjoint.testing import check_gradient


def slope_of(f, place, *at):
    """∂f/∂(operand at a place) of a function of mpmath."""
    at = [mp.mpf(float(v)) for v in at]
    h = mp.mpf(10) ** -20 * max(abs(at[place]), mp.mpf("1e-3"))

    def moved(step):
        return f(*at[:place], at[place] + step, *at[place + 1 :])

    with mp.workdps(60):
        return (moved(h) - moved(-h)) / (2 * h)


def compare(f, exact, points, place=0, rtol=1e-8, floor=lambda *_: 0.0):
    """The derivative at every point, as an array; `floor` is a size that counts as rounding."""
    expected = {p: slope_of(exact, place, *p) for p in points}
    points = [p for p in expected if 1e-280 < abs(expected[p]) < 1e280]
    columns = [np.array(column) for column in zip(*points, strict=True)]
    found = ad.gradient(lambda v: np.sum(f(*columns[:place], v, *columns[place + 1 :])),
                        columns[place])[0]  # fmt: skip
    for point, value in zip(points, found, strict=True):
        off = abs(value - expected[point])
        scale = abs(expected[point]) + floor(*point)
        assert off <= rtol * scale, (point, value, float(expected[point]))


# ---- incomplete gamma functions ------------------------------------------------------------------

SHAPES = [1e-3, 0.03, 0.4, 1.0, 2.5, 16.5, 33.0, 1000.0, 1e4]


def gamma_points():
    for a in SHAPES:
        s = np.sqrt(a)
        xs = {
            1e-6 * a,
            0.3,
            0.999,
            1.001,
            5.0,
            a - 4 * s,
            a - 0.4,
            a,
            a + 4 * s,
            min(2 * a, a + 12 * s),
        }
        yield from ((a, x) for x in sorted(xs) if x > 0)


def test_incomplete_gamma_functions():
    def lower(a, x):
        return mp.gammainc(a, 0, x, regularized=True)

    def upper(a, x):
        return mp.gammainc(a, x, mp.inf, regularized=True)

    points = list(gamma_points())
    compare(sp.gammainc, lower, [p for p in points if p[1] < p[0]])
    compare(sp.gammainc, lambda a, x: -upper(a, x), [p for p in points if p[1] >= p[0]])
    compare(sp.gammaincc, upper, [p for p in points if p[1] >= p[0]][::2])


# ---- incomplete beta functions -------------------------------------------------------------------


def beta_points():
    for a, b in itertools.product([1e-3, 0.3, 1.0, 2.5, 40.0, 1e3], repeat=2):
        m = a / (a + b)
        s = np.sqrt(m * (1 - m) / (a + b + 1))
        xs = {1e-9, 0.1, 0.49, 0.51, 0.9, 1 - 1e-9, m, m - 3 * s, m + 3 * s}
        yield from ((a, b, x) for x in sorted(xs) if 0 < x < 1)


@pytest.mark.parametrize("place", [0, 1])
def test_incomplete_beta_functions(place):
    def lower(a, b, x):
        return mp.betainc(a, b, 0, x, regularized=True)

    def upper(a, b, x):
        return -mp.betainc(b, a, 0, 1 - x, regularized=True)

    points = list(beta_points())
    compare(sp.betainc, lower, [p for p in points if p[2] < p[0] / (p[0] + p[1])], place)
    compare(sp.betainc, upper, [p for p in points if p[2] >= p[0] / (p[0] + p[1])], place)


# ---- Student's t ---------------------------------------------------------------------------------


def test_students_distribution():
    def upper(v, t):
        return -mp.betainc(v / 2, mp.mpf(1) / 2, 0, v / (v + t * t), regularized=True) / 2

    def central(v, t):
        return mp.betainc(mp.mpf(1) / 2, v / 2, 0, t * t / (v + t * t), regularized=True) / 2

    freedom = [0.01, 0.7, 2.0, 3.999, 4.001, 20.0, 49.0, 51.0, 1e3, 1e5]
    compare(sp.stdtr, central, itertools.product(freedom, [1e-8, 0.3, 1.3, 1.54]))
    compare(sp.stdtr, upper, itertools.product(freedom, [1.56, 2.0, 5.0, 40.0, 1e5]))


# ---- Bessel's functions --------------------------------------------------------------------------

ORDERS = [0.0, 1e-3, 0.5, 0.9, 1.0, 2.3, 5.0, 20.2, 100.0]
ORDERS = [*ORDERS, *(-v for v in ORDERS if v)]
ARGUMENTS = [1e-10, 0.01, 0.5, 0.9, 1.0, 2.3, 5.01, 20.0, 20.3, 100.1, 1e3]


@pytest.mark.parametrize(
    "f, exact",
    [
        (sp.kve, lambda v, x: mp.besselk(v, x) * mp.exp(x)),
        (sp.ive, lambda v, x: mp.besseli(v, x) * mp.exp(-x)),
        (sp.jv, mp.besselj),
        (sp.yv, mp.bessely),
    ],
)
def test_orders_of_bessel_functions(f, exact):
    oscillates = f in (sp.jv, sp.yv)

    def floor(v, x):
        return float(abs(v) < x and oscillates) * 0.01 / np.sqrt(x)

    points = list(itertools.product(ORDERS, ARGUMENTS))
    if f is sp.ive:  # the series of mpmath does not end
        points = [(v, x) for v, x in points if not (v < 0 and v == int(v) and x < 0.5)]
    compare(f, exact, points, floor=floor)


def test_large_orders_near_the_transition():
    points = itertools.product([400.2, 1000.0], [390.0, 400.2, 401.0, 990.0, 1000.0, 1002.0])
    compare(sp.jv, mp.besselj, points, floor=lambda v, x: 1e-3 * float(x > v))


def test_whole_orders():
    """∂J/∂ν = πY₀/2 and ∂I/∂ν = −K₀ at ν = 0, ∂Y/∂ν = −πJ₀/2 (DLMF 10.15.3, 10.38.4)."""
    x = np.array([0.01, 1.0, 7.0])
    zeros = np.zeros(3)
    found = [ad.gradient(lambda v: np.sum(f(v, x)), zeros)[0] for f in (sp.jv, sp.yv, sp.iv, sp.kv)]
    expected = [np.pi / 2 * sp.yv(0, x), -np.pi / 2 * sp.jv(0, x), -sp.kv(0, x), zeros]
    np.testing.assert_allclose(found, expected, rtol=1e-10)


# ---- all modes, all of the kind ------------------------------------------------------------------

FUNCTIONS = {
    "gammainc": (sp.gammainc, 1.3, 0.7),
    "gammaincc": (sp.gammaincc, 2.3, 3.1),
    "gammaincinv": (sp.gammaincinv, 1.3, 0.3),
    "gammainccinv": (sp.gammainccinv, 1.3, 0.3),
    "betainc": (sp.betainc, 1.3, 2.4, 0.6),
    "betaincinv": (sp.betaincinv, 1.3, 2.4, 0.3),
    "small shapes": (sp.betainc, 0.3, 0.4, 0.8),
    "stdtr": (sp.stdtr, 3.2, 0.8),
    "many degrees of freedom": (sp.stdtr, 7.2, -2.1),
    "stdtrit": (sp.stdtrit, 5.0, 0.8),
    "fdtr": (sp.fdtr, 3.2, 5.1, 1.3),
    "fdtri": (sp.fdtri, 3.2, 5.1, 0.4),
    "chdtr": (sp.chdtr, 3.2, 1.3),
    "chdtri": (sp.chdtri, 3.2, 0.4),
    "gdtr": (sp.gdtr, 1.2, 2.2, 1.3),
    "jv": (sp.jv, 1.2, 2.3),
    "jv of large order": (sp.jv, 3.2, 2.3),
    "jv of negative order": (sp.jv, -1.2, 2.3),
    "yv": (sp.yv, 1.2, 2.3),
    "iv": (sp.iv, 1.2, 2.3),
    "iv of negative order": (sp.iv, -1.2, 2.3),
    "kv": (sp.kv, 1.2, 2.3),
    "kve": (sp.kve, -1.2, 2.3),
    "hankel": (lambda v, x: abs(sp.hankel1(v, x)), 1.2, 2.3),
    "hankel2e": (lambda v, x: np.imag(sp.hankel2e(v, x)), 1.2, 2.3),
    "jvp": (lambda v, x: sp.jvp(v, x, 2), 1.2, 2.3),
    "kvp": (lambda v, x: sp.kvp(v, x, 3), 1.2, 2.3),
}


@pytest.mark.parametrize("f, args", [(f, args) for f, *args in FUNCTIONS.values()], ids=FUNCTIONS)
def test_all_modes(f, args):
    check_gradient(f, *args, rtol=1e-6, modes="all")
    n = len(args)
    generic = ad.grad(f, tuple(range(n)), tier="generic")(*args)
    np.testing.assert_allclose(generic, ad.gradient(f, *args), rtol=1e-13)


@pytest.mark.parametrize("f, args", [(sp.gammainc, (1.3, 0.7)), (sp.betainc, (1.3, 2.4, 0.6)),
                                     (sp.stdtr, (7.2, 2.1)), (sp.jv, (1.2, 2.3)),
                                     (sp.kv, (1.2, 2.3))])  # fmt: skip
def test_lower_precision_shapes_and_blocks(f, args):
    single = [np.full((2, 1), args[0], np.float32), *(np.full(3, v, np.float32) for v in args[1:])]
    expected = ad.gradient(f, *args)[0]
    for found in (
        ad.gradient(lambda a, *rest: np.sum(f(a, *rest)), *single)[0],
        ad.grad(lambda a, *rest: np.sum(f(a, *rest)), tier="generic")(*single),
    ):
        assert found.dtype == np.float32 and found.shape == (2, 1)
        np.testing.assert_allclose(found, 3 * expected, rtol=1e-5)
    first = np.linspace(0.8, 1.2, 9000) * args[0]
    many = ad.gradient(lambda a: np.sum(f(a, *args[1:])), first)[0]
    few = ad.gradient(lambda a: np.sum(f(a, *args[1:])), first[::3000])[0]
    np.testing.assert_allclose(many[::3000], few, rtol=1e-13)
    none = ad.gradient(lambda a: np.sum(f(a, *args[1:])), np.zeros(0))[0]
    assert none.shape == (0,)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: sp.gammainc(1.3, x),
        lambda x: sp.betainc(1.3, 2.4, x),
        lambda x: sp.stdtr(7.2, x),
        lambda x: sp.jv(1.2, x),
        lambda x: sp.kv(2, x),
    ],
)
def test_a_parameter_that_is_held_costs_nothing(f, monkeypatch):
    def never(*_):
        raise AssertionError("an integral was computed")

    for module in (incomplete_gamma, incomplete_beta, student, bessel_orders):
        monkeypatch.setattr(module, "integral", never)
    for at in (0.7, np.array([0.3, 0.7])):
        ad.gradient(lambda x: np.sum(f(x) * x), at)
        ad.pushforward(f, (at,), (at,))
    with pytest.raises(AssertionError, match="an integral"):
        ad.gradient(lambda a: sp.kv(a, 0.7), 1.2)


# ---- what SciPy's distributions make of them -----------------------------------------------------

DISTRIBUTIONS = {
    "gamma": (2.3,), "beta": (1.7, 2.4), "t": (4.5,), "chi2": (3.3,), "f": (3.2, 5.1),
    "invgamma": (2.5,), "betaprime": (2.2, 3.1), "gengamma": (2.1, 1.3), "weibull_min": (1.5,),
    "nakagami": (1.4,), "gennorm": (1.4,), "loggamma": (1.3,),
}  # fmt: skip
METHODS = ["cdf", "sf", "logcdf", "logsf", "ppf", "isf"]


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_distributions_in_their_shapes(name):
    dist, shapes = getattr(stats, name), DISTRIBUTIONS[name]
    x = float(dist.ppf(0.37, *shapes))
    for method in METHODS:
        f, at = getattr(dist, method), 0.3 if method in ("ppf", "isf") else x
        check_gradient(lambda *v, f=f, at=at: f(at, *v), *shapes, modes=("reverse", "forward"))
    check_gradient(lambda *v: dist.entropy(*v), *shapes, modes="reverse")


@pytest.mark.parametrize(
    "f, at, expected",
    [
        (lambda p: stats.gamma.cdf(2.0, p), 1.5, -0.2774335642087104),
        (lambda p: stats.beta.cdf(0.3, p, 2.0), 1.5, -0.2905357470084373),
        (lambda p: stats.t.cdf(1.0, p), 4.0, 0.00657757590603987),
    ],
)
def test_distribution_functions(f, at, expected):
    """Against `mpmath.diff`."""
    assert ad.gradient(f, at)[0] == pytest.approx(expected, rel=1e-11)


def test_counts_and_a_censored_likelihood():
    check_gradient(lambda n, p: stats.nbinom.cdf([0, 2, 5], n, p).sum(), 2.7, 0.4, modes="reverse")
    check_gradient(lambda mu: stats.poisson.sf([0, 2, 5], mu).sum(), 2.7, modes="reverse")
    seen, censored = np.array([0.4, 1.1, 2.0]), np.array([2.5, 3.0])

    def likelihood(shape, scale):
        log = stats.gamma.logpdf(seen, shape, scale=scale).sum()
        return log + stats.gamma.logsf(censored, shape, scale=scale).sum()

    check_gradient(likelihood, 1.7, 0.9)


def test_a_generalized_inverse_gaussian_density():
    check_gradient(lambda p, b: stats.geninvgauss.logpdf(0.7, p, b), 1.3, 2.0)
    check_gradient(lambda p, a, b: stats.genhyperbolic.logpdf(0.7, p, a, b), 1.3, 2.0, 0.5)


# ---- edges ---------------------------------------------------------------------------------------


def in_first(f, *args):
    return ad.gradient(lambda a: f(a, *args[1:]), args[0])[0]


def test_edges():
    inf = np.inf
    assert in_first(sp.gammainc, 1.5, 0.0) == 0 and in_first(sp.gammainc, 1.5, inf) == 0
    assert in_first(sp.betainc, 1.5, 2.0, 0.0) == 0 and in_first(sp.betainc, 1.5, 2.0, 1.0) == 0
    assert in_first(sp.stdtr, 3.0, 0.0) == 0 and in_first(sp.stdtr, 3.0, inf) == 0
    assert in_first(sp.stdtr, inf, 1.0) == 0
    assert in_first(sp.fdtr, 3.0, 2.0, 0.0) == 0
    assert in_first(sp.jv, 1.5, 0.0) == 0 and in_first(sp.iv, 1.5, 0.0) == 0
    assert in_first(sp.jv, 0.0, 0.0) == -inf and in_first(sp.iv, 0.0, 0.0) == -inf
    # at the edge of its domain the one-sided derivative, −E₁
    assert in_first(sp.gammainc, 0.0, 0.4) == pytest.approx(-sp.exp1(0.4), rel=1e-12)
    assert in_first(sp.gammainc, 0.0, 2.4) == pytest.approx(-sp.exp1(2.4), rel=1e-12)
