"""`adjoint.rules.scipy.integrate`: adaptive quadrature."""

import math

import numpy as np
import pytest
from scipy import LowLevelCallable, integrate, special

import adjoint as ad
from adjoint.errors import NoDerivativeError
from adjoint.rules.scipy.equivalents import UNLIKE, refusing, with_derivative_of
from adjoint.rules.scipy.integrate.integrand_sums import spread, weighed
from adjoint.rules.scipy.integrate.quadrature import moving, vanishing
from tests.rules.harness import table
from tests.support import check_reverse

# the weights are constants, and nothing is said of how smooth the terms are
SUM = [np.array([1, 2, 1]), np.zeros(3), np.zeros(3, int)]
CASES = {
    weighed: [([1.5, 0.5, 2.0], *SUM, False), ([np.ones(2), np.zeros(2), np.ones(2)], *SUM, True)],
    spread: [(2.0, [1.5, 0.5, 2.0], *SUM)],
    moving: [(0.5, 0.0)],  # its value is 0, whatever its derivative
    vanishing: [(False, 1.5)],  # in the length its derivative is not that of its value
    refusing: [(1.5, abs, UNLIKE, 2.0)],
    with_derivative_of: [(True, True, abs, 1e-6, 1e-9)],  # its derivative is not that of its value
}
test_rule = table(CASES)

QUAD = {
    "captured": lambda a, b, c: integrate.quad(lambda t: math.sin(c * t), a, b)[0],
    "backwards": lambda a, b, c: integrate.quad(lambda t: math.sin(c * t), b, a)[0],
    "args": lambda a, b, c: integrate.quad(lambda t, k: k * t * t, a, b, args=(c,))[0],
    "arrays": lambda a, b, c: integrate.quad(lambda t: np.array([np.cos(c * t)]).sum(), a, b)[0],
    "to infinity": lambda a, b, c: integrate.quad(lambda t: math.exp(-c * t), a, np.inf)[0] * b,
    "from infinity": lambda a, b, c: integrate.quad(lambda t: math.exp(c * t), -np.inf, a)[0] * b,
    "line": lambda a, b, c: integrate.quad(
        lambda t: math.exp(-c * (t - a) ** 2), -np.inf, np.inf
    )[0] * b,
    "points": lambda a, b, c: integrate.quad(
        lambda t: c * abs(t - 0.7) + t, a, b, points=[0.7], full_output=True
    )[0],
    "complex": lambda a, b, c: integrate.quad(
        lambda t: np.exp(1j * c * t), a, b, complex_func=True
    )[0],
    "double": lambda a, b, c: integrate.dblquad(
        lambda s, t: math.sin(c * s * t), a, b, 0.0, lambda t: t * c
    )[0],
    "several": lambda a, b, c: integrate.nquad(lambda s, t: s * t**c, [[a, b], [0.0, 1.0]])[0],
}  # fmt: skip


@pytest.mark.parametrize("name", QUAD)
def test_quad(name):
    check_reverse(QUAD[name], 0.3, 1.4, 2.0, rtol=1e-7)


VECTORS = np.array([0.5, -1.0])
SEVERAL = {
    "captured": lambda a, b, c: integrate.quad_vec(lambda t: np.sin(c * t) * VECTORS, a, b)[0],
    "one": lambda a, b, c: integrate.quad_vec(lambda t: math.sin(c * t), a, b)[0],
    "complex": lambda a, b, c: integrate.quad_vec(lambda t: np.exp(1j * c * t), b, a)[0],
    "args": lambda a, b, c: integrate.quad_vec(lambda t, k: k * t * VECTORS, a, b, args=(c,))[0],
    "to infinity": lambda a, b, c: integrate.quad_vec(
        lambda t: np.exp(-c * t) * VECTORS, a, np.inf
    )[0] * b,
    "from infinity": lambda a, b, c: integrate.quad_vec(
        lambda t: np.exp(c * t) * VECTORS, -np.inf, b, full_output=True
    )[0] * a,
    "line": lambda a, b, c: integrate.quad_vec(
        lambda t: np.exp(-c * (t - a) ** 2) * VECTORS, -np.inf, np.inf
    )[0] * b,
}  # fmt: skip


@pytest.mark.parametrize("name", SEVERAL)
def test_quad_vec(name):
    check_reverse(SEVERAL[name], 0.3, 1.4, 2.0, rtol=1e-7)


def test_the_limit_of_a_root():
    """The slope in the lower limit is that of the integrand there, however steep it becomes."""
    bars = ad.gradient(lambda a, b: integrate.quad_vec(np.sqrt, a, b)[0], 0.0, 1.0)
    assert bars == (pytest.approx(0.0, abs=1e-12), pytest.approx(1.0, rel=1e-9))


def test_kinks_are_found():
    """∂/∂c ∫ |t − c| dt = (c − a) − (b − c); differences of the values are less exact."""
    a_bar, b_bar, c_bar = ad.gradient(
        lambda a, b, c: integrate.quad(lambda t: abs(t - c), a, b)[0], 0.3, 1.4, 0.77
    )
    assert (a_bar, b_bar) == pytest.approx((-0.47, 0.63), rel=1e-14)
    assert c_bar == pytest.approx(0.47 - 0.63, rel=1e-6)


def test_singular_integrands():
    """∫ t^p dt = 1 / (p + 1) from 0 to 1."""
    (bar,) = ad.gradient(lambda p: integrate.quad(lambda t: t**p, 0.0, 1.0)[0], -0.5)
    assert bar == pytest.approx(-4.0, rel=1e-6)
    with pytest.raises(NoDerivativeError, match="the limit is needed, which is not finite"):
        ad.gradient(lambda a: integrate.quad(lambda t: 1.0 / math.sqrt(t), a, 1.0)[0], 0.0)


def test_functions_of_c_are_refused():
    import ctypes.util

    library = ctypes.CDLL(ctypes.util.find_library("m"))
    library.sin.restype, library.sin.argtypes = ctypes.c_double, (ctypes.c_double,)
    compiled = LowLevelCallable(library.sin)
    with pytest.raises(NoDerivativeError, match="the integrand is not in Python"):
        ad.gradient(lambda b: integrate.quad(compiled, 0.0, b)[0], 1.0)


def test_weights_are_refused():
    with pytest.raises(NoDerivativeError, match="_qawoe"):
        ad.gradient(lambda b: integrate.quad(math.exp, 0, b, weight="cos", wvar=2.0)[0], 1.0)


def test_what_the_integrand_counts():
    calls = []

    def counted(t):
        calls.append(t)
        return t * t

    assert ad.gradient(lambda b: integrate.quad(counted, 0.0, b)[0], 2.0) == (pytest.approx(4.0),)
    assert len(calls) > 20


def test_values_that_do_not_agree_are_refused():
    with pytest.raises(NoDerivativeError, match="does not agree"):
        ad.gradient(lambda x: with_derivative_of(1.0, x, math.sin, 1e-6, 1e-9), 1.1)


# ---- ordinary differential equations -------------------------------------------------------------


@pytest.mark.parametrize("method", ["RK23", "RK45", "DOP853", "Radau", "BDF"])
def test_solve_ivp(method):
    def oscillation(y0, k, end):
        def slope(t, y):
            return np.array([y[1], -k * y[0]])

        found = integrate.solve_ivp(slope, (0.0, end), y0, method=method, rtol=1e-7, atol=1e-8)
        return found.y[:, -1]

    check_reverse(oscillation, np.array([1.0, 0.5]), 2.0, 1.1, rtol=1e-4, atol=1e-5)


def test_integrands_that_underflow():
    """−p ln p of a normal distribution, whose integral is ln s plus a constant; where p is 0, the
    derivative of the integrand is 0 ∞."""

    def entropy(s):
        def term(t):
            return special.entr(np.exp(-0.5 * (t / s) ** 2) / (s * math.sqrt(2 * math.pi)))

        return integrate.quad(term, -np.inf, np.inf)[0]

    assert ad.gradient(entropy, 0.7) == (pytest.approx(1 / 0.7, rel=1e-9),)


def test_integrands_that_are_zero():
    """What is multiplied by 0 still has a derivative there."""
    (bar,) = ad.gradient(
        lambda c: integrate.quad(lambda t: math.exp(-t * t) + c / (1 + t * t), 0.0, np.inf)[0], 0.0
    )
    assert bar == pytest.approx(math.pi / 2, rel=1e-9)


ABEL = {
    "root": (lambda x: integrate.quad(lambda t: np.sqrt(x - t), 0.0, x)[0], lambda x: np.sqrt(x)),
    "circle": (
        lambda x: integrate.quad(lambda t: math.sqrt(x * x - t * t), -x, x)[0],
        lambda x: math.pi * x,
    ),
    "vector": (
        lambda x: integrate.quad_vec(lambda t: np.array([1.0, 2.0]) * np.sqrt(x - t), 0.0, x)[
            0
        ].sum(),
        lambda x: 3.0 * np.sqrt(x),
    ),
}


@pytest.mark.parametrize("name", ABEL)
def test_a_limit_at_which_the_integrand_has_an_infinite_slope(name):
    """There the points of the sum move with the limit."""
    f, slope = ABEL[name]
    assert ad.gradient(f, 2.0)[0] == pytest.approx(slope(2.0), rel=1e-9)
    assert ad.pushforward(f, (2.0,), (1.0,))[1] == pytest.approx(slope(2.0), rel=1e-9)
    second(f, 2.0, ad.gradient(slope, 2.0)[0], 1e-9, [*ABEL].index(name))


def forward(f):
    return lambda x: ad.pushforward(f, (x,), (1.0,))[1]


SECOND = [
    lambda f, x: ad.hessian(f, x, mode="reverse"),
    lambda f, x: ad.hessian(f, x, mode="forward"),
    lambda f, x: ad.hvp(f, x, 1.0),
    lambda f, x: ad.jacobian(ad.grad(f), x),
    lambda f, x: ad.gradient(forward(f), x)[0],
    lambda f, x: forward(forward(f))(x),
]


def second(f, x, expected, rel, number):
    """The second derivative, by one combination of modes: cases beside each other have others."""
    found = SECOND[number % len(SECOND)](f, x)
    assert found == pytest.approx(expected, rel=rel, abs=rel)


# ---- where the integrand is not smooth -----------------------------------------------------------

quad = integrate.quad
KINKS = {
    "inside": (lambda c: quad(lambda t: abs(t - c), 0.0, 1.0)[0], 0.3, -0.4, 2.0),
    "where intervals meet": (lambda c: quad(lambda t: abs(t - c), 0.0, 1.0)[0], 0.5, 0.0, 2.0),
    "that stays": (lambda c: quad(lambda t: c * c * abs(t - 0.3), 0.0, 1.0)[0], 0.5, 0.29, 0.58),
    "backwards": (lambda c: quad(lambda t: abs(t - c), 1.0, 0.0)[0], 0.3, 0.4, -2.0),
    "to infinity": (
        lambda c: quad(lambda t: math.exp(-abs(t - c)), 0.0, np.inf)[0],
        0.7, math.exp(-0.7), -math.exp(-0.7),
    ),
    "from infinity": (
        lambda c: quad(lambda t: math.exp(-abs(t - c)), -np.inf, 0.0)[0],
        0.7, -math.exp(-0.7), math.exp(-0.7),
    ),
    "on the line": (
        lambda c: quad(lambda t: math.exp(-abs(t - c)), -np.inf, np.inf)[0], 0.7, 0.0, 0.0
    ),
    "of a maximum": (  # c (1 − c)² / 2
        lambda c: quad(lambda t: c * max(t - c, 0.0), 0.0, 1.0)[0],
        0.4, (1 - 0.4) * (1 - 1.2) / 2, 3 * 0.4 - 2.0,
    ),
    "of several values": (
        lambda c: integrate.quad_vec(
            lambda t: np.array([abs(t - c), c * c * abs(t - 0.3)]), 0.0, 1.0
        )[0].sum(),
        0.7, 0.4 + 0.29 * 1.4, 2.0 + 0.58,
    ),
    "of a complex value": (
        lambda c: quad(lambda t: abs(t - c) * (1 + 2j), 0.0, 1.0, complex_func=True)[0].imag,
        0.3, -0.8, 4.0,
    ),
}  # fmt: skip


LONG = ("of a maximum", "of several values", "on the line")
"""Others are of the same kind, and take less time."""


@pytest.mark.parametrize("name", KINKS)
def test_kinks(name):
    f, x, slope, curvature = KINKS[name]
    assert ad.gradient(f, x)[0] == pytest.approx(slope, rel=1e-6, abs=1e-6)
    if name not in LONG:
        second(f, x, curvature, 1e-9, [*KINKS].index(name))


def test_third_derivatives_where_there_is_a_kink():
    """∫ |t − u| exp(t) dt from 0 to 1 is 2 exp(u) − u (1 + e) + … for u = c²."""

    def f(c):
        return quad(lambda t: abs(t - c * c) * math.exp(t), 0.0, 1.0)[0]

    found = ad.hessian(lambda c: ad.gradient(f, c)[0], 0.6)
    assert found == pytest.approx(math.exp(0.36) * (2 * 1.2**3 + 6 * 1.2 * 2.0), rel=1e-9)


JUMPS = {
    "what it is multiplied by": lambda c: quad(lambda t: t * (t < c), 0.0, 1.0)[0],
    "a branch": lambda c: quad(lambda t: c * t if t < c else 0.0, 0.0, 1.0)[0],
    "args": lambda c: quad(lambda t, k: float(t > k), 0.0, 1.0, args=(c,))[0],
    "to infinity": lambda c: quad(lambda t: math.exp(-t) * (t > c), 0.0, np.inf)[0],
    "several": lambda c: quad(lambda t: (7.3 * c * t) % 1.0, 0.0, 1.0)[0],
    "vector": lambda c: integrate.quad_vec(lambda t: VECTORS * (t < c), 0.0, 1.0)[0].sum(),
}


@pytest.mark.filterwarnings("ignore::scipy.integrate.IntegrationWarning")
@pytest.mark.parametrize("x", [0.3, 0.5])
@pytest.mark.parametrize("f", JUMPS.values(), ids=JUMPS)
def test_jumps_that_may_move_are_refused(f, x):
    for derivative in (
        lambda: ad.gradient(f, x),
        lambda: ad.pushforward(f, (x,), (1.0,)),
        lambda: ad.hvp(f, x, 1.0),
    )[: 3 if x == 0.3 else 2]:
        with pytest.raises(NoDerivativeError, match="jumps|agree") as raised:
            derivative()
        assert raised.value.hint


@pytest.mark.parametrize("c", [0.125, 0.25, 0.5, 0.75])
def test_jumps_in_the_middle_of_an_interval_are_refused(c):
    """A sum over an interval does not show a jump in its middle, where the integrand is odd."""
    for f in (
        lambda c: quad(lambda t: np.sign(t - c), 0.0, 1.0)[0],
        lambda c: integrate.quad_vec(lambda t: VECTORS * np.sign(t - c), 0.0, 1.0)[0].sum(),
    ):
        with pytest.raises(NoDerivativeError, match="jumps"):
            ad.gradient(f, c)


NAMED = {
    "moves": (lambda c: quad(lambda t: t * (t < c), 0.0, 1.0, points=[c])[0], 0.3, 0.3, 1.0),
    "stays": (
        lambda c: quad(lambda t: c * c * (t < 0.3), 0.0, 1.0, points=[0.3])[0], 0.5, 0.3, 0.6
    ),
    "infinite slope": (  # ∫ |t − c|^½ dt = (2/3) (c^(3/2) + (1 − c)^(3/2))
        lambda c: quad(lambda t: math.sqrt(abs(t - c)), 0.0, 1.0, points=[c])[0],
        0.3, 0.3**0.5 - 0.7**0.5, (0.3**-0.5 + 0.7**-0.5) / 2,
    ),
    "vector": (
        lambda c: integrate.quad_vec(lambda t: VECTORS * t * (t < c), 0.0, 1.0, points=[c])[0][1],
        0.3, -0.3, -1.0,
    ),
    "outer": (
        lambda c: integrate.nquad(
            lambda s, t: s * t * (t < c), [[0.0, 1.0], [0.0, 1.0]], opts=[{}, {"points": [c]}]
        )[0],
        0.3, 0.15, None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", NAMED)
def test_points_that_are_named_may_move(name):
    f, x, slope, curvature = NAMED[name]
    assert ad.gradient(f, x)[0] == pytest.approx(slope, rel=1e-7)
    assert ad.pushforward(f, (x,), (1.0,))[1] == pytest.approx(slope, rel=1e-7)
    if curvature is not None:  # of an integral of integrals it takes minutes
        second(f, x, curvature, 1e-7, [*NAMED].index(name))


def test_second_derivatives_ask_hardly_more_often():
    """Where there are no kinks to divide the intervals at, they need the points of the first."""
    asked = []
    note = ad.non_differentiable(lambda: asked.append(1))

    def f(k):
        def until(t):
            note()
            return np.exp(-k * t) if t < k else 0.0

        return quad(until, 0.0, 1.0, points=[k])[0]

    ad.gradient(f, 0.4)
    first = len(asked)
    ad.hessian(f, 0.4)
    assert len(asked) - first < 1.15 * first


def test_jumps_of_an_inner_integrand_are_refused():
    def f(c):
        return integrate.nquad(lambda s, t: float(s < c), [[0.0, 1.0], [0.0, 1.0]])[0]

    with pytest.raises(NoDerivativeError, match="jumps"):
        ad.gradient(f, 0.5)


def test_jumps_do_not_matter_to_limits():
    bars = ad.gradient(lambda a, b: quad(lambda t: float(t < 0.4) + 1.0, a, b)[0], 0.1, 0.9)
    assert bars == (pytest.approx(-2.0), pytest.approx(1.0))


STEEP = {
    "at the limit": lambda c: quad(lambda t: math.sqrt(t + c), 0.0, 1.0)[0],
    "inside": lambda c: quad(lambda t: math.sqrt(abs(t - 0.3 - c)), 0.0, 1.0)[0],
}


@pytest.mark.parametrize("f", STEEP.values(), ids=STEEP)
def test_second_derivatives_that_have_no_integral_are_refused(f):
    slope = 1.0 if f is STEEP["at the limit"] else 0.3**0.5 - 0.7**0.5
    assert ad.gradient(f, 0.0)[0] == pytest.approx(slope, rel=1e-3)
    for derivative in (
        lambda: ad.hessian(f, 0.0, mode="reverse"),
        lambda: ad.hessian(f, 0.0, mode="forward"),
        lambda: ad.hvp(f, 0.0, 1.0),
        lambda: ad.jacobian(lambda x: ad.pushforward(f, (x,), (1.0,))[1], 0.0),
    ):
        with pytest.raises(NoDerivativeError, match="infinite"):
            derivative()


@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_first_derivatives_that_have_no_integral_are_refused(mode):
    def f(c):
        return quad(lambda t: 1.0 / math.sqrt(abs(t - c) + 1e-300), 0.0, 1.0)[0]

    with pytest.raises(NoDerivativeError, match="infinite|agree"):
        if mode == "reverse":
            ad.gradient(f, 0.31)
        else:
            ad.pushforward(f, (0.31,), (1.0,))


def test_second_derivatives_of_powers():
    """∫ t^p dt = 1 / (p + 1): the slope is infinite, but where it is stays."""
    found = ad.hessian(lambda p: quad(lambda t: t**p, 0.0, 1.0)[0], 0.5)
    assert found == pytest.approx(2 / 1.5**3, rel=1e-6)


# ---- equal limits --------------------------------------------------------------------------------


def test_integrals_between_equal_limits():
    """SciPy gives 0 without asking the integrand."""

    def f(v):
        return integrate.quad(lambda t: np.exp(-v[2] * t), v[0], v[1])[0]

    a, c = 0.5, 2.0
    y = np.exp(-c * a)
    point = np.array([a, a, c])
    assert ad.value_and_grad(f)(point)[0] == 0.0
    np.testing.assert_allclose(ad.gradient(f, point)[0], [-y, y, 0.0])
    np.testing.assert_allclose(ad.pushforward(f, (point,), (np.array([2.0, 5.0, 1.0]),))[1], 3 * y)
    expected = [[c * y, 0.0, a * y], [0.0, -c * y, -a * y], [a * y, -a * y, 0.0]]
    for mode in ("forward", "reverse"):
        np.testing.assert_allclose(ad.hessian(f, point, mode=mode), expected, atol=1e-13)
    assert ad.gradient(lambda t: integrate.quad(np.cos, 0.0, t, full_output=1)[0], 0.0) == (1.0,)


@pytest.mark.parametrize(
    "f",
    [
        lambda t: integrate.dblquad(lambda y, x: x * y + 1.0, 0.0, t, 0.0, 1.0)[0],
        lambda t: integrate.dblquad(lambda y, x: x * y + 1.0, 0.0, 1.0, 0.0, lambda x: t * x)[0],
        lambda t: integrate.nquad(lambda y, x: x * y + 1.0, [[0.0, t], [0.0, 1.0]])[0],
    ],
)
def test_areas_of_no_extent(f):
    check_reverse(f, 0.0, rtol=1e-6)
    np.testing.assert_allclose(ad.derivative(f)(0.0), ad.gradient(f, 0.0)[0])


@pytest.mark.parametrize(
    "f",
    [
        lambda t: integrate.quad(lambda z: 1 / math.sqrt(z), 0.0, t)[0],
        lambda t: integrate.quad(lambda z: z, 0.0, t, weight="alg", wvar=(0, 0.5))[0],
        lambda t: integrate.quad(lambda z: z + 1j, 0.0, t, complex_func=True)[0].real,
        lambda t: integrate.quad(lambda z: z + 1j, 0.0, t, complex_func=True)[0].imag,
        lambda t: integrate.quad(lambda z: z + 1j, t, 0.0, complex_func=True)[0].imag * 2.0,
    ],
)
def test_equal_limits_that_are_refused(f):
    for differentiate in (ad.gradient, lambda f, t: ad.derivative(f)(t)):
        with pytest.raises(NoDerivativeError):
            differentiate(f, 0.0)
    assert ad.gradient(lambda t: t + f(0.0), 0.0) == (1.0,)
