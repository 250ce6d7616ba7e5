"""`adjoint.rules.scipy.distance`."""

import numpy as np
import pytest
from scipy.spatial import distance

import adjoint as ad
from adjoint.rules.registry import rrule
from tests.rules.harness import case, reals, table

METRICS = ["euclidean", "sqeuclidean", "cityblock", "chebyshev", "minkowski", "cosine"]
METRICS += ["correlation", "SqE", distance.euclidean]
A, B, C = reals(4, 3), reals(5, 3, seed=1), reals(4, 3).astype(np.float32)

CASES = {
    distance.cdist: [
        *((A, B, metric) for metric in METRICS),
        case(A, B, "minkowski", p=3.5),
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
    ],
    distance.squareform: [(reals(6),), (reals(1),), (reals(4, 4), "no", False)],
}
test_rule = table(CASES)


def test_a_point_and_itself():
    for metric in ("euclidean", "chebyshev", "minkowski"):
        (bar,) = ad.gradient(lambda x: distance.cdist(x, x, metric).sum(), np.ones((2, 3)))
        np.testing.assert_array_equal(bar, 0.0)


def test_farthest_coordinates_share():
    (bar,) = ad.gradient(lambda x: distance.pdist(x, "chebyshev").sum(), np.eye(2))
    np.testing.assert_array_equal(bar, [[0.5, -0.5], [-0.5, 0.5]])


@pytest.mark.parametrize("metric", ["canberra", "jensenshannon", lambda a, b: a @ b])
def test_other_metrics_are_declined(metric):
    assert rrule(distance.cdist, np.abs(A), np.abs(B), metric) is None


def test_metrics_of_the_users_are_differentiated():
    ad.testing.check_gradient(lambda x: distance.cdist(x, B, lambda a, b: a @ b), A)
