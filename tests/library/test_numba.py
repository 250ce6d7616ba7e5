"""Functions that Numba compiles are differentiated by the Python that they hold, compiled or not,
in every mode; what only compiled code looks into is refused."""

from __future__ import annotations

import time
from typing import Any

import numba
import numpy as np
import pytest
from numba.experimental import jitclass
from scipy import integrate, optimize

import adjoint as ad
from adjoint.testing import check_gradient

X = np.array([1.1, 2.2, 3.3])


@numba.njit
def square(a):
    return a * a


@numba.njit
def energy(x):
    total = 0.0
    for i in numba.prange(x.shape[0]):
        total += square(x[i])
    return total


@numba.vectorize
def product(a, b):
    return a * b + b


@numba.guvectorize(["void(float64[:],float64[:],float64[:])"], "(n),(n)->()")
def dot(a, b, result):
    result[0] = 0.0
    for i in range(a.shape[0]):
        result[0] += a[i] * b[i]


@numba.cfunc("float64(float64)")
def cubed(x):
    return x * x * x


@numba.njit
def cast(x):
    return numba.float64(x[0]) * x[1]


class Model:
    def __init__(self, f):
        self.f = f

    def loss(self, x):
        return self.f(x) * x[0]


def made_inside(x):
    @numba.njit
    def scaled(t):
        return t * x[0]

    return scaled(3.0) * x[1]


TABLE = {"energy": energy}
CASES = {
    "itself": energy,
    "called": lambda x: 2.0 * energy(x) * x[0],
    "in a table": lambda x: TABLE["energy"](x),
    "a field": lambda x: Model(energy).loss(x),
    "of an object": Model(energy).loss,
    "universal": lambda x: product(x, 2.0 * x).sum(),
    "universal, of numbers": lambda x: product(x[0], x[1]),
    "generalized": lambda x: dot(x, x * x),
    "generalized, broadcast": lambda x: dot(np.outer(x, x), x).sum(),
    "for C": lambda x: cubed(x[0]),
    "with Numba's types": cast,
    "made inside": made_inside,
}


@pytest.mark.parametrize("name", CASES)
def test_derivatives(name: str) -> None:
    f = CASES[name]
    check_gradient(f, X, modes=("reverse", "forward"))
    np.testing.assert_allclose(ad.grad(f, tier="generic")(X), ad.gradient(f, X)[0], rtol=1e-12)
    hessian = ad.hessian(f, X)
    step = 1e-5 * np.eye(3)
    differences = [(ad.gradient(f, X + e)[0] - ad.gradient(f, X - e)[0]) / 2e-5 for e in step]
    np.testing.assert_allclose(hessian, differences, rtol=1e-5, atol=1e-6)


def test_tiers_and_texts() -> None:
    assert "fast" in str(ad.tier(energy, X)) and "square" in str(ad.tier(energy, X))
    assert "energy" in ad.ir(energy)
    assert "total" in ad.code(energy, X) and "total" in ad.code(energy)


def test_called_by_scipy() -> None:
    @numba.njit
    def weighted(t, k):
        return k * t * t

    check_gradient(lambda k: integrate.quad(weighted, 0.0, 1.0, args=(k,))[0], 2.0)
    check_gradient(lambda c: optimize.brentq(lambda z: weighted(z, 1.0) - c, 0.0, 5.0), 2.0)


def test_what_it_has_captured() -> None:
    def made(k):
        @numba.njit
        def scaled(t):
            return t * k

        return scaled

    _, back = ad.pullback(made(2.0), 3.0)
    f_bar, t_bar = back(1.0)
    assert f_bar["k"] == 3.0 and t_bar == 2.0
    assert ad.gradient(lambda k: made(k)(3.0), 2.0) == (3.0,)


@numba.njit
def of_a_constant(n):
    total = 0.0
    for i in range(n):
        total += np.sin(i)
    return total


@pytest.mark.parametrize("tier", ["auto", "generic", "forward"])
def test_constants_are_run_as_they_are(tier: str) -> None:
    """Ten million steps would take seconds in Python."""
    of_a_constant(1)

    def f(x):
        return (x * of_a_constant(10_000_000)).sum()

    begin = time.process_time()
    if tier == "forward":
        slope: Any = ad.pushforward(f, (X,), (np.ones(3),))[1]
    elif tier == "generic":
        slope = ad.grad(f, tier="generic")(X).sum()
    else:
        slope = ad.gradient(f, X)[0].sum()
    assert slope == pytest.approx(3 * of_a_constant(10_000_000))
    assert time.process_time() - begin < 5.0


@jitclass([("x", numba.float64)])
class Compiled:
    def __init__(self, x):
        self.x = x


def in_an_object(x):
    return Compiled(x[0]).x * 2.0


def in_a_list(x):
    found = numba.typed.List()
    found.append(x[0])
    return found[0] * 2.0


@pytest.mark.parametrize("f", [in_an_object, in_a_list])
def test_what_compiled_objects_hold_is_refused(f: Any) -> None:
    for derivative in (lambda: ad.gradient(f, X), lambda: ad.pushforward(f, (X,), (X,))):
        with pytest.raises(ad.AdjointError, match="compiled objects"):
            derivative()
