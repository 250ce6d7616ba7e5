"""Lengths and axes that the program computes, or is given, as Python's integers or NumPy's."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.programs import store as tier
from tests.structures import difference

Y, MASK = np.array([0, 2, 1, 2]), np.array([True, False, True, True])
X, A = np.arange(1.0, 9.0).reshape(4, 2), np.array([1.0, 2.0, 3.0])


def centroids(x):
    sums = np.zeros((Y.max() + 1, 2))
    for i in range(len(Y)):
        sums[Y[i]] += x[i]
    return np.mean(sums**2)


class Repeated:
    def __init__(self, k):
        self.k = k

    def __call__(self, a):
        return np.mean(np.ones((self.k, 2)) * a[0])


KINDS = [int, np.int64, np.int32, np.uint8]
LENGTHS = {
    "zeros": lambda a, k: np.mean(np.zeros(k) + a[0]),
    "eye": lambda a, k: np.mean(np.eye(k)) * np.sum(a),
    "ones": lambda a, k: len(np.ones((k, 2))) * a[0] * np.ones((k, 2)).size,
    "full": lambda a, k: np.full(k, a[0]).mean(),
    "tile": lambda a, k: np.tile(a, k).mean() * np.repeat(a, k).size,
    "broadcast_to": lambda a, k: np.broadcast_to(a, (k, 3)).mean(axis=0)[1],
    "reshape": lambda a, k: np.outer(a, np.arange(6.0)).reshape(k, -1).mean(axis=0).sum(),
    "mgrid": lambda a, k: np.mean(np.mgrid[0:k, 0 : 2**k] * a[0]),
    "ogrid": lambda a, k: np.mean(np.ogrid[0:2, 1 : k + 1][1] * a[0]),
    "power": lambda a, k: np.ones((k**2, 2)).mean(axis=1).sum() * a[1],
    "linspace": lambda a, k: np.linspace(a[0], a[1], k).mean() * a[2],
    "arange": lambda a, k: np.sum(np.arange(k) * a[0]) / np.arange(k).size,
    "a loop": lambda a, k: sum([a[i % 3] * i for i in range(k)]) / k,
    "a range of a power": lambda a, k: sum([a[i % 3] * i for i in range(1, 2**k, 2)]) / k,
    "a slice": lambda a, k: a[: k - 1].mean() * a[2],
    "a field": lambda a, k: Repeated(k)(a),
}
AXES = {
    "sum": lambda x, k: x.sum(axis=k).mean(),
    "max": lambda x, k: np.max(x, axis=k).mean(),
    "mean": lambda x, k: np.mean(x, k)[0] * x[1, 1],
    "stack": lambda x, k: np.stack([x, x * x], axis=k).mean(axis=0)[0].sum(),
    "concatenate": lambda x, k: np.concatenate([x, x * x], k).mean(axis=0).sum(),
    "expand_dims": lambda x, k: np.expand_dims(x, k).mean(axis=0).sum() * x[0, 1],
    "cumsum": lambda x, k: np.cumsum(x, axis=k)[1].sum(),
    "tensordot": lambda x, k: np.sum(np.tensordot(x, x[:, :2].T, axes=1) * x[:, k][:, None]),
    "swapaxes": lambda x, k: np.swapaxes(x, 0, k).mean(axis=0)[0],
    "roll": lambda x, k: np.roll(x, 1, axis=k)[0].sum() * x[1, 0],
}
COMPUTED = {
    "zeros": centroids,
    "eye": lambda x: np.mean(np.eye(Y.max() + 1)[Y] * x[0, 0]),
    "ones": lambda x: np.mean(np.ones(MASK.sum()) * x[0, 0]),
    "prod": lambda x: x.reshape(np.prod(x.shape[:1]), -1).mean(axis=0).sum(),
    "argmax": lambda x: x.mean(axis=np.argmax(x.shape)).sum(),
    "stack": lambda x: np.stack([x, x * x], axis=Y.max()).mean(axis=0).sum(),
    "full": lambda x: np.full(Y.max() + 1, x[0, 0]).mean(),
    "size": lambda x: np.zeros((len(Y) // 2, Y.max())).size * x.sum(),
    "len": lambda x: len(np.ones(Y.max() + 1)) * x.sum(),
    "of the argument": lambda x: np.mean(np.ones(int(x[0, 1])) * x[0, 0]),
}


def check(f, *args):
    """The value is that of the function, and the gradient that of the generic tier."""
    value = f(*args)
    expected = ad.grad(f, tier="generic")(*args)
    for _ in range(2):
        found = ad.withgradient(f, *args)
        assert not difference(found.value, value, rtol=1e-13)
        assert not difference(found.gradient[0], expected, rtol=1e-12)
        y, back = ad.pullback(f, *args)
        assert not difference(y, value, rtol=1e-13)
        assert not difference(back(1.0)[1], expected, rtol=1e-12)
    assert "internal" not in str(ad.tier(f, *args).reason)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("f", LENGTHS.values(), ids=LENGTHS)
def test_lengths(f, kind):
    tier.forget()
    for k in (2, 3, 6, 2):
        check(f, A, kind(k))
        check(lambda a, k=kind(k): f(a, k), A)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("f", AXES.values(), ids=AXES)
def test_axes(f, kind):
    tier.forget()
    for k in (1, 0, 1):
        check(f, X, kind(k))
        check(lambda x, k=kind(k): f(x, k), X)


@pytest.mark.parametrize("f", COMPUTED.values(), ids=COMPUTED)
def test_computed(f):
    check(f, X)


OF_AN_ARRAY = {
    "repeat": lambda x, c: np.repeat(x, c).mean(),
    "repeat, 2": lambda x, c: np.repeat(x, c).size * x.sum(),
    "tile": lambda x, c: np.tile(x, c[:2]).mean() * np.tile(x, c[:2]).size,
    "zeros": lambda x, c: np.zeros(c).size * x.sum(),
    "ones": lambda x, c: np.ones(c[:2]).mean() * x[0] + np.full(c, x[0]).mean(),
    "broadcast_to": lambda x, c: np.broadcast_to(x, c[1:] + np.array([0, 0])).size * x.sum(),
    "reshape": lambda x, c: (
        np.reshape(np.outer(x, x), c * np.array([9, 0, 0]) + np.array([0, 1, 1])).size * x[0]
    ),
    "eye": lambda x, c: np.eye(c[1]).size * x.sum(),
    "roll": lambda x, c: np.roll(x, c[1])[0] * x[1] + np.roll(x, c).std(),
    "take": lambda x, c: np.take(x, c - 1).sum() * x[0],
    "pad": lambda x, c: np.pad(x, c[:2]).size * x.sum(),
    "split": lambda x, c: np.split(x, c[:1])[0].sum() * x[1],
    "delete": lambda x, c: np.delete(x, c[0]).mean(),
    "insert": lambda x, c: np.insert(x, c[1], x[0]).mean(),
    "bincount": lambda x, c: np.bincount(c).size * x.sum(),
    "unique": lambda x, c: np.unique(c).size * x.sum(),
    "diff": lambda x, c: np.diff(x, n=c[1]).mean(),
    "linspace": lambda x, c: np.linspace(0, x[0], c[2]).mean(),
    "arange": lambda x, c: np.arange(c[2]).size * x.sum(),
    "transpose": lambda x, c: np.transpose(np.outer(x, x * x), c[:2] - 1)[0].mean(),
    "a subscript": lambda x, c: x[c > 1].mean(),
    "a subscript, 2": lambda x, c: x[c - 1].mean(),
    "a subscript, 3": lambda x, c: x[: c[1]].mean() * len(x[c[0] :]),
    "tri": lambda x, c: np.tri(c[2]).sum() * x[0],
    "vander": lambda x, c: np.vander(x, c[1]).mean(),
    "triu": lambda x, c: np.triu(np.outer(x, x), c[0]).sum(),
    "diag": lambda x, c: np.diag(x, c[0]).size * x.sum() + np.diagonal(np.outer(x, x), c[0]).mean(),
    "convolve": lambda x, c: np.convolve(x, np.ones(c[1])).mean(),
    "array_split": lambda x, c: np.array_split(x, c[1])[0].mean(),
    "rfft": lambda x, c: np.fft.rfft(x, c[1]).real.mean(),
    "zeros_like": lambda x, c: np.zeros_like(x, shape=c[1]).size * x.sum(),
    "quantile": lambda x, c: np.quantile(x, 0.5, axis=c[0] - 1),
    "axes": lambda x, c: np.max(np.outer(x, x), axis=tuple(c[:1])).mean(),
    "empty": lambda x, c: np.empty(c[1]).size * x.sum(),
    "resize": lambda x, c: np.resize(x, c[1:]).mean(),
    "squeeze": lambda x, c: np.squeeze(x[None], c[0] - 1).mean(),
    "hstack": lambda x, c: np.hstack([x] * c[2]).mean(),
}


@pytest.mark.parametrize("f", OF_AN_ARRAY.values(), ids=OF_AN_ARRAY)
def test_in_an_array(f):
    c = np.array([1, 2, 3])
    check(f, A, c)
    check(lambda a: f(a, c), A)


def in_a_shape(a, n):
    return np.zeros((n, 2)).size + sum([x**n for x in a])


def of_each(a):
    total = 0.0
    for k in range(int(a[1] * 4)):
        total += a[0] ** k / (k + 1)
    return total


def test_an_exponent_that_is_known_decides_for_no_other():
    check(in_a_shape, A, 2)
    check(of_each, A)
    check(of_each, np.array([0.0, 1.0]))


def of_leaves(a, k):
    """Each number up to the k-th power of 2 is a way through the tree."""
    total = 0.0
    for leaf in range(2**k):
        for j in range(k):
            total += (a[1] if leaf >> j & 1 else a[2]) ** 2
    return total


def of_bits(a):
    total = a[0]
    for leaf in range(8):
        for bit in format(leaf, "03b"):
            total = total * a[1] if bit == "0" else total + a[2] / 9
    return total


def test_powers_and_bits():
    tier.forget()
    check(of_bits, A)
    for k in (2, 3, 0, 2):
        check(of_leaves, A, k)
    for f, args in ((of_leaves, (A, 3)), (of_bits, (A,))):
        assert ad.tier(f, *args).tier == "fast"
    with pytest.raises(TypeError, match="'float' object cannot be interpreted as an integer"):
        ad.gradient(of_leaves, A, -1)
