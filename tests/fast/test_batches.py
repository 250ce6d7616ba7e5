"""Programs for all rows at once: `vmap`, inner Jacobians, Hessians by all unit vectors, against
loops over the rows, the generic tier and differences."""

from __future__ import annotations

import math

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.build.modes import mode_of
from adjoint.fast.programs import store
from tests.structures import difference

RNG = np.random.default_rng(11)
X, W = RNG.normal(size=(7, 5)), RNG.normal(size=(6, 5))
V, M = RNG.normal(size=(3, 6)), RNG.normal(size=(4, 3, 3))
C = np.array([0.3, -0.7, 0.2, 1.1, -0.4])


def network(x):
    return V @ np.tanh(W @ x)


def loss(x):
    return np.sum(network(x) ** 2)


def several(x):
    return {"twice": x * 2.0, "sum": [np.sum(x), x[1:] - x[:-1]]}


def inner(x):
    return x @ x + x @ C + C @ x


def built(x):
    return np.array([[0.0, 1.0], [x[0] * x[1], np.exp(x[2])], [3.0, x[3]]])


def joined(x):
    return np.concatenate([x[:2] ** 2, np.stack([x[2:], C[2:]], axis=1).ravel()])


def written(x):
    y = np.zeros(5)
    for i in range(4):
        y[i + 1] = y[i] * x[i] + 1.0
    y[1:3] *= x[:2]
    return y


def read_before_a_write(x):
    y = x * 2.0
    a, b = y[0], y[1:3]
    c = b @ b
    y[0] = 3.0 * x[1]
    y[1:3] = 0.5
    return a * a + c * y[0] + np.sum(y**2)


def accumulated(x):
    s = 0.0
    for a, b in zip(x, C, strict=True):
        s = s + a**2 * b
    for i, a in enumerate(x):
        s += i * a
    return s


def halved(x):
    s, n = x[0], 0
    while n < 3:
        s, n = 0.5 * s * s, n + 1
    return s if n > 2 else 0.0


def unpacked(x):
    a, b, c, d, e = x
    return a * b + math.sin(c) * math.exp(d) / (2.0 + math.cos(e))


def reduced(x):
    y = np.outer(x, x)
    return (
        np.mean(y, axis=0)
        + np.max(y, axis=-1)
        + np.cumsum(x)
        - y.sum(keepdims=True)[0]
        + np.prod(x)
    )


def turned(a):
    y = np.concatenate([a, np.transpose(a)], axis=0)
    z = np.swapaxes(y, 0, 1) @ y + np.where(a > 0, a, 0.1 * a).sum()
    return z * np.moveaxis(a, 0, 1) - np.ravel(a)[1]


def identical(x):
    return x


def constant(x):
    return 1.0


ROWS = [network, loss, several, inner, built, joined, written, read_before_a_write, accumulated,
        halved, unpacked, reduced, identical, constant]  # fmt: skip
MATRICES = [
    turned,
    lambda a: np.sum(a[0, 0], axis=0) * np.moveaxis(a, [0, 1], [1, 0]),
    lambda a: np.linalg.solve(a + 4 * np.eye(3), np.ones(3)),
    lambda a: np.linalg.solve(np.eye(3) * 2, a[0]) + np.linalg.inv(a @ a.T + np.eye(3))[0],
    lambda a: (a @ a.T) @ a[0] + a[0] @ a + np.einsum("ij,j->i", a, a[1]),
    lambda a: np.tensordot(M, a, axes=1)[0, 0] + np.tensordot(a, M[0], ([0], [1]))[0],
    lambda a: (M @ a)[0] @ C[:3] + (np.stack([a, a]) @ M[:2])[1] @ a[0],
    lambda a: np.linalg.det(a) * np.linalg.norm(a[0]) * np.vdot(a, a),
]
CASES = [
    *((f, X) for f in ROWS),
    *((f, X[:5]) for f in ROWS),  # as many rows as elements of each
    *((f, X[:1]) for f in ROWS),
    *((f, M[:3]) for f in MATRICES),
    *((f, M) for f in MATRICES),
]


def stacked(ys):
    """The results of a loop as `vmap` returns them."""
    if isinstance(ys[0], dict):
        return {key: stacked([y[key] for y in ys]) for key in ys[0]}
    if isinstance(ys[0], list):
        return [stacked(list(parts)) for parts in zip(*ys, strict=True)]
    return np.stack(ys)


def is_at_once(mapped):
    kept = store.known(mapped.func, mode_of("pushforward", ()))
    return kept is not None and bool(kept.entries)


def squares(y):
    """A number that depends on all numbers of a structure."""
    if isinstance(y, dict):
        return sum(squares(part) for part in y.values())
    return sum(squares(part) for part in y) if isinstance(y, list) else np.sum(np.sin(y))


def generic(call):
    """What a call gives without programs."""
    before, store.is_enabled[0] = store.is_enabled[0], False
    try:
        return call()
    finally:
        store.is_enabled[0] = before


@pytest.mark.parametrize(("f", "x"), CASES)
def test_values(f, x):
    mapped = ad.vmap(f)
    found = mapped(x.copy())
    assert difference(found, stacked([f(row) for row in x]), rtol=1e-13) is None
    assert is_at_once(mapped) or f is several, "a program returns a number, an array or a tuple"
    shifted = ad.vmap(f, in_axes=-1)(np.moveaxis(x, 0, -1).copy())
    assert difference(shifted, found, rtol=1e-13) is None


@pytest.mark.parametrize(("f", "x"), CASES)
def test_derivatives_around(f, x):
    """All modes over the whole, against those over a loop."""

    def at_once(x):
        return squares(ad.vmap(f)(x))

    def looped(x):
        total = 0.0
        for i in range(x.shape[0]):
            total = total + squares(f(x[i]))
        return total

    v = np.cos(x)
    assert difference(ad.grad(at_once)(x), ad.grad(looped)(x), rtol=1e-11) is None
    args = (x,), (v,)
    pairs = zip(ad.pushforward(at_once, *args), ad.pushforward(looped, *args), strict=True)
    for found, expected in pairs:
        np.testing.assert_allclose(found, expected, rtol=1e-11)
    assert difference(ad.hvp(at_once, x, v), ad.hvp(looped, x, v), rtol=1e-10) is None
    kept = store.known(at_once, mode_of("gradient", (0,), is_single=True))
    assert kept.entries or f is halved, [one.reason for one in kept.refused.values()]


@pytest.mark.parametrize("f", [loss, inner, read_before_a_write, accumulated, unpacked])
@pytest.mark.parametrize(
    "operator",
    [
        ad.grad,
        ad.value_and_grad,
        lambda f: lambda x: ad.pushforward(f, (x,), (2.0 * x,)),
        lambda f: lambda x: ad.hvp(f, x, 2.0 * x),
        lambda f: lambda x: ad.hessian(f, x),
    ],
)
def test_derivatives_inside(f, operator):
    of_row = operator(f)
    mapped = ad.vmap(of_row)
    found = mapped(X)
    rows = [of_row(row) for row in X]
    expected = (
        tuple(np.stack(part) for part in zip(*rows, strict=True))
        if isinstance(rows[0], tuple)
        else np.stack(rows)
    )
    assert difference(found, expected, rtol=1e-11) is None


def orbit(p):
    rate, x = p[0], p[2]
    for i in range(12):
        slope = rate * x - p[1] * x * x
        if i % 3:
            slope = slope + 0.1 * rate * math.sin(x)
        for _ in range(2):
            x = x + 0.1 * slope
    return x


def smoothed(x):
    y = x.copy()
    for _ in range(4):
        y = np.tanh(y * x) + 0.1 * y[::-1]
    return np.sum(y)


def filled(x):
    y = np.zeros(5)
    for i in range(1, 5):
        y[i] = np.sin(y[i - 1] * x[i]) + x[i - 1]
    return np.sum(y**2)


def tabulated(x):
    """Writes and reads by indices that do not depend on the point."""
    y, z = np.zeros((5, 2)), np.zeros((2, 5))
    for i in range(4):
        y[i + 1, 0] = x[i] * x[i + 1]
        y[i, i % 2] = y[i, 0] + x[i] ** 2
        z[1, i : i + 2] = x[i] * y[i + 1, 0]
        z[0, : i + 1] = x[0]
    return np.sum(y**2) + np.sum(np.sin(z)) * y[3, 0]


@pytest.mark.parametrize("f", [orbit, tabulated, smoothed, filled, accumulated])
@pytest.mark.parametrize(
    "operator",
    [ad.grad, lambda f: lambda x: ad.hessian(f, x), lambda f: lambda x: ad.hvp(f, x, x)],
)
def test_what_loops_leave_for_the_reverse_sweep(f, operator):
    of_row = operator(f)
    mapped = ad.vmap(of_row)
    found = mapped(X)
    assert difference(found, np.stack([of_row(row) for row in X]), rtol=1e-10) is None
    assert difference(found, generic(lambda: mapped(X)), rtol=1e-10) is None
    assert is_at_once(mapped)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("f", [network, identical, reduced])
def test_inner_jacobians(f, mode):
    def of_jacobian(x):
        return np.sum(np.sin(ad.jacobian(f, x, mode=mode)))

    for call in (
        lambda: ad.grad(of_jacobian)(C),
        lambda: ad.hvp(of_jacobian, C, X[0]),
        lambda: ad.vmap(lambda x: ad.jacobian(f, x, mode=mode))(X),
    ):
        assert difference(call(), generic(call), rtol=1e-10) is None


@pytest.mark.parametrize(
    "f",
    [loss, inner, read_before_a_write, accumulated, unpacked, lambda x: np.sum(written(x) ** 2)],
)
def test_hessians_by_all_unit_vectors(f):
    found = ad.hessian(f, C)
    assert difference(found, generic(lambda: ad.hessian(f, C)), rtol=1e-11) is None
    h = 1e-6
    for j, unit in enumerate(np.eye(5)):
        slope = (ad.grad(f)(C + h * unit) - ad.grad(f)(C - h * unit)) / (2 * h)
        np.testing.assert_allclose(found[:, j], slope, rtol=1e-6, atol=1e-7)


def test_hessians_of_several_arguments():
    def f(x, c, a):
        return np.sum(np.tanh(a @ x[:3]) * c) + c**3

    args = C, 1.5, M[0]
    for argnums in (None, (2, 0), 1):
        call = lambda: ad.hessian(f, *args, argnums=argnums)  # noqa: E731, B023
        assert difference(call(), generic(call), rtol=1e-11) is None


def test_hessians_in_parts(monkeypatch):
    whole = ad.hessian(loss, C)
    store.forget()
    monkeypatch.setattr("adjoint.fast.batch.values.MOST_ELEMENTS", 10)
    np.testing.assert_allclose(ad.hessian(loss, C), whole, rtol=1e-13)


def placed(x):
    y = np.zeros((5, 3))
    for i in range(4):
        y[i, 1:] = np.sin(x[i : i + 2]) * C[:2]
        y[i + 1, 0] = x[i]
    return np.tanh(y) @ np.ones(3) + x


def test_jacobians_by_all_unit_vectors():
    for f in (placed, network, reduced, built, lambda x: (x[:2], np.sum(x))):
        call = lambda: ad.jacobian(f, C, mode="forward")  # noqa: E731, B023
        call()
        kept = store.known(f, mode_of("pushforward", (0,), has_rows=True))
        assert kept.entries or f not in (placed, network), [
            one.reason for one in kept.refused.values()
        ]
        assert difference(call(), generic(call), rtol=1e-12) is None


def test_a_result_shares_no_memory():
    x = X.copy()
    found = ad.vmap(identical)(x)
    found[...] = 0.0
    np.testing.assert_array_equal(x, X)
    one, other = ad.vmap(lambda row: (row, row))(x)
    assert not np.shares_memory(one, other)


def branching(x):
    return x**2 if x > 0 else 0.0


def test_branches_that_differ_are_run_row_by_row():
    x = np.array([1.0, -1.0, 2.0])
    mapped = ad.vmap(branching)
    np.testing.assert_array_equal(mapped(x), [1.0, 0.0, 4.0])
    assert not is_at_once(mapped)
    np.testing.assert_array_equal(ad.vmap(ad.grad(branching))(x), [2.0, 0.0, 4.0])


def test_an_error_of_one_row_is_that_of_the_loop():
    x = np.array([1.0, -1.0])
    mapped = ad.vmap(lambda t: math.sqrt(t))
    with pytest.raises(ValueError, match="math domain error|nonnegative"):
        mapped(x)
    np.testing.assert_array_equal(mapped(np.array([1.0, 4.0])), [1.0, 2.0])


def test_single_precision_and_integers():
    x = X.astype(np.float32)
    found = ad.vmap(lambda row: row * 2.0 + row[0])(x)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, x * np.float32(2.0) + x[:, :1])
    whole = ad.vmap(lambda row: (row[0] // 2, row @ row, 1))(np.arange(6).reshape(3, 2))
    assert [part.tolist() for part in whole] == [[0, 1, 2], [1, 13, 41], [1, 1, 1]]
    assert {part.dtype for part in whole} == {np.dtype(int)}


def test_copies_that_nothing_else_reads_are_left_out():
    jacobians = ad.vmap(lambda x: ad.jacobian(network, x))
    pairs = ad.vmap(lambda x: (ad.grad(loss)(x), 2.0 * ad.grad(loss)(x)))
    one, other = pairs(X)
    one[...] = 0.0
    np.testing.assert_allclose(other, 2.0 * np.stack([ad.grad(loss)(row) for row in X]), rtol=1e-12)
    found = jacobians(X)
    assert difference(found, np.stack([ad.jacobian(network, row) for row in X]), rtol=1e-12) is None
    (entry,) = store.known(jacobians.func, mode_of("pushforward", ())).entries
    assert "finite_derivative" in entry.source and "np.array" not in entry.source


def from_an_integer(x):
    t, n = 0, 1
    for r in x:
        t, n = t + r, n * r
    return t + sum(x, 1), n


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16", "i4", "u1"])
def test_sums_that_begin_with_an_integer(dtype):
    x = np.array([[1, 2, 7], [3, 2, 200], [5, 3, 1]]).astype(dtype)
    with np.errstate(over="ignore"):
        found, rows = ad.vmap(from_an_integer)(x), [from_an_integer(row) for row in x]
    for one, expected in zip(found, zip(*rows, strict=True), strict=True):
        assert one.dtype == np.stack(expected).dtype
        np.testing.assert_array_equal(one, np.stack(expected))


@pytest.mark.parametrize("f", [network, lambda x: (np.outer(x, x), x[0]), inner])
@pytest.mark.parametrize("axes", [(0, 0), (1, -1), (-1, 0)])
def test_rows_in_parts(f, axes, monkeypatch):
    x = np.moveaxis(RNG.normal(size=(600, 5)), 0, axes[0])
    expected = generic(lambda: ad.vmap(f, *axes)(x))
    for most in (2**20, 64):
        monkeypatch.setattr("adjoint.fast.batch.values.MOST_ELEMENTS", most)
        store.forget()
        mapped = ad.vmap(f, *axes)
        for _ in range(2):
            assert difference(mapped(x), expected, rtol=1e-12) is None
        assert is_at_once(mapped)
    store.forget()
