"""Derivatives in arrays of integers, which are floats, in both tiers."""

import warnings

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.build.modes import GRADIENT, mode_of
from adjoint.fast.programs import store as tier
from tests.structures import difference

C, K, W = np.array([0.5, 1.5, -2.0]), np.array([3, 1, 2]), np.arange(9).reshape(3, 3)
FUNCTIONS = """
np.sum(x)
np.sum(x*x)
np.sum(x**2)
np.sum(x**3)*1.0
np.sum(x**2)-np.sum(C**2)
np.sum(x*C)
np.sum(x*K)
np.sum(x/K)
np.sum(K/x)
np.sum(C/x)
np.sum(np.sqrt(x))
np.sum(np.exp(x))
np.sum(np.log(x)*C)
np.sum(np.sin(x))*np.sum(x)
np.sum(x-1e-5*C)
np.sqrt(np.sum(x**2))
np.mean(x)
np.mean(x*x)
np.max(x)*1.5
np.maximum(x,C).sum()
np.maximum(x,K).sum()
np.minimum(x,2).sum()
np.sum(np.abs(x))
np.sum(-x)
np.sum(W@x)
x@W@x
x@W@x
np.dot(x,C)
np.dot(x,x)
np.sum(np.outer(x,C))
np.sum(np.where(x>1,x,C))
np.sum(np.where(x>1,x,K))
np.prod(x)
np.sum(np.cumsum(x)*C)
np.sum(x[1:]*x[:-1])
x[0]*x[1]*1.0
x[0]*x[1]
np.sum(np.concatenate([x,C])**2)
np.sum(np.stack([x,x*x]))
np.linalg.norm(x)
np.var(x)
np.std(x)
np.sum(2**x)
np.sum(2.0**x)
np.sum(C**x)
np.sum(x**-1.0)
np.sum(x**0.5)
np.sum(x**K)
np.sum(x**C)
np.sum(x//2)*1.0
np.sum(x%2)*1.0
np.sum(x*np.float32(2))
np.sum(np.square(x))
np.sum(np.arctan2(x,C))
np.sum(np.hypot(x,K))
np.sum(np.clip(x,1,2))
np.sum(x.reshape(3,1)*C)
np.sum(x.T)
np.sum(np.array(x))
np.sum(np.array(x,float))
sum(a*a for a in x)
sum([a*b for a,b in zip(x,C)])
np.sum(np.diff(x)**2)
np.sum(x*True)
np.trace(np.diag(x)@W)
np.sum(np.tile(x,2))
np.sum(np.power(x,2))
np.logaddexp(x,C).sum()
np.sum(np.float_power(x,2))
np.sum(np.negative(x))
np.sum(np.reciprocal(1.0*x))
np.einsum('i,i',x,C)
np.vdot(x,x)
np.inner(x,K)
np.sum(np.sort(x)*C)
np.sum(np.tanh(x*C))**2
""".split("\n")[1:-1]
POINTS = [
    np.array([1, 2, 3]),
    np.array([4, -2, 1]),
    np.array([2**62, 3, 5]),
    np.array([3, 1, 2], np.int32),
    np.array([5, 7, 1], np.uint8),
]
V = np.array([0.3, -1.0, 2.0])
IN_THE_GENERIC_TIER = ("np.max(x)", "np.maximum", "np.minimum", "float32", "np.array(x,float)")


@pytest.mark.parametrize("text", FUNCTIONS)
def test_both_modes_in_both_tiers(text):
    f = eval(f"lambda x: {text}", {"np": np, "C": C, "K": K, "W": W})
    ways = [
        lambda x: tuple(ad.withgradient(f, x)),
        lambda x: ad.pushforward(f, (x,), (V,)),
        lambda x: ad.derivative(lambda t: np.sum(ad.gradient(f, x)[0] * t))(2.0),
    ]
    for way in ways:
        for x in POINTS:
            found, expected = outcome(way, x), outcome_in_the_generic_tier(way, x)
            if isinstance(expected, type):
                assert found is expected
            else:
                assert not difference(found, expected, rtol=1e-12), (x.dtype, found, expected)
    if not any(part in text for part in IN_THE_GENERIC_TIER):
        for mode in (GRADIENT, mode_of("pushforward", (0,))):
            assert tier.known(f, mode).entries


def outcome(way, x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return way(x)
        except Exception as error:
            return type(error)


def outcome_in_the_generic_tier(way, x):
    before, tier.is_enabled[0] = tier.is_enabled[0], False
    try:
        return outcome(way, x)
    finally:
        tier.is_enabled[0] = before


@pytest.mark.parametrize("by_forward", [True, False])
def test_an_inner_derivative(by_forward):
    start = np.array([1, 2])

    def f(c):
        g = lambda q: np.sum(q**2 * c) + np.sum(np.sin(q * c))
        if by_forward:
            slope = np.array([ad.pushforward(g, (start,), (v,))[1] for v in np.eye(len(start))])
        else:
            slope = ad.gradient(g, start)[0]
        return np.sum(slope**2)

    found = tuple(ad.withgradient(f, 1.5))
    assert tier.known(f, GRADIENT).entries
    assert not difference(
        found, outcome_in_the_generic_tier(lambda c: tuple(ad.withgradient(f, c)), 1.5), rtol=1e-12
    )


def listed(x, n):
    y = []
    for i in range(n + 3):
        y.append(x * i)
    return np.array(y, dtype=int).sum() * x


ROUNDING = [
    lambda x, n: np.full(3, x, int).sum() * x,
    lambda x, n: np.full_like(K, x).sum() * x,
    lambda x, n: np.insert(K, 1, x).sum() * x,
    lambda x, n: np.array([x, 2.0], int).sum() * x,
    lambda x, n: np.array([[x, n], [1, x]], np.int32).sum() * x,
    lambda x, n: np.asarray([n, x * 3], dtype=bool).sum() * x,
    lambda x, n: np.array(x, int) * x,
    lambda x, n: np.array([x * i for i in range(n)], int).sum() * x,
    listed,
]


@pytest.mark.parametrize("f", ROUNDING)
@pytest.mark.parametrize("x", [0.7, 1.4, 3])
def test_numbers_that_are_rounded_to_integers(f, x):
    def outcome():
        along = ad.pushforward(f, (x, 2), (1.0, 0.5))
        return ad.gradient(f, x, 2), along, ad.hvp(lambda x: f(x, 2), x, 1.0)

    tier.forget()
    found = outcome()
    tier.is_enabled[0] = False
    try:
        assert difference(found, outcome()) is None
    finally:
        tier.is_enabled[0] = True
    if x != 3:
        slope = (f(x + 1e-6, 2) - f(x - 1e-6, 2)) / 2e-6
        np.testing.assert_allclose(found[0][0], slope, atol=1e-6)


def test_integers_that_stay_integers_are_no_rounding():
    for f in (lambda n: np.array([n, 2 * n], int).sum() * n, lambda n: np.full(3, n, int).sum()):
        at = ad.gradient(f, 3)
        np.testing.assert_allclose(at, (f(4) - f(2)) / 2)
