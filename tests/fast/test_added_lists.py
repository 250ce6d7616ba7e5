"""Lists whose lengths follow from data, added and repeated in specialised programs."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.programs import store
from tests.fast.agreeing import generic_tier

CASES, LONG = {}, {}


def case(f):
    CASES[f.__name__] = f
    return f


def long(f):
    LONG[f.__name__] = f
    return f


def weighed(xs):
    return sum(v * (i + 1) for i, v in enumerate(xs))


@case
def before(m):
    return weighed([m[0]] + [x * x for x in m])


@case
def between(m):
    return weighed([0.0] + [x * x for x in m] + [m[1], 1])


@case
def two(m):
    return weighed([x for x in m] + [x * x for x in m])


@case
def filtered(m):
    return weighed([m[0], 2.0] + [x for x in m if x > 1] + [3])


@case
def constants(m):
    n = len(m)
    w = [1.0] + [0.5] * n
    return w[0] * m.sum() + w[-1] * m[0] * len(w)


@case
def weights(m):
    w = [0.5] + [1.0] * (len(m) - 2) + [0.5]
    return sum(a * b for a, b in zip(w, m))  # noqa: B905


@case
def count_first(m):
    w = len(m) * [0.5 * m[0]]
    return sum(a * b for a, b in zip(w, m))  # noqa: B905 * w[-1]


@case
def padded(m):
    pad = [0.0] * (len(m) // 2)
    return weighed(pad + [x * x for x in m] + pad)


@case
def integers(m):
    return (np.array([1] * len(m) + [2]) * m[0]).sum()


@case
def the_first_is_written(m):
    xs = [x * x for x in m]
    ys = xs + [m[0]]
    xs[0] = m[1] * 7
    return weighed(ys) + weighed(xs)


@case
def the_sum_is_written(m):
    xs = [x * x for x in m]
    ys = xs + xs
    ys[0] = 3 * m[1]
    ys.append(m[0])
    return weighed(ys) * xs[0]


@case
def repeated(m):
    xs = [x * x for x in m]
    ys = xs * 2
    ys[0] = m[1]
    return weighed(ys) + weighed(xs * len(m)) + len(xs * 0)


@case
def rotated(m):
    xs = [x * x for x in m]
    for _ in range(3):
        xs = xs[1:] + xs[:1]
    return weighed(xs)


@case
def pairs(m):
    xs = [(x, x * 2) for x in m] + [(m[0], m[1])]
    return sum(a * b * (i + 1) for i, (a, b) in enumerate(xs))


@case
def tuples(m):
    xs = tuple(x * x for x in m)
    return weighed((m[1], *xs) + xs + (m[0],)) * len(xs + xs)


@case
def of_arrays(m):
    rows = [m] + [m * x for x in m] + [m * m] * 2
    return (np.array(rows) * np.arange(len(rows))[:, None]).sum()


@case
def array_that_is_written(m):
    first = m * 2
    rows = [first] + [m * x for x in m]
    first[0] = m[1] * 5
    return np.sum(rows[0] * rows[-1])


@long
def item_behind(xs):
    return weighed(xs + [xs[0] * xs[1]])


@long
def twice(xs):
    return weighed([2.0] + xs + xs * 2)


@long
def argument_is_left(xs):
    ys = xs + xs
    ys[0] = xs[1] * 3
    return weighed(ys) * xs[0]


def outcomes(f, x, dot):
    value, back = ad.pullback(f, x)
    found = [value, back(1.5)[1], *ad.gradient(f, x), ad.pushforward(f, (x,), (dot,))[1]]
    if not isinstance(x, list):
        found.append(ad.hvp(f, x, dot))
    return found


def agree(f, x, dot):
    with generic_tier():
        expected = outcomes(f, x, dot)
    found = outcomes(f, x, dot)
    assert found[0] == pytest.approx(f(x), rel=1e-12)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    h = 1e-6
    up, down = ([a + s * b for a, b in zip(x, dot, strict=True)] for s in (h, -h))
    if not isinstance(x, list):
        up, down = np.array(up), np.array(down)
    slope = (f(up) - f(down)) / (2 * h)
    np.testing.assert_allclose(found[3], slope, rtol=1e-5, atol=1e-7)
    return ad.tier(f, x).tier


REFUSED = {"array_that_is_written"}


@pytest.mark.parametrize("name", CASES)
def test_of_an_array(name):
    store.forget()
    for m in ([1.3, 2.1], [0.4, 0.7], [1.3, 2.1, 0.4, 0.7, 1.1], np.linspace(0.5, 1.7, 70)):
        m = np.array(m)
        tier = agree(CASES[name], m, np.cos(np.arange(len(m))))
        assert (tier == "generic") == (name in REFUSED)


@pytest.mark.parametrize("name", LONG)
def test_of_a_long_list(name):
    store.forget()
    for n in (20, 30):
        xs = [0.3 + 0.1 * i for i in range(n)]
        assert agree(LONG[name], xs, [0.1 * i - 1.0 for i in range(n)]) == "fast"
