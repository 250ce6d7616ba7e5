"""Bundle adjustment: reprojection errors of observed points, and their sparse Jacobian.

A camera has 11 numbers: a rotation (axis times angle), its centre, the focal length, the principal
point (2) and two coefficients of radial distortion.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import adjoint as ad
from benchmarks.gradbench.evaluation import Function, Functions, Style, choose

__all__ = ["functions", "reprojection_errors_arrays", "reprojection_errors_loops"]

CAMERA, POINT = 11, 3


# ---- with whole arrays ---------------------------------------------------------------------------


def rotated_arrays(rotations: Any, vectors: Any) -> Any:
    """Rodrigues' formula, and its first-order part where the rotation is zero."""
    squares = np.sum(rotations**2, axis=1, keepdims=True)
    angles = np.sqrt(np.where(squares > 0, squares, 1.0))
    axes = rotations / angles
    along = np.sum(axes * vectors, axis=1, keepdims=True)
    cos, sin = np.cos(angles), np.sin(angles)
    turned = vectors * cos + np.cross(axes, vectors) * sin + axes * along * (1 - cos)
    return np.where(squares > 0, turned, vectors + np.cross(rotations, vectors))


def reprojection_errors_arrays(cameras: Any, points: Any, weights: Any, features: Any) -> Any:
    """The i-th camera sees the i-th point; errors of shape (observations, 2)."""
    seen = rotated_arrays(cameras[:, 0:3], points - cameras[:, 3:6])
    plane = seen[:, :2] / seen[:, 2:]
    radius = np.sum(plane**2, axis=1, keepdims=True)
    distorted = plane * (1 + cameras[:, 9:10] * radius + cameras[:, 10:11] * radius**2)
    pixels = distorted * cameras[:, 6:7] + cameras[:, 7:9]
    return weights[:, None] * (pixels - features)


def weight_errors_arrays(weights: Any) -> Any:
    """How far the squares of the weights are from one."""
    return 1 - weights**2


# ---- element by element --------------------------------------------------------------------------


def rotated_loops(rotation: Any, vector: Any) -> Any:
    """Rodrigues' formula, and its first-order part where the rotation is zero."""
    a, b, c = rotation
    x, y, z = vector
    square = a * a + b * b + c * c
    if square == 0:
        return x + b * z - c * y, y + c * x - a * z, z + a * y - b * x
    angle = math.sqrt(square)
    a, b, c = a / angle, b / angle, c / angle
    cos, sin = math.cos(angle), math.sin(angle)
    along = (a * x + b * y + c * z) * (1 - cos)
    return (
        x * cos + (b * z - c * y) * sin + a * along,
        y * cos + (c * x - a * z) * sin + b * along,
        z * cos + (a * y - b * x) * sin + c * along,
    )


def project_loops(camera: Any, point: Any) -> Any:
    """Where a camera sees a point."""
    off = (point[0] - camera[3], point[1] - camera[4], point[2] - camera[5])
    x, y, z = rotated_loops((camera[0], camera[1], camera[2]), off)
    x, y = x / z, y / z
    radius = x * x + y * y
    distortion = 1 + camera[9] * radius + camera[10] * radius * radius
    return x * distortion * camera[6] + camera[7], y * distortion * camera[6] + camera[8]


def reprojection_errors_loops(cameras: Any, points: Any, weights: Any, features: Any) -> Any:
    """The i-th camera sees the i-th point; errors of shape (observations, 2)."""
    errors = np.zeros((len(weights), 2))
    for i in range(len(weights)):
        u, v = project_loops(cameras[i], points[i])
        errors[i, 0] = weights[i] * (u - features[i, 0])
        errors[i, 1] = weights[i] * (v - features[i, 1])
    return errors


def weight_errors_loops(weights: Any) -> Any:
    """How far the squares of the weights are from one."""
    errors = np.zeros(len(weights))
    for i in range(len(weights)):
        errors[i] = 1 - weights[i] * weights[i]
    return errors


# ---- what GradBench calls ------------------------------------------------------------------------


def functions(style: Style) -> Functions:
    """``objective``, and ``jacobian`` in compressed rows."""
    reprojection_errors = choose(
        style, arrays=reprojection_errors_arrays, loops=reprojection_errors_loops
    )
    weight_errors = choose(style, arrays=weight_errors_arrays, loops=weight_errors_loops)

    def objective(
        cameras: Any, points: Any, weights: Any, features: Any, camera_of: Any, point_of: Any
    ) -> Any:
        seen = reprojection_errors(cameras[camera_of], points[point_of], weights, features)
        return seen, weight_errors(weights)

    def jacobian(
        cameras: Any, points: Any, weights: Any, features: Any, camera_of: Any, point_of: Any
    ) -> Any:
        # The errors of an observation depend on its own camera, point and weight alone, so that
        # two sweeps give all rows.
        at = (cameras[camera_of], points[point_of], weights)
        errors, back = ad.pullback(reprojection_errors, *at, features=features)
        blocks = np.empty((len(weights), 2, CAMERA + POINT + 1))
        for row in range(2):
            seed = np.zeros_like(errors)
            seed[:, row] = 1
            _, cameras_bar, points_bar, weights_bar = back(seed)
            blocks[:, row] = np.column_stack([cameras_bar, points_bar, weights_bar])

        errors, back = ad.pullback(weight_errors, weights)
        _, weight_values = back(np.ones_like(errors))
        return sparse(blocks, weight_values, camera_of, point_of, len(cameras), len(points))

    return {
        "objective": Function(_prepare, objective, _finish_errors),
        "jacobian": Function(_prepare, jacobian, _finish_sparse),
    }


def sparse(
    blocks: Any, weight_values: Any, camera_of: Any, point_of: Any, n: int, m: int
) -> tuple[Any, Any, Any]:
    """Row starts, columns and values of the Jacobian: those of `blocks` (observations, 2, 15)
    first, then those of the errors of weights."""
    p, _, width = blocks.shape
    weight_columns = CAMERA * n + POINT * m + np.arange(p)
    columns = np.empty((p, 2, width), int)
    columns[:, :, :CAMERA] = (CAMERA * camera_of[:, None] + np.arange(CAMERA))[:, None]
    columns[:, :, CAMERA:-1] = (CAMERA * n + POINT * point_of[:, None] + np.arange(POINT))[:, None]
    columns[:, :, -1] = weight_columns[:, None]
    starts = [width * np.arange(2 * p + 1), width * 2 * p + 1 + np.arange(p)]
    return (
        np.concatenate(starts),
        np.concatenate([columns.ravel(), weight_columns]),
        np.concatenate([blocks.ravel(), weight_values]),
    )


def _prepare(input: Any) -> tuple[Any, ...]:
    """All cameras, points and weights are alike in GradBench's inputs."""
    n, m, p = input["n"], input["m"], input["p"]
    observation = np.arange(p)
    return (
        np.tile(np.array(input["cam"], float), (n, 1)),
        np.tile(np.array(input["x"], float), (m, 1)),
        np.full(p, float(input["w"])),
        np.tile(np.array(input["feat"], float), (p, 1)),
        observation % n,
        observation % m,
    )


def _finish_errors(errors: Any) -> dict[str, Any]:
    reprojection, weight = errors
    return {
        "reproj_error": {"elements": reprojection[0].tolist(), "repeated": len(reprojection)},
        "w_err": {"element": float(weight[0]), "repeated": len(weight)},
    }


def _finish_sparse(matrix: Any) -> dict[str, Any]:
    """Of each part the first 30 numbers and the last."""
    return {
        name: part[:30].tolist() + [part[-1].item()]
        for name, part in zip(("rows", "cols", "vals"), matrix, strict=True)
    }
