"""`adjoint.rules.scipy.spatial.distance`."""

import numpy as np
import pytest
from scipy.spatial import distance

import adjoint as ad
from adjoint.rulekit.registry import rrule
from adjoint.rules.scipy.spatial import differences
from adjoint.rules.scipy.spatial.differences import products, weighted
from adjoint.rules.scipy.spatial.distance import between, within
from tests.rules.harness import case, reals, table
from tests.support import check_reverse

METRICS = ["euclidean", "sqeuclidean", "cityblock", "chebyshev", "minkowski", "cosine"]
METRICS += ["correlation", "SqE", distance.euclidean, "braycurtis", "canberra"]
WEIGHTED = "braycurtis canberra chebyshev cityblock euclidean minkowski sqeuclidean".split()
A, B, C = reals(4, 3), reals(5, 3, seed=1), reals(4, 3).astype(np.float32)
W = np.array([0.5, 1.5, 2.0])
SKEW = np.array([[2.0, 0.3, 0.1], [0.2, 1.5, 0.2], [0.0, 0.1, 1.0]])

CASES = {
    distance.cdist: [
        *((A, B, metric) for metric in METRICS),
        case(A, B, "minkowski", p=3.5),
        (abs(A), abs(B), "jensenshannon"),
        (A, B),
        (C, B),
        (A.tolist(), B),
        (np.arange(6).reshape(2, 3), B),
    ],
    distance.pdist: [
        *((A, metric) for metric in METRICS),
        case(A, metric="minkowski", p=3.5),
        (A,),
        (A[:2],),
        (abs(A), "js"),
    ],
    between: [
        *((A, B, W, None, metric) for metric in WEIGHTED),
        (A, B, W, 2.5, "minkowski"),
        (A, B, W, None, "seuclidean"),
        (A, B, SKEW, None, "mahalanobis"),
    ],
    within: [
        *((A, W, None, metric) for metric in WEIGHTED),
        (A, W, 2.5, "minkowski"),
        (A, W, None, "seuclidean"),
        (A, SKEW, None, "mahalanobis"),
    ],
    distance.squareform: [
        (reals(6),),
        (reals(1),),
        (reals(4, 4), "no", False),
        (reals(1, 1), "no", False),
    ],
    weighted: [(reals(4, 5), A, B), (reals(1, 5), A[:1], B)],
    products: [(A, B, reals(4, 3, seed=2), reals(5, 3, seed=3))],
}
test_rule = table(CASES)


def test_a_point_and_itself():
    for metric in ("euclidean", "chebyshev", "minkowski"):
        (bar,) = ad.gradient(lambda x: distance.cdist(x, x, metric).sum(), np.ones((2, 3)))
        np.testing.assert_array_equal(bar, 0.0)


def test_points_are_taken_in_blocks(monkeypatch):
    a, b, found = reals(9, 3), reals(7, 3, seed=1), []
    for most in (2**18, 40, 1):
        monkeypatch.setattr(differences, "MOST", most)
        found.append(ad.gradient(lambda x, y: (distance.cdist(x, y) ** 3).sum(), a, b))
        found[-1] += (ad.hvp(lambda x: (distance.pdist(x) ** 3).sum(), a, b[[0] * 9]),)
    for some in found[1:]:
        for one, other in zip(some, found[0], strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)
    empty = ad.gradient(lambda x: distance.cdist(x, b).sum(), np.zeros((0, 3)))[0]
    assert empty.shape == (0, 3)


def test_points_that_are_close_to_each_other():
    """Differences are taken before they are summed up, so that no digits are lost."""
    x = np.array([[1e6, 2e6], [1e6 + 2.0**-20, 2e6]])
    (bar,) = ad.gradient(lambda x: distance.pdist(x)[0], x)
    np.testing.assert_allclose(bar, [[-1.0, 0.0], [1.0, 0.0]], rtol=1e-12)


def test_farthest_coordinates_share():
    (bar,) = ad.gradient(lambda x: distance.pdist(x, "chebyshev").sum(), np.eye(2))
    np.testing.assert_array_equal(bar, [[0.5, -0.5], [-0.5, 0.5]])


@pytest.mark.parametrize("metric", ["seuclidean", "mahalanobis", "yule", lambda a, b: a @ b])
def test_other_metrics_are_declined(metric):
    assert rrule(distance.cdist, np.abs(A), np.abs(B), metric) is None


def test_metrics_of_the_users_are_differentiated():
    check_reverse(lambda x: distance.cdist(x, B, lambda a, b: a @ b), A)


@pytest.mark.parametrize("metric", [*WEIGHTED, "cosine", "correlation"])
def test_weights(metric):
    check_reverse(lambda a, b, w: distance.cdist(a, b, metric, w=w), A, B, W)
    check_reverse(lambda a, w: distance.pdist(a, metric, w=w), A, W)


@pytest.mark.parametrize("named", [{}, {"w": W}], ids=["plain", "weighted"])
def test_the_order(named):
    check_reverse(lambda a, b, p: distance.cdist(a, b, "minkowski", p=p, **named), A, B, 2.5)
    check_reverse(lambda a, p: distance.pdist(a, "minkowski", p=p, **named), A, 2.5)


def test_variances_of_the_points():
    """SciPy takes them from the points where none are given."""
    check_reverse(lambda a, b: distance.cdist(a, b, "seuclidean"), A, B)
    check_reverse(lambda a: distance.pdist(a, "mahalanobis"), B)
    check_reverse(lambda a, v: distance.pdist(a, "seuclidean", V=v), A, W)
    check_reverse(lambda a, v: distance.pdist(a, "mahalanobis", VI=v), A, SKEW)


def test_results_that_are_given():
    def into(a, b):
        out = np.empty((4, 5))
        distance.cdist(a, b, "canberra", out=out)
        return out

    check_reverse(into, A, B)
