"""Deques of numbers of unknown length in specialised programs."""

import copy
from collections import deque

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.programs import store as tier
from tests.fast.agreement import agrees

A = np.array([0.3, 0.8, 1.4, -0.6, 0.2])


def averages(a, n):
    window, total = deque(maxlen=n), 0.0
    for x in a:
        window.append(x * x)
        total = total * 0.9 + sum(window) / len(window) * window[0] - window[-1]
    return total


def from_the_right(a, n):
    window, total = deque([a[0]], n), 0.0
    for x in a:
        window.appendleft(x * total)
        total = total * 0.5 + x * window[-1]
        if x > 1.0:
            window[0] = x * window.pop() if len(window) > 1 else x
    return total + max(window)


def breadth_first(a):
    line, total, i = deque([a[0]]), 0.0, 1
    while line:
        x = line.popleft()
        total += x * x * 0.5
        if i < len(a):
            line.append(x * a[i])
            if i % 2:
                line.appendleft(a[i])
            i += 1
    return total


def filled(a):
    last = deque(a, maxlen=3)
    last.extend([x * 2 for x in a if x > 0.5])
    last.extendleft([x * x for x in a if x < 0.5])
    last[0] = last[1] * last[2]
    return sum([k * x for k, x in enumerate(last)])


PROGRAMS = {
    "averages": lambda a: averages(a, 3),
    "averages of all": lambda a: averages(a, 100),
    "averages of a list": lambda a: averages(list(a), 2),
    "from the right": lambda a: from_the_right(a, 3),
    "breadth first": breadth_first,
    "filled": filled,
}


@pytest.mark.parametrize("f", PROGRAMS.values(), ids=PROGRAMS)
def test_program(f):
    agrees(f, A)
    tier.forget()
    products = [ad.hvp(f, A, A), ad.hvp(f, A[:4], A[:4])]
    assert [len(known.refused) for known in tier._kept.values()] == [0]
    for a, found in zip((A, A[:4]), products, strict=True):
        expected = ad.jacobian(ad.grad(f, tier="generic"))(a) @ a
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def grown(a):
    line = deque()
    for x in a:
        line.append(x * x)
    return line


def changed_meanwhile(a):
    line, total = grown(a), 0.0
    for x in line:
        total += x
        line.append(x)
    return total


def emptied(a):
    line = grown(a)
    return sum([line.popleft() for _ in range(len(a) + 1)])


OTHERS = {
    "list": lambda a: sum(k * x for k, x in enumerate(list(grown(a)))),
    "array": lambda a: np.sum(np.array(grown(a)) ** 2),
    "copy": lambda a: sum(grown(a).copy()) * copy.copy(grown(a))[1],
    "reversed": lambda a: sum(k * x for k, x in enumerate(reversed(grown(a)))),
    "sum of two": lambda a: sum(grown(a) + grown(a)),
    "rotated": lambda a: [line := grown(a), line.rotate(1), line[0] * line[1]][-1],
    "compared": lambda a: a[0] * (grown(a) == grown(a)) + a[1] * (grown(a) != [1.0]),
    "member": lambda a: a[0] * (2.0 in grown(a)) + a[2] * grown(a).count(3.0),
    "greatest length": lambda a: a[0] * (grown(a).maxlen is None) + a[1] * averages(a, 2),
    "cleared": lambda a: [line := grown(a), line.clear(), a[1] * len(line) + a[0]][-1],
    "returned": lambda a: sum(grown(a) * 2),
}


@pytest.mark.parametrize("f", OTHERS.values(), ids=OTHERS)
def test_as_in_the_generic_tier(f):
    for a in (A, A[:3]):
        for _ in range(2):
            np.testing.assert_allclose(ad.gradient(f, a)[0], ad.grad(f, tier="generic")(a))


@pytest.mark.parametrize(("f", "error"), [(changed_meanwhile, RuntimeError), (emptied, IndexError)])
def test_errors(f, error):
    for _ in range(2):
        with pytest.raises(error):
            ad.gradient(f, A)


def test_a_result():
    y, back = ad.pullback(grown, A)
    assert type(y) is deque and list(y) == list(A * A)
    np.testing.assert_allclose(back(deque(np.ones(5)))[1], 2 * A)


def delayed(a, delay):
    pipe, recent, total = deque([0.0] * delay, maxlen=delay), deque(a[:2], delay + 1), a[0]
    for x in a:
        total += pipe[0] * x - sum(recent)
        pipe.append(x * total)
        recent.append(x)
    return total * len(pipe)


def test_a_length_that_is_an_argument():
    tier.forget()
    for delay in (1, 3, 2, 1):
        value, (a_bar, delay_bar) = ad.withgradient(delayed, A, delay)
        expected = ad.grad(lambda a, n=delay: delayed(a, n), tier="generic")(A)
        np.testing.assert_allclose(a_bar, expected, rtol=1e-12)
        assert value == pytest.approx(delayed(A, delay), rel=1e-14) and delay_bar == 0.0
        assert ad.tier(delayed, A, delay).tier == "fast"
        slope = ad.pushforward(delayed, (A, delay), (A, None))[1]
        assert slope == pytest.approx(a_bar @ A, rel=1e-12)
    with pytest.raises(IndexError):
        ad.gradient(delayed, A, 0)
