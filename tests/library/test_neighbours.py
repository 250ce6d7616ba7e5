"""scikit-learn's trees, which return arrays of objects: lists of neighbours are integers, lists of
distances are refused where they are used, and only there."""

import numpy as np
import pytest
from sklearn.neighbors import KDTree, RadiusNeighborsRegressor

import adjoint as ad
from adjoint.errors import AdjointError
from adjoint.testing import check_gradient
from tests.library.registry import reals

pytestmark = pytest.mark.usefixtures("little_to_look_at")

X, Y, Q = reals(12, 3), reals(12, seed=1), reals(4, 3, seed=2)
TREE = KDTree(X)


def test_means_of_neighbours():
    check_gradient(lambda x, y, q: RadiusNeighborsRegressor(3.0).fit(x, y).predict(q), X, Y, Q)


def test_lists_of_neighbours():
    def value(q):
        near = np.hstack([TREE.query_radius(q, 2.0), TREE.query_radius(0.5 * q, 3.0)])
        return sum(np.sum(q[list_of_near % 4] ** 2) for list_of_near in near)

    check_gradient(value, Q)


@pytest.mark.parametrize("joined", [lambda x: np.hstack([x, x]), lambda x: np.concatenate([x])])
def test_lists_of_distances_are_refused(joined):
    def lengths(q):
        near, far = TREE.query_radius(q, 2.0, return_distance=True)
        return len(near[0]) * np.sum(q**2), joined(far)

    check_gradient(lambda q: lengths(q)[0], Q)
    for differentiate in (ad.gradient, lambda f, q: ad.pushforward(f, (q,), (q,)), ad.hessian):
        with pytest.raises(AdjointError, match="is needed, which|of dtype object"):
            differentiate(lambda q: np.sum(lengths(q)[1][0]), Q)
