"""`adjoint.rules.scipy.spatial.triangulations`: linear interpolation by hand, and neighbours."""

import numpy as np
import pytest
from scipy.spatial import Delaunay

import adjoint as ad
from adjoint.errors import NoDerivativeError
from adjoint.testing import check_gradient
from tests.rules.harness import reals

PLACES, HEIGHTS = reals(8, 2, seed=3), reals(8, seed=1)
INSIDE = np.array([[0.1, 0.2], [-0.3, 0.15], [0.25, -0.2]])


def shares(tri, q):
    """Which corners a point lies between, and how near it is to each."""
    s = tri.find_simplex(q)
    assert (s >= 0).all()
    t = tri.transform[s]
    b = np.einsum("nij,nj->ni", t[:, :2], q - t[:, 2])
    return tri.simplices[s], np.c_[b, 1 - b.sum(axis=1)]


def interpolated(v, q):
    corners, parts = shares(Delaunay(PLACES), q)
    return (parts * v[corners]).sum(axis=1)


def neighbours(v):
    tri = Delaunay(PLACES)
    tri.find_simplex(INSIDE)
    starts, others = tri.vertex_neighbor_vertices
    near = [v[others[i:j]].sum() for i, j in zip(starts[:-1], starts[1:], strict=True)]
    return v * np.array(near) * v[tri.convex_hull].sum() * v[tri.vertex_to_simplex[:8] % 8]


def test_made_inside():
    check_gradient(interpolated, HEIGHTS, INSIDE)
    check_gradient(neighbours, HEIGHTS)


def test_used_twice():
    def value(v, q):
        tri = Delaunay(PLACES, incremental=True)
        first, parts = shares(tri, q)
        second, others = shares(tri, 0.5 * q)
        return (parts * v[first]).sum(axis=1) * (others * v[second]).sum(axis=1)

    check_gradient(value, HEIGHTS, INSIDE)


@pytest.mark.parametrize("n", [2, 3])
def test_points_that_move(n):
    """Right in forward mode, where C holds the points themselves, and refused in reverse."""
    points, q = reals(9, n, seed=3), 0.1 * np.arange(n)[None]
    direction, step = np.cos(points), 1e-6

    def value(points):
        tri = Delaunay(points)
        t = tri.transform[tri.find_simplex(q)]
        return np.einsum("nij,nj->ni", t[:, :n], q - t[:, n])

    expected = (value(points + step * direction) - value(points - step * direction)) / (2 * step)
    found = ad.pushforward(value, (points,), (direction,))
    np.testing.assert_array_equal(found[0], value(points))
    np.testing.assert_allclose(found[1], expected, rtol=1e-6, atol=1e-8)
    with pytest.raises(NoDerivativeError, match="Delaunay"):
        ad.gradient(lambda points: value(points).sum(), points)


def test_simplices_without_content_have_no_coordinates():
    points = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 1.0]])

    def transform(p):
        return Delaunay(p, qhull_options="QJ Pp").transform

    y, y_dot = ad.pushforward(transform, (points,), (points,))
    flat = np.isnan(transform(points)).all(axis=(1, 2))
    assert flat.any() and not flat.all()
    np.testing.assert_array_equal(y, transform(points))
    inverse, last = np.split(y[~flat], [2], axis=1)
    np.testing.assert_allclose(y_dot[~flat], np.concatenate([-inverse, last], axis=1), atol=1e-12)
