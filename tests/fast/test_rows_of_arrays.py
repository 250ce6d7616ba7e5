"""Lists of arrays of unknown length in specialised programs."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.build.modes import GRADIENT
from adjoint.fast.programs import store as tier
from adjoint.runtime.entries import basics
from tests.fast.agreement import agrees, generic
from tests.structures import difference

X = np.array([0.7, -0.4, 1.3, 0.2, 0.9])
M = np.array([[0.3, 1.2], [0.5, -0.7], [1.1, 0.4]])
N = 150


def programs():
    """Return the programs in the store; fail if a call had none, or one failed."""
    kept = [*tier._kept.values()]
    assert [one.reason for known in kept for one in known.refused.values()] == []
    entries = [entry for known in kept for entry in known.entries]
    assert [entry.failures.last for entry in entries if entry.failures.last] == []
    return entries


def covered(f, x):
    """Require that `f` is a program, to the first and the second order, with the numbers of the
    generic tier and of differences."""
    agrees(f, x)
    second_order(f, x)


def second_order(f, x):
    v = np.cos(np.arange(x.size) + 0.3).reshape(x.shape)
    tier.forget()
    found = ad.hvp(f, x, v)
    assert programs()
    h = 1e-6
    ahead, behind = generic(f, (x + h * v,))[1][0], generic(f, (x - h * v,))[1][0]
    scale = np.abs(found).max() + 1
    np.testing.assert_allclose(found, (ahead - behind) / (2 * h), rtol=1e-5, atol=1e-6 * scale)
    value, along = ad.pushforward(f, (x,), (v,))
    plain, (bars,) = generic(f, (x,))
    np.testing.assert_allclose(value, plain, rtol=1e-13)
    np.testing.assert_allclose(along, np.sum(bars * v), rtol=1e-9, atol=1e-12 * scale)


def same(f, *args):
    """Require that the tiers agree, whichever runs; return whether `f` is a program."""
    basics.load()
    tier.forget()
    value, bars = ad.withgradient(f, *args)
    expected_value, expected = generic(f, args)
    assert not difference(value, expected_value, rtol=1e-13)
    assert not difference(bars, expected, rtol=1e-11), (bars, expected)
    return tier.run(f, args, GRADIENT) is not tier.MISS


def step(y):
    return y + 0.01 * np.sin(3.0 * y) * y[::-1]


# ---- ordinary patterns ---------------------------------------------------------------------------


def trajectory(x):
    ys = [x]
    for _ in range(N):
        x = step(x)
        ys.append(x)
    return np.sum(np.array(ys) ** 2)


def stacked(x):
    ys = []
    for i in range(N):
        x = step(x)
        ys.append(x * i)
    t = np.stack(ys)
    return np.sum(t[:, 0] * t[:, 1]) + ys[-1][0] * ys[3].sum() + np.sum(np.stack(ys, axis=1)[0])


def joined(x):
    ys = [x]
    for _ in range(N):
        x = step(x)
        ys.append(x)
    t, v, h = np.concatenate(ys), np.vstack(ys), np.hstack(ys)
    mean = np.mean(ys, axis=0)
    return np.sum(t * h) + np.sum(v[:, 1] * v[:, 0]) + np.sum(mean**3) + np.sum(np.sin(ys))


def comprehension(x):
    ys = [np.sin(x * (0.1 * i)) for i in range(N)]
    return np.sum(sum(ys) ** 2) + len(ys) * ys[2][1]


def iterated(x):
    ys = []
    for _ in range(N):
        x = step(x)
        ys.append(x)
    s = 0.0
    for a, b in zip(ys[:-1], ys[1:]):  # noqa: B905
        s = s + np.sum(a * b)
    for i, a in enumerate(ys):
        s = s + np.sum(a * a) * i
    for a in reversed(ys):
        s = s * 0.99 + a[0]
    return s


def history(x):
    ys = [x, 0.5 * x]
    for _ in range(N):
        ys.append(0.6 * ys[-1] * np.cos(ys[-2]) + 0.1)
    return np.sum(ys[-1] * ys[N // 2])


class Model:
    def __init__(self, rate):
        self.rate, self.log = rate, []

    def run(self, y):
        for _ in range(N):
            y = y + self.rate * np.sin(y)
            self.log.append(y)
        return y


def in_attributes(x):
    model = Model(0.05)
    y = model.run(x)
    return np.sum(np.array(model.log)[::10] ** 2) + y[0]


def nested(x):
    rows = []
    for i in range(N):
        inner = []
        for _ in range(N // 10):
            x = step(x)
            inner.append(x)
        rows.append(inner[-1] + sum(inner) * i)
    return np.sum(np.array(rows) ** 2) * 1e-4


def branching(x):
    ys = [x]
    for i in range(N):
        x = step(x)
        if i % 3 == 0:
            ys.append(x)
        elif x[0] > 0.75:
            ys.append(x * 2.0)
            ys.append(ys[-1] * ys[0])
    return np.sum(np.array(ys) ** 2) + len(ys)


def by_while(x):
    ys = [x]
    while len(ys) < N:
        ys.append(step(ys[-1]))
    return np.sum(np.array(ys) * ys[-1])


def never_read(x):
    ys = [x]
    for _ in range(N):
        x = step(x)
        ys.append(x)
    return np.sum(x**2)


def length_alone(x):
    ys = [x]
    for _ in range(N):
        ys.append(ys[-1])
    return np.sum(x**2) * len(ys)


def written_before(x):
    ys = []
    for i in range(N):
        new = np.empty_like(x)
        new[0] = np.sin(x[-1] + 0.01 * i)
        new[1:] = x[:-1] * np.cos(0.1 * x[1:])
        ys.append(new)
        x = new
    return np.sum(np.array(ys) ** 3)


def written_in_loops(x):
    ys = []
    for _ in range(N):
        new = np.zeros_like(x)
        for j in range(len(x)):
            new[j] = x[j - 1] + 0.01 * np.sin(x[j])
        ys.append(new)
        x = new
    return np.sum(np.array(ys) ** 2) + np.sum(ys[3] * ys[-2])


def copies(x):
    y = x.copy()
    ys = []
    for i in range(N):
        y += 0.01 * np.sin(y * i)
        y[0] = y[1] * 0.5
        ys.append(y.copy())
    return np.sum(np.array(ys) ** 2) + ys[2][1]


def shifted(x):
    ys = [x, x * 2.0]
    for i in range(N):
        x = step(x)
        ys.append(x)
        if i % 2:
            ys.insert(0, ys.pop() * ys.pop(0))
    ys[4] = ys[5] * ys[4]
    return np.sum(np.array(ys[::3]) ** 2) + np.sum(ys[4])


def complex_items(x):
    z = x * (1.0 + 0.5j)
    zs = []
    for _ in range(N):
        z = z + 0.01j * np.sin(z)
        zs.append(z)
    return np.sum(np.abs(np.array(zs)) ** 2) + (zs[-1][0] * zs[1][1]).imag


ORDINARY = (
    trajectory,
    stacked,
    joined,
    comprehension,
    iterated,
    history,
    in_attributes,
    nested,
    branching,
    by_while,
    never_read,
    length_alone,
    written_before,
    written_in_loops,
    copies,
    shifted,
)


@pytest.mark.parametrize("f", ORDINARY, ids=lambda f: f.__name__)
def test_ordinary(f):
    covered(f, X)


@pytest.mark.parametrize("f", ORDINARY, ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [2, 3, 40])
def test_lengths(f, n):
    x = np.cos(np.arange(n) + 0.5)
    same(f, X)
    assert same(f, x)


def test_complex():
    agrees(complex_items, X)
    second_order(complex_items, X)


# ---- lengths and shapes --------------------------------------------------------------------------


@pytest.mark.parametrize("begins", [False, True])
def test_one_program_for_all_lengths(begins):
    def f(x, n):
        ys = [x] if begins else []
        for i in range(n):
            ys.append(x * (i - 0.5))
        t = np.array(ys)
        return np.sum(t**2 * len(ys)) + np.sum(sum(ys))

    for first in (N, 2):
        tier.forget()
        assert same(f, X, first)
        for n in (0, 1, 2, 5, N):
            value, bars = ad.withgradient(f, X, n)
            expected_value, expected = generic(f, (X, n))
            assert not difference(value, expected_value, rtol=1e-13)
            assert not difference(bars[0], expected[0], rtol=1e-12)


def test_nothing_has_the_shape_of_numpy():
    def f(x, n):
        ys = [x * i for i in range(n)]
        return np.sum(x) * np.array(ys).ndim

    tier.forget()
    assert [ad.withgradient(f, X, n)[0] / np.sum(X) for n in (N, 0, 3)] == [2.0, 1.0, 2.0]


def of_matrices(x):
    ys = [x]
    for _ in range(N):
        x = x + 0.01 * np.cos(x @ x.T @ x)
        ys.append(x)
    t = np.array(ys)
    wide = np.concatenate(ys, axis=1)
    s = np.sum(wide[0] * wide[1]) + np.sum(np.vstack(ys)[::2] ** 2)
    return np.sum(t[:, 1] ** 2) + s + np.sum(np.dstack(ys)[1, 1] * np.hstack(ys)[2, : N + 1])


def of_few_numbers(x):
    ys = []
    for i in range(N):
        ys.append(np.array([np.sin(x[0] * i), x[1] * x[2]]))
    t = np.array(ys)
    return np.sum(t[:, 0] * t[:, 1]) + np.sum(np.array(ys, dtype=complex).real)


def of_views(x):
    ys = []
    for i in range(N):
        x = step(x)
        ys.append(x[::-1] if i % 2 else x.T)
    return np.sum(np.array(ys) ** 2) + np.sum(ys[-1] * ys[2])


def test_shapes():
    covered(of_matrices, M)
    covered(of_few_numbers, X)
    covered(of_views, X)
    assert same(of_matrices, np.vstack([M, M]))


def test_lists_of_other_arrays_are_left_to_the_generic_tier():
    def of_several_shapes(x):
        ys = []
        for i in range(N):
            ys.append(x[: i % 3 + 1] * i)
        return np.sum(np.concatenate(ys) ** 2)

    def of_several_dtypes(x):
        ys = []
        for i in range(N):
            ys.append(np.arange(5) * i)
            ys.append(x)
        return np.sum(np.array(ys) ** 2)

    def in_single_precision(x):
        ys = []
        for i in range(N):
            ys.append(x.astype(np.float32) * i)
        return float(np.sum(np.array(ys) ** 2))

    for f in (of_several_shapes, of_several_dtypes, in_single_precision):
        assert not same(f, X)


def test_copies_of_lists():
    def f(x):
        ys = [x]
        for _ in range(N):
            ys.append(step(ys[-1]))
        others, fixed = list(ys), tuple(ys)
        ys.extend(others)
        others[0] = x * 3.0
        t = np.array(fixed) * np.array(others)
        return np.sum(t) + len(ys) * np.sum(ys[0]) + np.sum(ys[N + 2] ** 2)

    covered(f, X)


def test_dicts():
    def f(x):
        ys = {}
        for i in range(N):
            ys[i] = x * i
        return np.sum(ys[3]) + sum(np.sum(v**2) for v in ys.values())

    same(f, X)


def test_items_are_taken():
    def unused(x):
        ys = [x, x * 2.0]
        for i in range(N):
            ys.append(step(ys[-1]) * np.cos(ys[0]))
            if i % 3 == 0:
                ys.pop()
            if i % 7 == 0:
                ys.pop(0)
        ys.pop()
        return np.sum(np.array(ys) ** 2)

    def window(x):
        ys, s = [x], 0.0
        for _ in range(N):
            ys.append(step(ys[-1]))
            if len(ys) > 5:
                ys.pop(0)
            s = s + np.sum(ys[0] * ys[-1])
        return s

    def stack(x):
        ys = [x]
        while len(ys) < N:
            y = ys.pop()
            ys.append(y * 0.9)
            ys.append(np.sin(step(y) + y * ys[-1]))
        return np.sum(np.array(ys) ** 2)

    for f in (unused, window, stack):
        covered(f, X)


def test_places_are_filled():
    def f(x):
        ys = [x] * N
        for i in range(1, N):
            ys[i] = step(ys[i - 1]) + 0.1 * ys[-1]
        ys[3] = ys[2] * ys[5]
        return np.sum(np.array(ys) ** 2) + np.sum(ys[3])

    def zeros(x):
        ys = [np.zeros_like(x)] * N
        for i in range(0, N, 2):
            ys[i] = x * (0.1 * i)
        return np.sum(np.array(ys) * np.cos(np.array(ys)))

    for g in (f, zeros):
        covered(g, X)
