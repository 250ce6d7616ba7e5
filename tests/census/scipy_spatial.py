"""`scipy.spatial`: distances, rotations, trees and hulls."""

from __future__ import annotations

import numpy as np
from scipy import spatial
from scipy.spatial import distance, transform
from scipy.spatial.transform import RigidTransform, Rotation

from tests.census.entries import Section, case, methods_of, public, via
from tests.rules.harness import reals

A, B, PLANE = reals(4, 3), reals(5, 3, seed=1), reals(7, 2)
U, V, W = reals(4, low=0.2), reals(4, low=0.2, seed=1), reals(4, low=0.3, seed=2)
TRUE, FALSE = np.array([1, 0, 1, 1], bool), np.array([1, 1, 0, 1], bool)
VARIANCES = np.array([[2.0, 0.3, 0.1], [0.3, 1.5, 0.2], [0.1, 0.2, 1.0]])
ANGLES, ONE = reals(3, 3), reals(3, seed=5)
TREE = spatial.KDTree(A)
OF_INTEGERS = "it returns integers or truth values"
DRAWS = "it plots"


def unit(x):
    return x / np.sqrt(np.sum(x * x))


EXAMPLES = {
    "ConvexHull": via(lambda x: spatial.ConvexHull(x).volume, PLANE),
    "HalfspaceIntersection": via(
        lambda h: spatial.HalfspaceIntersection(h, np.zeros(2)).intersections,
        np.array([[-1.0, 0.1, -1.0], [1.0, 0.0, -1.0], [0.2, -1.0, -1.0], [0.0, 1.0, -1.0]]),
    ),
    "KDTree": via(lambda x: TREE.query(x)[0], B),
    "Rectangle": via(
        lambda x: spatial.Rectangle(x[0] + 3.0, x[0]).min_distance_point(x[1] - 5.0), A
    ),
    "SphericalVoronoi": via(
        lambda x: spatial.SphericalVoronoi(x / np.linalg.norm(x, axis=1)[:, None])
        .calculate_areas(),
        reals(6, 3),
    ),
    "Voronoi": via(lambda x: spatial.Voronoi(x).vertices, PLANE),
    "cKDTree": via(lambda x: spatial.cKDTree(A).query(x)[0], B),
    "distance_matrix": case(A, B),
    "geometric_slerp": via(
        lambda a, b: spatial.geometric_slerp(unit(a), unit(b), np.array([0.3, 0.6])), A[0], A[1]
    ),
    "minkowski_distance": case(A, B[:4], 3),
    "minkowski_distance_p": case(A, B[:4], 3),
    "procrustes": via(lambda a, b: spatial.procrustes(a, b)[2], A, B[:4]),
}  # fmt: skip

BOOLEAN = "dice hamming jaccard rogerstanimoto russellrao sokalsneath yule"
DISTANCES = {
    **{
        name: case(U, V)
        for name in """
            braycurtis canberra chebyshev cityblock correlation cosine euclidean jensenshannon
            minkowski sqeuclidean
        """.split()
    },
    **{
        name: via(lambda w, f=getattr(distance, name): f(TRUE, FALSE, w=w), W)
        for name in BOOLEAN.split()
    },
    "directed_hausdorff": via(lambda a, b: distance.directed_hausdorff(a, b)[0], A, B),
    "mahalanobis": case(A[0], A[1], VARIANCES),
    "seuclidean": case(U, V, W),
}

of = Rotation.from_rotvec
TRANSFORMS = {
    "RigidTransform": via(
        lambda r, t: RigidTransform.from_components(t, of(r)).apply(B), ANGLES[0], ONE
    ),
    "Rotation": via(lambda r: of(r).apply(ONE), ANGLES),
    "RotationSpline": via(
        lambda r, t: transform.RotationSpline([0.0, 1.0, 2.0], of(r))(t).as_matrix(), ANGLES, 1.3,
    ),
    "Slerp": via(
        lambda r, t: transform.Slerp([0.0, 1.0, 2.0], of(r))(t).as_matrix(), ANGLES, 1.3
    ),
}  # fmt: skip

ROTATIONS = {
    "align_vectors": via(lambda a, b: Rotation.align_vectors(a, b)[0].as_matrix(), A, B[:4]),
    "apply": via(lambda r, x: of(r).apply(x), ANGLES, ONE),
    "as_davenport": via(lambda r: of(r).as_davenport(np.eye(3), "extrinsic"), ANGLES),
    "as_euler": via(lambda r: of(r).as_euler("xyz"), ANGLES),
    "as_matrix": via(lambda r: of(r).as_matrix(), ANGLES),
    "as_mrp": via(lambda r: of(r).as_mrp(), ANGLES),
    "as_quat": via(lambda r: of(r).as_quat(), ANGLES),
    "as_rotvec": via(lambda r: of(r).as_rotvec(), ANGLES),
    "concatenate": via(lambda r: Rotation.concatenate([of(r), of(r[0])]).as_matrix(), ANGLES),
    "from_davenport": via(
        lambda a: Rotation.from_davenport(np.eye(3), "extrinsic", a).as_matrix(), ONE
    ),
    "from_euler": via(lambda a: Rotation.from_euler("zyx", a).as_matrix(), ANGLES),
    "from_matrix": via(lambda m: Rotation.from_matrix(m).as_matrix(), VARIANCES),
    "from_mrp": via(lambda r: Rotation.from_mrp(r).as_matrix(), ANGLES),
    "from_quat": via(lambda q: Rotation.from_quat(q).as_matrix(), U),
    "from_rotvec": via(lambda r: of(r).as_quat(), ANGLES),
    "inv": via(lambda r: of(r).inv().as_matrix(), ANGLES),
    "magnitude": via(lambda r: of(r).magnitude(), ANGLES),
    "mean": via(lambda r: of(0.5 * r).mean().as_matrix(), ANGLES),
    "reduce": via(lambda r: of(r).reduce(of(np.eye(3))).as_matrix(), ANGLES),
}


def rigid(r, t):
    return RigidTransform.from_components(t, of(r))


POSED = ANGLES[0], ONE
RIGID = {
    "apply": via(lambda r, t, x: rigid(r, t).apply(x), *POSED, B),
    "as_components": via(lambda r, t: rigid(r, t).as_components()[0], *POSED),
    "as_dual_quat": via(lambda r, t: rigid(r, t).as_dual_quat(), *POSED),
    "as_exp_coords": via(lambda r, t: rigid(r, t).as_exp_coords(), *POSED),
    "as_matrix": via(lambda r, t: rigid(r, t).as_matrix(), *POSED),
    "concatenate": via(
        lambda r, t: RigidTransform.concatenate([rigid(r, t), rigid(t, r)]).as_matrix(), *POSED
    ),
    "from_components": via(lambda r, t: rigid(r, t).as_matrix(), *POSED),
    "from_dual_quat": via(
        lambda q: RigidTransform.from_dual_quat(q).as_matrix(), reals(8, seed=3)
    ),
    "from_exp_coords": via(
        lambda x: RigidTransform.from_exp_coords(x).as_matrix(), reals(6, seed=4)
    ),
    "from_matrix": via(
        lambda m: RigidTransform.from_matrix(
            np.concatenate([m, [[0.0, 0.0, 0.0, 1.0]]])
        ).as_matrix(),
        np.concatenate([VARIANCES, B[:3, :1]], 1),
    ),
    "from_rotation": via(lambda r: RigidTransform.from_rotation(of(r)).as_matrix(), ANGLES),
    "from_translation": via(lambda t: RigidTransform.from_translation(t).as_matrix(), ONE),
    "inv": via(lambda r, t: rigid(r, t).inv().as_matrix(), *POSED),
    "mean": via(
        lambda r, t: RigidTransform.concatenate([rigid(r, t), rigid(0.5 * t, r)]).mean()
        .as_matrix(),
        *POSED,
    ),
}  # fmt: skip

SECTIONS = [
    Section(
        "scipy.spatial",
        public(spatial),
        EXAMPLES,
        {
            OF_INTEGERS: "Delaunay tsearch",
            DRAWS: "convex_hull_plot_2d delaunay_plot_2d voronoi_plot_2d",
        },
    ),
    Section(
        "scipy.spatial.distance",
        public(distance),
        DISTANCES,
        {OF_INTEGERS: "is_valid_dm is_valid_y num_obs_dm num_obs_y"},
    ),
    Section("scipy.spatial.transform", public(transform), TRANSFORMS),
    Section(
        "scipy.spatial.transform.Rotation",
        methods_of(Rotation),
        ROTATIONS,
        {
            OF_INTEGERS: "approx_equal",
            "it has no reals to depend on": "create_group identity random",
        },
    ),
    Section(
        "scipy.spatial.transform.RigidTransform",
        methods_of(RigidTransform),
        RIGID,
        {"it has no reals to depend on": "identity"},
    ),
]
