"""Lengths of results: nothing is taken for a constant that is none."""

import itertools
import warnings

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.build.modes import GRADIENT
from adjoint.fast.programs import store as tier


def agree(f, *points):
    """Value and gradient of a function of arrays in both tiers, at points of several sizes."""
    tier.forget()
    wanted = tuple(range(len(points[0])))
    for args in points:
        y, bars = ad.value_and_grad(f, wanted)(*args)
        expected, known = ad.value_and_grad(f, wanted, tier="generic")(*args)
        assert y == pytest.approx(expected, rel=1e-12) and y == pytest.approx(f(*args), rel=1e-12)
        for bar, other in zip(bars, known, strict=True):
            np.testing.assert_allclose(bar, other, rtol=1e-9)


def arrays(*lengths):
    return tuple(np.arange(1.0, n + 1) / (i + 2) for i, n in enumerate(lengths))


THREE = arrays(4, 3, 2), arrays(5, 9, 7), arrays(2, 2, 2), arrays(30, 40, 50)


@pytest.mark.parametrize("join", [np.concatenate, np.hstack])
def test_joined_arrays(join):
    agree(lambda x, y, z: np.mean(join([x, y, z]) ** 2), *THREE)
    agree(lambda x, y: np.mean(join([x, y, y, y, y])), arrays(4, 3), arrays(7, 5))
    agree(lambda x: np.mean(join([x[:1], x[1:-1], x[-1:]])), *[arrays(n) for n in (6, 9, 3, 40)])


def test_branches_on_lengths():
    def f(x, y, z):
        whole = np.concatenate([x, y, z])
        return x[0] * 2 if len(whole) > 10 and whole.size == whole.shape[0] else x[0] * 3

    agree(f, *THREE)

    def g(x):
        parts = {"W": np.outer(x, x), "b": x[:3], "c": x[1:]}
        return np.mean(np.concatenate([part.ravel() for part in parts.values()]) ** 2)

    agree(g, *[arrays(n) for n in (3, 5, 12)])


def test_tables_one_below_the_other():
    def f(a, b):
        return np.concatenate([a, b]).shape[0] * np.mean(np.vstack([a, b]))

    agree(f, (np.ones((2, 4)), np.ones((3, 4))), (np.ones((5, 4)), np.ones((6, 4))))
    shapes = (2, 4, 5, 6), (3, 4, 5, 6)
    agree(lambda a, b: np.mean(np.concatenate([a, b]) ** 2), tuple(map(np.ones, shapes)))


CUT = [
    lambda x: np.mean(x[np.arange(0, len(x), 16)]),
    lambda x: np.sum(x[np.arange(0, len(x), 12)]) * len(np.arange(0, len(x), 50)),
    lambda x: len(np.arange(11, len(x))) * x[0],
    lambda x: len(np.diff(x, 11)) + x[0],
    lambda x: len(np.diff(x, 40)) + x[0],
    lambda x: len(np.diag(np.outer(x, x), 12)) + x[0],
    lambda x: np.sum(np.diag(np.outer(x, x[1:]), 2)),
    lambda x: np.sum(np.diag(np.outer(x, x[1:]), -12)),
]


@pytest.mark.parametrize("f", CUT)
def test_what_is_cut_off(f):
    agree(f, *[arrays(n) for n in (40, 13, 60, 100)])


def test_long_steps():
    f = lambda x: len(np.arange(0, len(x), 5000)) * x[0]
    agree(f, arrays(6000), arrays(4000))
    assert ad.tier(f, *arrays(6000)).tier == "fast"


TABLE = [(np.arange(1.0, 4 * n + 1).reshape(n, 4) / 7,) for n in (3, 5)]


@pytest.mark.parametrize(
    "f",
    [
        lambda a: np.sum(np.squeeze(a[:1]) * a[0]),
        lambda a: np.sum(a[-1:].squeeze() * a[0]),
        lambda a: np.sum((np.squeeze(a[:1]) + a[1]) ** 2),
        lambda a: np.sum(np.squeeze(a[:1] @ a.T) * a[:, 0]),
        lambda a: np.sum(np.where(a[0] > 0.3, np.squeeze(a[:1]), a[1])),
        lambda a: np.sum(np.squeeze(a[:1]) * 2) if np.squeeze(a[:1]).ndim == 1 else np.sum(a),
        lambda a: np.sum(np.squeeze(a[:1], axis=0) * a[0]),
        lambda a: np.sum(np.squeeze(a[:1], axis=None) * a[0]) * np.squeeze(a[:1], None).ndim,
        lambda a: np.sum(a[:1].squeeze(None) * a[0]) * a[:1].squeeze(axis=None).ndim,
        lambda a: np.sum(np.squeeze(a[:1][np.newaxis]) * np.squeeze(a[np.newaxis])),
    ],
)
def test_axes_that_may_have_one_element(f):
    agree(f, *TABLE)


def test_what_has_one_element_at_some_sizes():
    def f(x):
        difference = np.squeeze(np.diff(x))
        return x[0] * (difference.ndim + 1) + np.sum(np.squeeze(np.outer(x[2:], x)))

    agree(f, *[arrays(n) for n in (5, 3, 7)])


SHORT = [arrays(n) for n in (4, 2, 3, 7)]


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.mean(np.diag(np.stack([x, 2 * x, 3 * x], axis=1))),
        lambda x: np.mean(np.diag(np.outer(x[1:], [1.0, 2.0]))),
        lambda x: x[0] * len(np.diag(np.stack([x, x, x]))),
        lambda x: np.mean(np.diag(np.zeros((len(x), 3)) + x[:, None], -1)) if len(x) > 2 else x[0],
        lambda x: x[0] * len(np.arange(len(x), 3)),
        lambda x: x[0] * (1 + np.arange(len(x), 3).size) if np.arange(len(x), 3).size else x[1],
        lambda x: x[0] * len(np.arange(0, 3, len(x))),
        lambda x: x[0] * len(np.arange(0.0, 2.5, len(x))),
        lambda x: x[0] * len(np.zeros(np.arange(len(x[1:]), 2).shape)),
        lambda x: np.sum(np.diff(np.stack([x, x * x], axis=1), axis=0) @ np.ones((2, 3))),
        lambda x: np.mean(np.diff(np.outer(x, [1.0, 2.0, 4.0]), 1, 1)),
    ],
)
def test_what_is_cut_off_by_what_is_short(f):
    agree(f, *SHORT)


TABLES = [(np.arange(1.0, 41.0).reshape(5, 8) / 7, z) for (z,) in map(arrays, (3, 2, 6))]


@pytest.mark.parametrize(
    "f",
    [
        lambda a, z: a[0, 0] * (1 + np.diff(a, len(z), axis=1).shape[1]),
        lambda a, z: a[0, 0] * (1 + np.diff(a, len(z), axis=0).size),
        lambda a, z: a[0, 0] * (1 + len(np.diag(a, len(z)))),
        lambda a, z: np.sum(np.diag(a)) + np.sum(np.diff(a, axis=0)[:, :2]),
        lambda a, z: np.mean(np.diag(np.outer(a[0], z))) + a.shape[0],
    ],
)
def test_what_is_cut_off_by_the_length_of_another(f):
    agree(f, *TABLES)


def test_real_arrays_beside_complex_ones():
    """No imaginary part is cast away, of which NumPy warns."""
    x, y = np.array([1.0 + 2.0j, 0.5 - 1.0j]), np.array([1.0, 2.0, 3.0])
    f = lambda x, y: np.abs(np.sum(x[:, None] * y)) + np.abs(np.sum(x[0] + y))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _, bars = ad.value_and_grad(f, (0, 1))(x, y)
    assert ad.tier(f, x, y).tier == "fast"
    expected = ad.value_and_grad(f, (0, 1), tier="generic")(x, y)[1]
    for bar, other in zip(bars, expected, strict=True):
        np.testing.assert_allclose(bar, other, rtol=1e-12)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(np.diff(x) * x[1:]) + np.sum(np.diff(x, 2) / (1 + x[1:-1])),
        lambda x: np.sum(np.arange(1, len(x)) * x[1:]),
        lambda x: np.sum(np.concatenate([x, x[1:]]) * np.concatenate([x[1:], x])),
        lambda x: np.sum(np.outer(x, x).ravel().reshape(len(x), -1) @ x),
        lambda x: np.sum(np.repeat(x, 2).reshape(-1, 2)[:, 0] * x),
        lambda x: np.sum(np.diag(np.outer(x, x)) * x) + np.sum(np.tile(x, 2) * np.repeat(x, 2)),
        lambda x: np.sum(np.kron(x, x) * np.outer(x, x).ravel()),
        lambda x: np.sum(x[: 2 * (len(x) // 2)].reshape(-1, 2).sum(axis=1) ** 2),
    ],
)
def test_equal_lengths_by_other_ways(f):
    """Lengths that follow from others in the same way are known to be equal; one program does for
    all sizes."""
    sizes = [arrays(n) for n in (4, 2, 3, 7)]
    agree(f, *sizes)
    assert ad.tier(f, *sizes[0]).tier == "fast"
    known = tier.known(f, GRADIENT)
    assert known is not None and len(known.entries) == 1


def test_pairs_of_rows():
    distance = pytest.importorskip("scipy.spatial.distance")

    def kernel(x):
        k = distance.squareform(np.exp(-distance.pdist(x, "sqeuclidean")))
        np.fill_diagonal(k, 1.0)
        return np.mean(k @ x) + len(k) * k[0, 1]

    def along(x):
        return np.mean(distance.squareform(distance.pdist(x)[1:-2] ** 2))

    rng = np.random.default_rng(0)
    points = [(rng.normal(size=shape),) for shape in ((5, 2), (3, 4), (8, 1), (2, 3))]
    agree(kernel, *points)
    assert "fast tier" in str(ad.tier(kernel, *points[0]))
    agree(along, (rng.normal(size=(4, 2)),))


def test_lengths_that_follow_from_one_another():
    agree(
        lambda x: np.mean(np.interp(x[1:], np.cumsum(x[:-1] ** 2), x[1:])),
        *[arrays(n) for n in (5, 9, 3)],
    )
    agree(lambda x: np.mean(np.convolve(x[2:], x[:-1])), *[arrays(n) for n in (7, 4, 3)])


def test_lists_as_long_as_the_shorter_one():
    def images(room, mic):
        total = 0.0
        for n in itertools.product(range(2), repeat=3):
            at = [k * length for k, length in zip(n, room)]  # noqa: B905  where it is shorter
            total += np.linalg.norm(np.array(at) - mic)
        return total

    agree(images, arrays(3, 3), arrays(2, 2), arrays(5, 3))
    assert ad.tier(images, *arrays(3, 3)).tier == "fast"
