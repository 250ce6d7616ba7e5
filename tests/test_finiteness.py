"""Sweeps that do not look for zeros times infinity at first: what they give is what careful ones
give."""

import math
import struct
import threading

import numpy as np
import pytest

import adjoint as ad
from adjoint.cotangents import finiteness as caution
from adjoint.errors import NoDerivativeError
from adjoint.rulekit.refusal import NoDerivative, refused_bar
from adjoint.rulekit.registry import entry
from tests.support import check_reverse

KEEP = np.array([True, False, True])
X = np.array([0.9, 0.0, 0.7])
Y = np.array([1.1, np.inf, -0.3])


def in_a_loop(x, y):
    z = x
    for _ in range(3):
        z = np.where(KEEP, np.sqrt(z) + np.log(z) + 2.0, 0.0) + 0.5 * x * np.where(KEEP, y, 0.0)
    return np.sum(z)


def in_containers(x, y):
    parts = {"roots": [np.sqrt(x), x**0.5], "ratios": (x / x, 1.0 / x, x * y)}
    chosen = [np.where(KEEP, part, 0.0) for part in (*parts["roots"], *parts["ratios"])]
    return sum([np.sum(part * part) for part in chosen])


def in_place(x, y):
    z = x * 1.0
    z *= y
    z /= x
    z += np.log(x)
    z[1] = 2.0
    z[KEEP] *= x[KEEP]
    w = np.zeros(6)
    w[:3] = z
    w[3:] = np.where(KEEP, np.reciprocal(x), 0.0)
    return np.sum(w)


def through_objects(x, y):
    class Holder:
        def __init__(self, value):
            self.value = value

    holder = Holder(np.cbrt(x) * y)
    holder.value = np.where(KEEP, holder.value, x)
    return np.sum(holder.value**2)


def generated(x, y):
    def steps():
        for scale in (1.0, 2.0):
            got = yield np.where(KEEP, scale * np.log(x) * y, 0.0)
            assert got is None

    return sum(np.sum(part) for part in steps())


def broadcast(x, y):
    table = x[:, None] * y[None, :] / x[:, None]
    return np.sum(np.where(KEEP[:, None] & KEEP[None, :], table, 0.0)) + np.sum(x[KEEP] * y[KEEP])


def tied(x, y):
    return np.sum(np.where(KEEP, np.maximum(x * y, x / y) + np.minimum(x, x), 0.0))


def numbers(x, y):
    total = 0.0
    for i in range(3):
        total = total + (x[i] * y[i] + np.sqrt(x[i]) if KEEP[i] else 0.0 * np.sqrt(x[i]) + x[i])
    return total


PROGRAMS = [
    in_a_loop, in_containers, in_place, through_objects, generated, broadcast, tied, numbers,
]  # fmt: skip


@pytest.fixture(autouse=True)
def forget():
    caution._delicate.clear()


@pytest.mark.parametrize("f", PROGRAMS)
def test_programs_with_infinite_branches(f):
    with np.errstate(all="ignore"):
        check_reverse(lambda x, y: f(np.where(KEEP, x, X), np.where(KEEP, y, Y)), X, Y)
        first, second = ad.gradient(f, X, Y), ad.gradient(f, X, Y)
        y, back = ad.pullback(f, X, Y)
        third, fourth = back(1.0)[1:], back(2.0)[1:]
    for bars in (first, second, third):
        for a, b in zip(bars, fourth, strict=True):
            assert np.all(np.isfinite(a))
            np.testing.assert_array_equal(2.0 * a, b)


@pytest.mark.parametrize("f", PROGRAMS)
def test_from_several_threads(f):
    with np.errstate(all="ignore"):
        expected = ad.gradient(f, X, Y)
    plain = ad.gradient(lambda x: np.sum(np.sin(x) * x), X)
    wrong = []

    def run(number):
        for _ in range(20):
            caution._delicate.clear()
            with np.errstate(all="ignore"):
                found = ad.gradient(f, X, Y) if number % 2 else ad.gradient(
                    lambda x: np.sum(np.sin(x) * x), X
                )  # fmt: skip
            wanted = expected if number % 2 else plain
            if not all(map(np.array_equal, found, wanted)):
                wrong.append(found)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_an_inner_gradient_has_its_own_sweep():
    def outer(x):
        inner = ad.gradient(lambda z: np.sum(np.where(KEEP, np.sqrt(z), 0.0)), X)[0]
        return np.sum(np.where(KEEP, np.log(x), 0.0) * inner)

    with np.errstate(all="ignore"):
        (bar,) = ad.gradient(outer, X)
        np.testing.assert_allclose(bar, np.where(KEEP, 0.5 / np.sqrt(X) / X, 0.0))


def test_true_infinities_stay():
    assert np.isposinf(ad.gradient(lambda x: np.sum(np.sqrt(x)), np.zeros(2))[0]).all()
    assert np.isnan(ad.gradient(lambda x: np.sum(x * np.nan), np.ones(2))[0]).all()
    back = ad.pullback(lambda x, y: np.maximum(x, y), X, X + 1.0)[1]
    _, x_bar, y_bar = back(np.full(3, np.inf))
    assert not x_bar.any() and np.isposinf(y_bar).all()


def test_hooks_are_called_once():
    seen = []

    def f(x):
        return np.sum(np.where(KEEP, np.log(ad.hook(lambda bar: seen.append(1) or bar, x)), 0.0))

    with np.errstate(all="ignore"):
        (bar,) = ad.gradient(f, X)
    assert len(seen) == 1
    np.testing.assert_allclose(bar, np.where(KEEP, 1 / np.where(KEEP, X, 1), 0.0))


def test_checkpoints_are_computed_anew_once(capsys):
    @ad.checkpoint
    def block(x):
        print("run")
        return np.where(KEEP, np.log(x), 0.0)

    with np.errstate(all="ignore"):
        (bar,) = ad.gradient(lambda x: np.sum(block(x)), X)
    assert np.all(np.isfinite(bar)) and capsys.readouterr().out == "run\nrun\n"


def limited(x):
    return np.exp(x)


SEEN = []


@ad.rrule.register(limited)
def _(x):
    y = np.exp(x)

    def limited_back(y_bar):
        SEEN.append(y_bar)
        if not np.all(np.isfinite(y_bar)):
            raise FloatingPointError("not a number that a rule should see")
        return None, np.clip(y_bar * y, -1.0, 1.0)

    return y, limited_back


def test_rules_of_the_users_are_called_once_with_care():
    def f(x):
        z = limited(x)
        return np.sum(np.where(KEEP, np.log(z - z[1]), 0.0))

    SEEN.clear()
    with np.errstate(all="ignore"):
        (bar,) = ad.gradient(f, X)
    assert len(SEEN) == 1 and np.all(np.isfinite(bar))

    SEEN.clear()
    with pytest.raises(FloatingPointError):
        ad.pullback(limited, X)[1](np.full(3, np.nan))
    assert len(SEEN) == 1


def test_trusted_rules_of_the_users_are_called_once():
    calls = []
    rules = entry(np.fabs)
    before = [*rules.rrules], rules.lane, rules.overridden

    @ad.rrule.register(np.fabs, trusted=True)
    def _(x, /):
        return np.fabs(x), lambda y_bar: calls.append(1) or (None, np.clip(y_bar, -1, 1))

    try:
        with np.errstate(all="ignore"):
            back = ad.pullback(lambda x: np.where(KEEP, np.fabs(x) / X, 0.0), X)[1]
            assert np.all(np.isfinite(back(np.ones(3))[1]))
        assert len(calls) == 1
    finally:
        entry(np.fabs).rrules, rules.lane, rules.overridden = before


def ordered(order, x):
    return x**order


@ad.rrule.register(ordered, trusted=True)
def _(order, x):
    def ordered_back(y_bar):
        missing = NoDerivative("the order")
        return None, refused_bar(ordered, missing, y_bar), np.sum(y_bar * order * x ** (order - 1))

    return ordered(order, x), ordered_back


def test_what_was_decided_by_infinity_is_decided_again(monkeypatch):
    """Of a rule that refuses where a cotangent is not zero, in an operand that is a count."""
    monkeypatch.setattr(entry(ordered).rrules[0], "foreign", False)

    def f(n, x):
        # A count that makes an array: poison that arrives there is dropped.
        orders = np.full(3, n, float)
        y = ordered(orders, 2.0)
        return np.sum(np.where(False, np.log(X) * y, x * KEEP)) + np.sum(orders)

    with np.errstate(all="ignore"):
        n_bar, x_bar = ad.gradient(f, 3, X)
    assert n_bar == 3.0
    np.testing.assert_array_equal(x_bar, 1.0 * KEEP)


def test_errors_of_our_own_are_raised():
    with pytest.raises(NoDerivativeError):
        ad.gradient(lambda x: math.fsum(struct.unpack("d", struct.pack("d", x))) * x, 2.0)
    with pytest.raises(ZeroDivisionError):
        ad.gradient(lambda x: 1.0 / (x - x), 2.0)


def test_a_sweep_in_vain_is_made_once():
    def f(x):
        return np.sum(np.where(KEEP, np.log(x), 0.0))

    assert not caution.is_delicate(f)
    with np.errstate(all="ignore"):
        ad.gradient(f, X + 1.0)
        assert not caution.is_delicate(f)
        ad.gradient(f, X)
    assert caution.is_delicate(f)


def test_all_finite():
    whole = {"a": [1.0, np.ones((2, 2), np.float32)], "b": (None, 2j, np.float64(1e200))}
    assert caution.all_finite(whole)
    assert caution.all_finite(np.full(3, 1e200)) and caution.all_finite(np.full((2, 2), -1e200j))
    for bad in (math.nan, np.array([1.0, np.inf]), complex(0, np.inf), np.float32("inf"), "text"):
        assert not caution.all_finite({"a": [0.0, bad]})
