"""`adjoint.rules.scipy.spatial`: rotations, and nearest points."""

import pickle

import numpy as np
import pytest
from scipy import spatial
from scipy.spatial import distance
from scipy.spatial.transform import Rotation, Slerp, _rotation

import adjoint as ad
from adjoint.errors import NoDerivativeError
from adjoint.rules.scipy.spatial.rotations import IN_PYTHON, nearest_rotation
from adjoint.testing import check_gradient
from tests.rules.harness import reals, table
from tests.support import check_reverse

VECTORS, OTHERS = reals(3, 3), reals(3, 3, seed=1)
MATRICES = Rotation.from_rotvec(VECTORS).as_matrix()

CASES = {nearest_rotation: [(MATRICES,), (MATRICES + 0.1 * OTHERS[:, :, None],), (MATRICES[0],)]}
test_rule = table(CASES)

in_python = pytest.mark.skipif(
    IN_PYTHON is None or not hasattr(_rotation, "select_backend"),
    reason="SciPy's class is in C",
)
of = Rotation.from_rotvec
ROTATED = {
    "quaternion": lambda v, w: Rotation.from_quat(np.concatenate([v, w[:, :1]], 1)).as_quat(),
    "scalar first": lambda v, w: Rotation.from_quat(
        np.concatenate([v, w[:, :1]], 1), scalar_first=True
    ).as_quat(canonical=True, scalar_first=True),
    "matrix": lambda v, w: of(v).as_matrix(),
    "from a matrix": lambda v, w: Rotation.from_matrix(MATRICES + 0.1 * v[:, :, None]).as_quat(),
    "exactly": lambda v, w: Rotation.from_matrix(MATRICES + 0.0 * v[:, :, None]).as_matrix() * v,
    "vector": lambda v, w: (of(v) * of(w)).as_rotvec(),
    "degrees": lambda v, w: Rotation.from_rotvec(v, degrees=True).as_rotvec(degrees=True),
    "Euler": lambda v, w: Rotation.from_euler("xyz", v).as_euler("ZXZ"),
    "Euler, intrinsic": lambda v, w: Rotation.from_euler("XZY", v).as_euler("yxz"),
    "one axis": lambda v, w: Rotation.from_euler("z", v[:, :1], degrees=True).as_matrix(),
    "Rodrigues": lambda v, w: Rotation.from_mrp(0.3 * v).as_mrp(),
    "applied": lambda v, w: of(v).apply(w),
    "applied backwards": lambda v, w: of(v).apply(w, inverse=True),
    "one": lambda v, w: of(v[0]).apply(w),
    "inverse": lambda v, w: of(v).inv().as_quat(),
    "power": lambda v, w: (of(v) ** w[0, 0]).as_matrix(),
    "magnitude": lambda v, w: of(v).magnitude(),
    "mean": lambda v, w: of(0.5 * v).mean(np.abs(w[0])).as_matrix(),
    "aligned": lambda v, w: Rotation.align_vectors(v, w)[0].as_matrix(),
    "residual": lambda v, w: Rotation.align_vectors(v, w)[1],
    "element": lambda v, w: of(v)[1].as_matrix(),
    "joined": lambda v, w: Rotation.concatenate([of(v), of(w[0])]).as_matrix(),
    "reduced": lambda v, w: of(v).reduce(of(w), of(np.eye(3))).as_matrix(),
    "interpolated": lambda v, w: Slerp([0.0, 1.0, 2.0], of(v))(np.abs(w[0]) / 2).as_matrix(),
    "small": lambda v, w: (of(1e-5 * v) * of(1e-5 * w)).as_rotvec(),
}  # fmt: skip


@in_python
@pytest.mark.parametrize("name", ROTATED)
def test_rotations(name):
    check_reverse(ROTATED[name], VECTORS, OTHERS, rtol=1e-5, atol=1e-8)


@in_python
def test_no_rotation_at_all():
    (bar,) = ad.gradient(lambda v: of(v).as_rotvec()[1], np.zeros(3))
    np.testing.assert_array_equal(bar, [0.0, 1.0, 0.0])
    (bar,) = ad.gradient(lambda v: of(v).as_matrix()[0, 2], np.zeros(3))
    np.testing.assert_array_equal(bar, [0.0, 1.0, 0.0])


# ---- nearest points ------------------------------------------------------------------------------

PLACES, ASKED = reals(8, 2), reals(5, 2, seed=1)
TREE, TORUS = spatial.KDTree(PLACES), spatial.KDTree(PLACES % 1.0, boxsize=1.0)
QUERIES = {
    "nearest": lambda x: TREE.query(x)[0],
    "several": lambda x: TREE.query(x, k=3, p=3.0)[0],
    "chosen": lambda x: TREE.query(x, k=[1, 3], p=np.inf)[0],
    "missing": lambda x: np.minimum(TREE.query(x, 3, distance_upper_bound=1.0)[0], 5.0),
    "one": lambda x: TREE.query(x[0])[0],
    "torus": lambda x: TORUS.query(x, 2)[0],
    "older": lambda x: spatial.cKDTree(PLACES).query(x)[0],
}


@pytest.mark.parametrize("name", QUERIES)
def test_queries(name):
    check_reverse(QUERIES[name], ASKED)


def one_by_one(x, q):
    tree = spatial.KDTree(x)
    return [tree.query(one, k=2)[0] for one in q]


def written_later(x, q):
    x = x.copy()
    tree = spatial.cKDTree(x)
    places, y = tree.data, tree.query(q)[0]
    x[0] = places[1] * 2.0
    return y.sum() * tree.data, places


class Weighted(spatial.KDTree):
    def __init__(self, x):
        super().__init__(x)
        self.weight = np.sum(x)


GROWN = {
    "nearest": lambda x, q: spatial.KDTree(x).query(q)[0],
    "several": lambda x, q: spatial.KDTree(x).query(q, k=3, p=3.0)[0],
    "older": lambda x, q: spatial.cKDTree(x, leafsize=2).query(q, [2])[0],
    "copied": lambda x, q: spatial.KDTree(x, copy_data=True).query(q, p=1.0)[0],
    "every other": lambda x, q: spatial.KDTree(x[::2]).query(q)[0],
    "listed": lambda x, q: spatial.KDTree([[x[0, 0], x[0, 1]], [x[1, 0], 1.0]]).query(q)[0],
    "torus": lambda x, q: spatial.KDTree(x % 1.0, boxsize=1.0).query(q % 1.0)[0],
    "its data": lambda x, q: spatial.KDTree(x).data ** 2,
    "one by one": one_by_one,
    "derived": lambda x, q: (tree := Weighted(x)).query(q)[0] * tree.weight,
    "written later": written_later,
    "in a ball": lambda x, q: [
        q[i] - x[near] for i, near in enumerate(spatial.KDTree(x).query_ball_point(q, 1.0))
    ],
}


@pytest.mark.parametrize("name", GROWN)
def test_trees_of_points_with_derivatives(name):
    check_gradient(GROWN[name], PLACES, ASKED)


def test_distances_by_hand():
    q_bar, x_bar = np.zeros_like(ASKED), np.zeros_like(PLACES)
    y, near = TREE.query(ASKED)
    for i, j in enumerate(near):
        q_bar[i] = (ASKED[i] - PLACES[j]) / y[i]
        x_bar[j] -= q_bar[i]
    bars = ad.gradient(lambda q, x: np.sum(spatial.KDTree(x).query(q)[0]), ASKED, PLACES)
    np.testing.assert_allclose(bars[0], q_bar)
    np.testing.assert_allclose(bars[1], x_bar)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: spatial.KDTree(x).mins,
        lambda x: spatial.KDTree(PLACES % 1.0, boxsize=3.0 + x[0]).query(ASKED % 1.0)[0],
        lambda x: pickle.loads(pickle.dumps(spatial.KDTree(x))).query(ASKED)[0],
    ],
    ids=["bounds", "box", "pickled"],
)
def test_what_else_a_tree_makes_of_its_points_is_refused(f):
    with pytest.raises(NoDerivativeError, match="getattr|box|pickle"):
        ad.gradient(lambda x: np.sum(f(x)), PLACES)
    with pytest.raises(NoDerivativeError, match="getattr|box|pickle"):
        ad.pushforward(f, (PLACES,), (PLACES,))


KINDS = {
    "dok_matrix": lambda y: y.toarray(),
    "coo_matrix": lambda y: y.toarray(),
    "dict": lambda y: sum(y.values()),
    "ndarray": lambda y: y["v"],
}


@pytest.mark.parametrize("kind", KINDS)
def test_distances_of_pairs(kind):
    for p in (2.0, 3.0):

        def distances(x, y):
            tree, other = spatial.KDTree(x), spatial.KDTree(y)
            return KINDS[kind](tree.sparse_distance_matrix(other, 1.5, p, kind))

        steps, h = (reals(8, 2, seed=2), reals(5, 2, seed=3)), 1e-6
        y, y_dot = ad.pushforward(distances, (PLACES, ASKED), steps)
        ahead, behind = (distances(PLACES + t * steps[0], ASKED + t * steps[1]) for t in (h, -h))
        np.testing.assert_array_equal(y, distances(PLACES, ASKED))
        np.testing.assert_allclose(y_dot, (ahead - behind) / (2 * h), atol=1e-8)
        check_reverse(distances, PLACES, ASKED)


def test_hausdorff():
    check_reverse(lambda a, b: distance.directed_hausdorff(a, b)[0], PLACES, ASKED)
