"""Rules from outside for functions of libraries, registered before any derivative was taken; run in
an interpreter of its own by `test_registering`."""

import math

import numpy as np
import scipy.special as sp

import adjoint as ad
from adjoint.fast.programs import store as tier

SIGN_LIKE = [np.sign, np.round, np.floor, np.heaviside]
SMOOTH = [math.erf, math.sin, np.sin, abs, np.prod, np.mean, sp.gamma, np.linalg.det]
SLOPE = 100.0


def rule_of(f):
    """The derivative is a hundred, whatever the truth is."""

    def rule(x, *rest):
        return f(x, *rest), lambda y_bar: (
            None,
            SLOPE * y_bar * np.ones(np.shape(x)),
            *map(_none, rest),
        )

    return rule


def _none(_):
    return None


def forward_rule_of(f):
    def rule(dots, x, *rest):
        return f(x, *rest), np.sum(SLOPE * dots[0])

    return rule


def in_all_modes(f, x):
    v = np.ones(np.shape(x))[()]
    for tier.is_enabled[0] in (False, True):
        np.testing.assert_allclose(ad.gradient(f, x)[0], SLOPE * v)
    np.testing.assert_allclose(ad.pushforward(f, (x,), (v,))[1], SLOPE * np.sum(v))
    np.testing.assert_allclose(ad.linearize(f, x)[1](v), SLOPE * np.sum(v))

    def around(c):
        return np.sum(ad.gradient(lambda z: f(z) * c, x)[0])

    np.testing.assert_allclose(ad.gradient(around, 1.0)[0], SLOPE * np.sum(v))
    np.testing.assert_allclose(ad.derivative(around)(1.0), SLOPE * np.sum(v))


def main():
    for f in SIGN_LIKE + SMOOTH:
        ad.rrule.register(f)(rule_of(f))
    for f in SIGN_LIKE + SMOOTH:
        if f is np.heaviside:
            in_all_modes(lambda x: np.heaviside(x, 0.5), 0.7)
        else:
            in_all_modes(lambda x, f=f: f(x), np.eye(2) if f is np.linalg.det else 0.7)
    # and numbers that count are what they are
    assert ad.gradient(lambda x: x * [5, 3][int(np.floor(x))], 0.7) == (5.0,)

    # what both tiers and forward mode do by themselves, without a rule from outside
    ad.rrule.register(max)(lambda a, b: (max(a, b), lambda y_bar: (None, SLOPE * y_bar, None)))
    in_all_modes(lambda x: max(x, 0.1), 0.7)
    ad.rrule.register(float)(lambda a: (float(repr(a)), lambda y_bar: (None, SLOPE * y_bar)))
    in_all_modes(lambda x: float(x), 0.7)
    ad.rrule.register(sum)(
        lambda a: (math.fsum(a), lambda y_bar: (None, [SLOPE * y_bar for _ in a]))
    )
    assert ad.gradient(lambda x: sum([x, x]), 0.7) == (2.0 * SLOPE,)
    assert ad.derivative(lambda x: sum([x, x]))(0.7) == 2.0 * SLOPE

    # forward rules alone
    for f in (np.ceil, math.cosh):
        ad.frule.register(f)(forward_rule_of(f))
        np.testing.assert_allclose(ad.derivative(lambda x, f=f: f(x))(0.7), SLOPE)
    np.testing.assert_allclose(ad.gradient(math.cosh, 0.7)[0], math.sinh(0.7))

    def square(x):
        return x * x

    ad.frule.register(square)(forward_rule_of(square))
    np.testing.assert_allclose(ad.derivative(square)(2.0), SLOPE)
    np.testing.assert_allclose(ad.jacobian_forward(square, 2.0), SLOPE)
    np.testing.assert_allclose(ad.gradient(square, 2.0)[0], 4.0)


if __name__ == "__main__":
    main()
