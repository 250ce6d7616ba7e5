"""Arithmetic within `np.errstate`: programs ignore what the user does, and nothing else."""

import warnings

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.build.modes import GRADIENT
from adjoint.fast.programs import store as tier
from tests.fast.agreement import agrees, generic

Y, MU = np.array([0.0, 1.0, 2.0, 0.5]), np.array([1.0, 2.0, 3.0, 0.25])


def deviance(y, mu):
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(y > 0, y * np.log(y / mu), 0.0)
    return np.sum(t - (y - mu))


def quotients(y, mu):
    with np.errstate(all="ignore"):
        r = mu / y
        r[y == 0] = 0.0
    return np.sum(r * mu)


def reciprocal(y):
    return 1.0 / y


def of_helpers(y, mu):
    with np.errstate(divide="ignore"):
        total = np.sum(np.where(y > 0, reciprocal(y), y) * mu)
    return total * np.sum(reciprocal(mu) * y)


def nested(y, mu):
    with np.errstate(divide="ignore"), np.errstate(invalid="ignore", over="warn"):
        r = np.sqrt(mu - 1.0)
        s = np.where(mu > 1.0, r, mu) + np.where(y > 0.0, np.log(y), 0.0)
    return np.sum(s * y)


def only_if_zero(y, mu):
    if y[0] == 0.0:
        with np.errstate(divide="ignore", invalid="ignore"):
            r = np.where(y != 0.0, mu / y, mu)
    else:
        r = mu / y
    return np.sum(r * r)


def clipped(y, mu):
    with np.errstate(divide="ignore"):
        return np.sum(np.maximum(np.log(y), -5.0) * mu)


FUNCTIONS = [deviance, quotients, of_helpers, nested, only_if_zero, clipped]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_what_is_ignored_leaves_no_program(f, dtype):
    args = Y.astype(dtype), MU.astype(dtype)
    for _ in range(3):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            value, bars = ad.withgradient(f, *args)
        expected, others = generic(f, args)
        assert type(value) is type(expected) and value == expected
        for bar, other in zip(bars, others, strict=True):
            np.testing.assert_allclose(bar, other, rtol=1e-12 if dtype is np.float64 else 1e-5)
    assert ad.tier(f, *args).tier == "fast"


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_beside_differences(f):
    agrees(f, Y + 0.125, MU + 0.125)


def warned(call, *args):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call(*args)
    return [str(w.message) for w in found]


def the_same_outside(y, mu):
    with np.errstate(divide="ignore"):
        r = np.where(y > 0, mu / y, 0.0)
    s = np.where(y > 0, mu / y, 0.0)
    return np.sum(r * s)


def the_same_before(y, mu):
    s = np.where(y > 0, np.log(y), 0.0)
    with np.errstate(divide="ignore"):
        r = np.where(y > 0, np.log(y), 0.0)
    return np.sum(r * s * mu)


def of_another_kind(y, mu):
    with np.errstate(divide="ignore"):
        return np.sum(np.where(y > 0, y / y, 0.0) * mu)


def asked_for_again(y, mu):
    with np.errstate(all="ignore"):
        with np.errstate(divide="warn"):
            r = np.where(y > 0, mu / y, 0.0)
    return np.sum(r)


def from_a_generator(y, mu):
    def quotients():
        with np.errstate(divide="ignore"):
            yield np.where(y > 0, mu / y, 0.0)
        yield np.where(y > 0, 1.0 / y, 0.0)

    return sum(np.sum(part) for part in quotients())


def in_one_branch(y, mu):
    if mu[0] > 0.5:
        with np.errstate(divide="ignore"):
            r = np.where(y > 0, mu / y, 0.0)
    else:
        r = y
    return np.sum(r + np.where(y > 0, 1.0 / y, 0.0))


WARNING = [
    the_same_outside, the_same_before, of_another_kind, asked_for_again, from_a_generator,
    in_one_branch,
]  # fmt: skip


@pytest.mark.parametrize("f", WARNING, ids=lambda f: f.__name__)
def test_other_warnings_stay(f):
    plain = warned(f, Y, MU)
    assert len(plain) == 1
    for _ in range(3):
        assert warned(ad.gradient, f, Y, MU) == plain


def test_raised_within():
    def f(y, mu):
        with np.errstate(divide="raise"):
            return np.sum(mu / y)

    for _ in range(3):
        with pytest.raises(FloatingPointError, match="divide by zero"):
            ad.gradient(f, Y, MU)
    ad.gradient(f, MU, Y)


def test_settings_around_the_call():
    tier.forget()
    with np.errstate(all="raise"):
        for _ in range(3):
            value, bars = ad.withgradient(quotients, Y, MU)
    np.testing.assert_allclose(bars[0], [0.0, -4.0, -2.25, -0.25])
    (entry,) = tier.known(quotients, GRADIENT).entries
    assert "ignoring(" in entry.source
