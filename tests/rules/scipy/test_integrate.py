"""`adjoint.rules.scipy.integrate`: adaptive quadrature."""

import math

import numpy as np
import pytest
from scipy import LowLevelCallable, integrate, special

import adjoint as ad
from adjoint.errors import NoDerivativeError
from adjoint.rules.scipy.carried import UNLIKE, carrying, refusing
from adjoint.rules.scipy.integrate.quadrature import moving, vanishing
from tests.rules.harness import table
from tests.support import check_reverse

CASES = {
    moving: [(0.5, 0.0)],  # its value is 0, whatever its derivative
    vanishing: [(False, 1.5)],  # in the length its derivative is not that of its value
    refusing: [(1.5, abs, UNLIKE, 2.0)],
    carrying: [(True, True, abs, 1e-6, 1e-9)],  # its derivative is not that of its value
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
        ad.gradient(lambda x: carrying(1.0, x, math.sin, 1e-6, 1e-9), 1.1)


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


@pytest.mark.parametrize(("f", "slope"), ABEL.values(), ids=ABEL)
def test_a_limit_at_which_the_integrand_has_an_infinite_slope(f, slope):
    """Of Leibniz' rule only the value there is needed, which is zero."""
    assert ad.gradient(f, 2.0)[0] == pytest.approx(slope(2.0), rel=1e-4)
    assert ad.pushforward(f, (2.0,), (1.0,))[1] == pytest.approx(slope(2.0), rel=1e-4)
    with np.errstate(all="ignore"):
        assert not np.isfinite(ad.hvp(f, 2.0, 1.0))  # by that rule
