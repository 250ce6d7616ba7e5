"""Hand tracking: how far the vertices of a posed hand are from points that were measured, by linear
blend skinning.

`theta` has the global rotation (axis times angle), the translation, and for each finger four
angles: the bend of its first bone, that bone's spread, and the bends of the next two. With `us`, a
measured point lies within a triangle of the mesh, at two barycentric coordinates that are unknowns,
too; without, it corresponds to a vertex.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

import adjoint as ad
from benchmarks.gradbench.evaluation import Function, Functions, Style, choose

__all__ = ["Hand", "Measurement", "errors_arrays", "errors_loops", "functions"]

FINGERS, FIRST_FINGER_BONE, BONES_PER_FINGER = 5, 2, 4


@dataclass
class Hand:
    """The model.

    Attributes
    ----------
    parents
        Of each bone; −1 for a root.
    base_relatives
        Shape (bones, 4, 4), relative to the parent.
    inverse_base_absolutes
        Shape (bones, 4, 4).
    base_positions
        Shape (vertices, 4), homogeneous.
    weights
        Shape (vertices, bones).
    triangles
        Shape (triangles, 3): vertices.
    """

    parents: list[int]
    base_relatives: Any
    inverse_base_absolutes: Any
    base_positions: Any
    weights: Any
    triangles: Any
    mirrored: bool


@dataclass
class Measurement:
    """Points of shape (points, 3), and the vertex that each corresponds to, or the triangle where
    there are barycentric coordinates."""

    hand: Hand
    correspondences: Any
    points: Any


def bone_angles(theta: Any, bones: int) -> Any:
    """Bend, spread and twist of each bone."""
    angles = np.zeros((bones, 3))
    for finger in range(FINGERS):
        bone, at = FIRST_FINGER_BONE + BONES_PER_FINGER * finger, 6 + 4 * finger
        angles[bone, 0:2] = theta[at : at + 2]
        angles[bone + 1, 0] = theta[at + 2]
        angles[bone + 2, 0] = theta[at + 3]
    return angles


# ---- with whole arrays ---------------------------------------------------------------------------


def axis_angle_rotation_arrays(vector: Any) -> Any:
    """The matrix of a rotation given by its axis times its angle."""
    angle = np.sqrt(np.sum(vector**2))
    if angle < 1e-4:
        return np.eye(3)
    x, y, z = vector / angle
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * (cross @ cross)


def euler_rotation_arrays(angles: Any) -> Any:
    """The matrix of the rotation by bend, spread and twist."""
    (cx, cz, cy), (sx, sz, sy) = np.cos(angles), np.sin(angles)
    about_x = np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
    about_y = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    about_z = np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]])
    return about_z @ about_y @ about_x


def posed_vertices_arrays(theta: Any, hand: Any) -> Any:
    """The vertices of the hand in a pose."""
    absolutes: list[Any] = []
    turns = bone_angles(theta, len(hand.parents))
    for parent, base, angles in zip(hand.parents, hand.base_relatives, turns, strict=True):
        turn = np.eye(4)
        turn[:3, :3] = euler_rotation_arrays(angles)
        relative = base @ turn
        absolutes.append(relative if parent == -1 else absolutes[parent] @ relative)
    transforms = np.stack(absolutes) @ hand.inverse_base_absolutes

    blended = np.tensordot(hand.weights, transforms[:, :3], axes=1)
    vertices = np.sum(blended * hand.base_positions[:, None, :], axis=2)
    if hand.mirrored:
        vertices[:, 0] *= -1
    return vertices @ axis_angle_rotation_arrays(theta[:3]).T + theta[3:6]


def errors_arrays(theta: Any, us: Any, measured: Any) -> Any:
    """The differences between the points and where the pose has them, flat."""
    vertices = posed_vertices_arrays(theta, measured.hand)
    if len(us) == 0:
        found = vertices[measured.correspondences]
    else:
        corners = vertices[measured.hand.triangles[measured.correspondences]]
        coordinates = np.column_stack([us, 1 - us[:, 0] - us[:, 1]])
        found = np.sum(coordinates[:, :, None] * corners, axis=1)
    return (measured.points - found).ravel()


# ---- element by element --------------------------------------------------------------------------


def multiply_loops(a: Any, b: Any) -> Any:
    """The product of two matrices."""
    product = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                product[i, j] += a[i, k] * b[k, j]
    return product


def axis_angle_rotation_loops(a: Any, b: Any, c: Any) -> Any:
    """The matrix of a rotation given by its axis times its angle."""
    rotation = np.eye(3)
    angle = math.sqrt(a * a + b * b + c * c)
    if angle < 1e-4:
        return rotation
    x, y, z = a / angle, b / angle, c / angle
    cos, sin = math.cos(angle), math.sin(angle)
    rotation[0, 0] = x * x + (1 - x * x) * cos
    rotation[1, 1] = y * y + (1 - y * y) * cos
    rotation[2, 2] = z * z + (1 - z * z) * cos
    rotation[0, 1], rotation[1, 0] = x * y * (1 - cos) - z * sin, x * y * (1 - cos) + z * sin
    rotation[0, 2], rotation[2, 0] = x * z * (1 - cos) + y * sin, x * z * (1 - cos) - y * sin
    rotation[1, 2], rotation[2, 1] = y * z * (1 - cos) - x * sin, y * z * (1 - cos) + x * sin
    return rotation


def euler_turn_loops(x: Any, z: Any, y: Any) -> Any:
    """The rotation by bend, spread and twist as a homogeneous matrix."""
    about_x, about_y, about_z = np.eye(4), np.eye(4), np.eye(4)
    about_x[1, 1] = about_x[2, 2] = math.cos(x)
    about_x[2, 1], about_x[1, 2] = math.sin(x), -math.sin(x)
    about_y[0, 0] = about_y[2, 2] = math.cos(y)
    about_y[0, 2], about_y[2, 0] = math.sin(y), -math.sin(y)
    about_z[0, 0] = about_z[1, 1] = math.cos(z)
    about_z[1, 0], about_z[0, 1] = math.sin(z), -math.sin(z)
    return multiply_loops(multiply_loops(about_z, about_y), about_x)


def bone_transforms_loops(theta: Any, hand: Any) -> Any:
    """Where the pose takes what belongs to each bone, shape (bones, 4, 4)."""
    bones = len(hand.parents)
    angles = bone_angles(theta, bones)
    absolutes = np.zeros((bones, 4, 4))
    transforms = np.zeros((bones, 4, 4))
    for bone in range(bones):
        turn = euler_turn_loops(angles[bone, 0], angles[bone, 1], angles[bone, 2])
        absolute = multiply_loops(hand.base_relatives[bone], turn)
        if hand.parents[bone] != -1:
            absolute = multiply_loops(absolutes[hand.parents[bone]], absolute)
        absolutes[bone] = absolute
        transforms[bone] = multiply_loops(absolute, hand.inverse_base_absolutes[bone])
    return transforms


def posed_vertices_loops(theta: Any, hand: Any) -> Any:
    """The vertices of the hand in a pose."""
    transforms = bone_transforms_loops(theta, hand)
    rotation = axis_angle_rotation_loops(theta[0], theta[1], theta[2])
    vertices = np.zeros((len(hand.base_positions), 3))
    skinned = np.zeros(3)
    for v in range(len(vertices)):
        for i in range(3):
            skinned[i] = 0.0
            for bone in range(len(transforms)):
                position = 0.0
                for j in range(4):
                    position += transforms[bone, i, j] * hand.base_positions[v, j]
                skinned[i] += hand.weights[v, bone] * position
        if hand.mirrored:
            skinned[0] = -skinned[0]
        for i in range(3):
            vertices[v, i] = theta[3 + i]
            for j in range(3):
                vertices[v, i] += rotation[i, j] * skinned[j]
    return vertices


def errors_loops(theta: Any, us: Any, measured: Any) -> Any:
    """The differences between the points and where the pose has them, flat."""
    vertices = posed_vertices_loops(theta, measured.hand)
    count = len(measured.points)
    errors = np.zeros(3 * count)
    for point in range(count):
        at = measured.correspondences[point]
        for i in range(3):
            if len(us) == 0:
                found = vertices[at, i]
            else:
                a, b, c = measured.hand.triangles[at]
                u, v = us[point]
                found = u * vertices[a, i] + v * vertices[b, i] + (1 - u - v) * vertices[c, i]
            errors[3 * point + i] = measured.points[point, i] - found
    return errors


# ---- what GradBench calls ------------------------------------------------------------------------


def functions(style: Style) -> Functions:
    """``objective``, and ``jacobian`` in the pair of `us`, if there are any, and in `theta`."""
    errors = choose(style, arrays=errors_arrays, loops=errors_loops)

    def jacobian(theta: Any, us: Any, measured: Any) -> Any:
        # A column per direction. A point depends on its own pair of `us` alone, so that two
        # directions serve them all.
        columns = []
        for axis in range(us.shape[1] if len(us) else 0):
            direction = np.zeros_like(us)
            direction[:, axis] = 1
            at = ad.pushforward(lambda us: errors(theta, us, measured), (us,), (direction,))
            columns.append(at[1])
        of_theta = ad.jacobian(lambda theta: errors(theta, us, measured), theta, mode="forward")
        return np.column_stack([*columns, of_theta])

    return {
        "objective": Function(_prepare, errors, np.ndarray.tolist),
        "jacobian": Function(_prepare, jacobian, np.ndarray.tolist),
    }


def _prepare(input: Any) -> tuple[Any, ...]:
    data = input["data"]
    model = data["model"]
    hand = Hand(
        parents=[int(parent) for parent in model["parents"]],
        base_relatives=np.array(model["base_relatives"], float),
        inverse_base_absolutes=np.array(model["inverse_base_absolutes"], float),
        base_positions=np.array(model["base_positions"], float),
        weights=np.array(model["weights"], float),
        triangles=np.array(model["triangles"], int),
        mirrored=bool(model["is_mirrored"]),
    )
    correspondences = np.array(data["correspondences"], int)
    measured = Measurement(hand, correspondences, np.array(data["points"], float))
    return np.array(input["theta"], float), np.array(input["us"], float), measured
