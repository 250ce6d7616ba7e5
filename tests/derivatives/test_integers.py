"""Integers in what is differentiated: real numbers where they are calculated with, and counts."""

import array
import enum
import functools
import math
import operator
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

import adjoint as ad
from adjoint.levels.distinct_objects import distinct_integer

MAKE = {
    "list": list,
    "tuple": tuple,
    "dict": lambda xs: dict(enumerate(xs)),
    "array": np.array,
    "array of objects": lambda xs: np.array(xs, object),
}
SECOND = {
    "hessian": ad.hessian,
    "hessian_diagonal": ad.hessian_diagonal,
    "hvp": lambda f, x: ad.hvp(f, x, _ones(x)),
    "vhp": lambda f, x: ad.vhp(f, x, _ones(x)),
    "gauss_newton_product": lambda f, x: ad.gauss_newton_product(f, x, _ones(x)),
    "jacobian of a gradient": lambda f, x: ad.jacobian(ad.grad(f), x),
    "jacobian_forward": ad.jacobian_forward,
    "linearize": lambda f, x: ad.linearize(f, x)[1](_ones(x)),
}


def _ones(x):
    if isinstance(x, dict):
        return dict.fromkeys(x, 1.0)
    made = [1.0] * len(x)
    return (
        np.array(made, x.dtype if x.dtype == object else float) if _is_array(x) else type(x)(made)
    )


def _is_array(x):
    return isinstance(x, np.ndarray)


@pytest.mark.parametrize("make", MAKE)
@pytest.mark.parametrize("operator", SECOND)
def test_as_floats(operator, make):
    def f(p):
        return p[0] ** 2 * p[1]

    found = SECOND[operator](f, MAKE[make]([3, 2]))
    assert repr(found) == repr(SECOND[operator](f, MAKE[make]([3.0, 2.0])))


def test_counts_have_no_derivative():
    found = ad.hessian(lambda p: p["x"] ** (2 + len(range(p["n"]))), {"x": 2.0, "n": 1})
    assert found == {"x": {"x": 12.0, "n": 0.0}, "n": {"x": 0.0, "n": 0.0}}


COUNTS = {
    "range": lambda x, n: sum(x * x for _ in range(n)),
    "shape": lambda x, n: (np.ones((n, 2)) * x * x).sum(),
    "index": lambda x, n: [1.0, 2.0, 3.0, x * x][n],
    "slice": lambda x, n: sum([x * x, x, 1.0, 2.0][:n]),
    "repetition": lambda x, n: sum([x * x] * n),
    "key": lambda x, n: {3: x}[n] * x,
    "text": lambda x, n: x * x * len(f"{n:05d}" + str(n)),
    "branch": lambda x, n: x * x if n == 3 and isinstance(n, int) and type(n) is int else 0.0,
    "axis": lambda x, n: (np.ones((2, 2)) * x * x).sum(axis=n - 3)[0],
    "axis by name": lambda x, n: (np.ones((2, 2, 2, 2)) * x * x).sum(axis=n)[0, 0, 0],
    "axes": lambda x, n: (np.ones((2, 2, 2, 2)) * x * x).sum(axis=(0, n))[0, 0],
    "reshaped": lambda x, n: (np.ones(6) * x * x).reshape(n, -1)[0].sum(),
    "repeated": lambda x, n: np.repeat(x * x, n).sum(),
    "steps": lambda x, n: np.linspace(0.0, x * x, n).sum(),
    "rolled": lambda x, n: np.roll(np.array([x * x, x, 1.0]), n)[0],
    "floor": lambda x, n: x * x * (n // 2) + (n >> 1) * x + (n & 1) * x,
    "generator": lambda x, n: x * x * np.random.default_rng(n).integers(1, 5),
    "while": lambda x, n: _while(x, n),
}


def _while(x, n):
    y = x
    while n > 0:
        y, n = y * x, n - 1
    return y


@pytest.mark.parametrize("name", COUNTS)
@pytest.mark.parametrize("n_dot", [0.0, None, 5.0])
def test_in_every_mode(name, n_dot):
    """With whatever tangent: it contributes nothing."""
    f, h = COUNTS[name], 1e-5
    slope = (f(1.5 + h, 3) - f(1.5 - h, 3)) / (2 * h)
    y, y_dot = ad.pushforward(f, (1.5, 3), (1.0, n_dot))
    assert y == f(1.5, 3) and type(y) is type(f(1.5, 3))
    assert y_dot == pytest.approx(slope, rel=1e-8)
    for bars in (
        ad.gradient(f, 1.5, 3),
        ad.grad(f, (0, 1), tier="generic")(1.5, 3),
        ad.jacobian(f, 1.5, 3),
        ad.jacobian_forward(f, 1.5, 3),
        ad.gradient(lambda s: sum(ad.jacobian(f, s, 3)), 1.5) and ad.jacobian(f, 1.5, 3),
    ):
        assert bars[0] == pytest.approx(slope, rel=1e-8) and not bars[1]
    second = (f(1.5 + 1e-3, 3) - 2 * f(1.5, 3) + f(1.5 - 1e-3, 3)) / 1e-6
    assert ad.hessian(f, 1.5, 3)[0][0] == pytest.approx(second, rel=1e-5, abs=1e-8)


def test_a_descent_from_integers():
    def descended(p):
        q = [1, 1]
        for _ in range(3):
            bars = ad.gradient(lambda q: (q[0] - p[0]) ** 2 + q[1] ** 2, q)[0]
            q = [x - 0.1 * bar for x, bar in zip(q, bars, strict=True)]
        return q[0]

    expected = 1 - 0.8**3  # q ← 0.8 q + 0.2 p
    assert ad.gradient(descended, [2.0, 2.0])[0][0] == pytest.approx(expected, rel=1e-14)
    assert ad.pushforward(descended, ([2.0, 2.0],), ([1.0, 0.0],))[1] == pytest.approx(expected)


def test_three_levels():
    """d/ds of d/dt of d/dq s t q³ at integers."""

    def inner(s, t):
        return ad.gradient(lambda q: s * t * q["n"] ** 3, {"n": 2})[0]["n"]

    for outer in (ad.derivative, lambda f: lambda x: ad.gradient(f, x)[0]):
        for middle in (ad.derivative, lambda f: lambda x: ad.gradient(f, x)[0]):
            assert outer(lambda s, m=middle: m(lambda t: inner(s, t))(5))(3) == 12.0


def test_the_same_integer_on_two_levels():
    """d/dn [n · d/dm (m² n) at m = n] = d/dn 2 n³ = 6 n²."""
    for outer in (ad.derivative, lambda f: lambda x: ad.gradient(f, x)[0]):
        for inner in (ad.derivative, lambda f: lambda x: ad.gradient(f, x)[0]):
            assert outer(lambda n, d=inner: n * d(lambda m: m * m * n)(n))(3) == 54.0


def test_equal_integers_are_told_apart():
    one = 1
    y, y_dot = ad.pushforward(lambda q: q[0] * 10 + q[1] * 100 + 1, ([one, one],), ([1.0, 2.0],))
    assert (y, y_dot) == (111, 210.0)
    assert ad.pushforward(lambda n: 3 * n + 3, (3,), (1.0,)) == (12, 3.0)

    @functools.cache
    def cubed(n):
        return n**3

    assert ad.hessian(lambda q: cubed(q[0]) * q[1] + cubed(q[1]) * q[1], [2, 2]) == [
        [24.0, 12.0],
        [12.0, 48.0],
    ]


def test_what_is_rounded_to_itself():
    """`int` and its like return the very integer that they are given."""

    ways = [int, round, math.floor, math.trunc, operator.index, np.int64]
    ways += [operator.methodcaller(f"__{name}__") for name in ("int", "index", "round", "ceil")]
    for way in ways:

        def f(n, way=way):
            return n * way(n) * 1.0

        assert ad.pushforward(f, (3,), (1.0,)) == (9.0, 3.0)
        assert ad.gradient(lambda s, f=f: ad.gradient(f, 3)[0] * s, 2.0) == (3.0,)
        assert ad.gradient(f, 3) == (3.0,)


def test_a_function_without_a_derivative_that_returns_its_argument():
    @ad.non_differentiable
    def same(x):
        return x

    for x in (3, 3.0):
        assert ad.pushforward(lambda x: x * same(x), (x,), (1.0,))[1] == 3.0
        assert ad.hessian(lambda x: x * x * same(x), x) == 6.0


def _copied(x):
    y = x.copy()
    y[0] = x[1] * 2
    return (y * x).sum() * 1.0


def _overwritten(x):
    x[0] = x[1] * 2
    return (x * x).sum() * 1.0


def _updated(x):
    x[0] *= x[1]
    x += 1
    return (x * x).sum() * 1.0


def _filled(x):
    w = np.zeros(3, x.dtype)
    w[0] = x[0]
    w[1:] = x
    w[::2] *= 2
    v = w[1:]
    v[0] = x[0] * w[2]
    return (w * w).sum() * 1.0


def _in_a_loop(x):
    for i in range(len(x)):
        x[i] = x[i - 1] * x[i]
    return x.sum() * 1.0


def _by_functions(x):
    w = np.zeros((2, 2), x.dtype)
    np.multiply(x, x, out=w[0])
    np.add.at(w[1], [0, 0], x)
    return (w**2).sum() * 1.0


def _by_lists(x):
    w = np.zeros(2, x.dtype)
    w[:] = [x[0], 3]
    w[[1, 0]] = x * w
    return (w * 1.5).sum()


def _sorted(x):
    x[:] = x[::-1] * x * [1, 2]
    x.sort()
    return (x * np.array([1.0, 2.0])).sum()


WRITING = (
    *(_copied, _overwritten, _updated, _filled, _in_a_loop, _by_functions, _by_lists, _sorted),
)
WAYS = {
    "fast": lambda f, x: ad.grad(f)(x),
    "generic": lambda f, x: ad.grad(f, tier="generic")(x),
    "forward": lambda f, x: ad.jacobian_forward(f, x),
    "inside": lambda f, x: ad.pushforward(lambda s: s * ad.gradient(f, x)[0], (1.0,), (1.0,))[1],
    "inside reverse": lambda f, x: ad.jacobian(lambda s: s * ad.gradient(f, x)[0], 1.0),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", [int, np.int16])
@pytest.mark.parametrize("f", WRITING)
def test_arrays_of_integers_are_written(f, dtype, way):
    """As arrays of floats are, against differences of these."""
    x, h = np.array([3.0, 4.0]), 1e-4
    slopes = [(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(2)]
    found = WAYS[way](f, x.astype(dtype))
    np.testing.assert_allclose(found, slopes, rtol=1e-6)


@pytest.mark.parametrize("way", WAYS)
def test_what_is_rounded_when_it_is_written(way):
    def f(x):
        y = x.copy()
        y[0] = x[1] * 0.5  # 2, whatever moves
        return (y * x).sum() * 1.0

    assert WAYS[way](f, np.array([3, 4, 5])).tolist() == [2.0, 8.0, 10.0]


def test_truth_values_and_members_of_enumerations_stay_what_they_are():
    class Kind(enum.IntEnum):
        FIRST = 1

    def f(s, p):
        assert p.flag is True and p.kind is Kind.FIRST
        return s * p.x**2

    point = SimpleNamespace(flag=True, kind=Kind.FIRST, x=3)
    bar = ad.gradient(lambda s: ad.gradient(lambda p: f(s, p), point)[0].x, 2.0)
    assert bar == (6.0,)
    assert ad.hessian(lambda p: f(2.0, p), point).x.x == 4.0


@pytest.mark.parametrize("n", [0, 1, -1, 7, -5, 256, 257, -6, 1023, 1024, -1025, 2**30, 10**40])
def test_an_integer_of_its_own(n):
    """It is the same to Python in everything but its identity."""
    junk = [(1 << 29) + i for i in range(100)]
    del junk
    own = [distinct_integer(n) for _ in range(100)]
    assert len({*map(id, own)}) == 100 and not any(m is n for m in own)
    for m in own:
        assert type(m) is int and m == n and hash(m) == hash(n) and str(m) == str(n)
        assert m + 1 == n + 1 and -m == -n and m * 3 == n * 3 and m - n == 0 and (m in {n})
        assert bool(m) is bool(n) and m.to_bytes(20, "big", signed=True).endswith(b"") and m <= n


def test_zeros_of_their_own_are_indices():
    xs = [*range(100, 400)]

    def element(i):
        return xs[i]

    for i in range(1000):  # until it is specialised
        element(i % 7)
    assert {element(distinct_integer(0)) for _ in range(1000)} == {100}


def test_fractions():
    """The integers that a fraction is made of: d(p/q)/dp = 1/q, d(p/q)/dq = -p/q²."""

    def inner(s):
        return ad.gradient(lambda q: q[0] * 2.0 * q[1] * s, [Fraction(1, 3), 3.0])[0][0]

    found, expected = inner(1.0), (2.0, -2.0 / 3.0)
    assert (found["_numerator"], found["_denominator"]) == expected
    slopes = [way(lambda s: inner(s)["_numerator"])(1.0) for way in (ad.derivative, ad.grad)]
    assert slopes == [2.0, 2.0]


PLACELESS = {
    "set": lambda: {3.0, 2.0},
    "frozenset": lambda: frozenset({3.0, 2.0}),
    "iterator": lambda: iter([3.0, 2.0]),
    "generator": lambda: (x for x in [3.0, 2.0]),
    "array": lambda: array.array("d", [3.0, 2.0]),
    "memory": lambda: memoryview(np.array([3.0, 2.0])),
}


@pytest.mark.parametrize("name", PLACELESS)
def test_what_has_no_place_for_a_cotangent_is_refused_inside_as_outside(name):
    def inner(s):
        return ad.gradient(lambda q: sum(q[0]) * q[1] * s, [PLACELESS[name](), 2.0])

    def unused(s):
        return ad.gradient(lambda q: len([*q[0]]) * q[1] * s, [PLACELESS[name](), 2.0])[0][1]

    for way in (inner, lambda s: ad.pushforward(inner, (s,), (1.0,)), ad.grad(inner)):
        with pytest.raises(ad.AdjointError, match=r"is needed|cannot be differentiated"):
            way(1.0)
    assert unused(1.0) == ad.grad(unused)(1.0) == 2.0


def test_arrays_of_times_and_texts_are_constants():
    point = [np.array([1, 2], "m8[s]"), np.array(["a"]), np.timedelta64(3, "s"), 3]
    for way in (lambda f: f(2.0), lambda f: ad.pushforward(f, (2.0,), (1.0,))[0]):
        assert way(lambda s: ad.gradient(lambda q: q[3] ** 2 * s, point)[0][3]) == 12.0
