"""Rules of `scipy.spatial.transform`, whose algorithms SciPy has in both C and Python.

`Rotation` and `RigidTransform` are Python classes over functions of quaternions and matrices. The C
functions give the values; the Python functions, written for any array library, give the
derivatives. In older versions of SciPy the classes are compiled, and their derivatives are refused.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from adjoint.rulekit.registry import non_differentiable, substitute
from adjoint.rules.numpy.linalg.matrices import dagger
from adjoint.rules.scipy.equivalents import carried
from adjoint.rules.scipy.linalg.matrix_rule import Call, matrix_rule


def _module(name: str) -> Any:
    """Import a module that not every version of SciPy has."""
    try:
        return importlib.import_module(f"scipy.spatial.transform.{name}")
    except ImportError:
        return None


IN_C, IN_PYTHON = _module("_rotation_cy"), _module("_rotation_xp")
RIGID_IN_C, RIGID_IN_PYTHON = _module("_rigid_transform_cy"), _module("_rigid_transform_xp")

ROTATIONS = """
    align_vectors apply as_davenport as_euler as_matrix as_mrp as_quat as_rotvec compose_quat
    from_davenport from_euler from_mrp from_quat from_rotvec inv magnitude mean pow
"""
RIGID = """
    apply as_dual_quat as_exp_coords compose_transforms from_dual_quat from_exp_coords from_matrix
    from_rotation from_translation inv mean normalize_dual_quaternion pow
"""


def _carry(names: str, in_c: Any, in_python: Any) -> None:
    for name in names.split():
        if hasattr(in_c, name) and hasattr(in_python, name):
            carried(getattr(in_c, name))(getattr(in_python, name))


# ---- matrices ------------------------------------------------------------------------------------


def nearest_rotation(a: Any) -> Any:
    """Return the nearest orthogonal matrices, as SciPy does; orthogonal ones stay unchanged."""
    gram = a @ np.swapaxes(a, -1, -2)
    skewed = ~np.all(np.isclose(gram, np.eye(3), atol=1e-12), axis=(-2, -1))
    y = np.array(a)
    if np.any(skewed):
        u, _, v_t = np.linalg.svd(a[skewed])
        y[skewed] = u @ v_t
    return y


@matrix_rule(nearest_rotation, "a")
def _(call: Call) -> Any:
    """Differentiate the polar factor Q of A = Q H: X = Qᵀ dQ solves X H + H X = QᵀdA − dAᵀQ. The
    equation also holds for an orthogonal matrix, which SciPy does not change."""
    u, s, v_t = np.linalg.svd(call.a)
    sums = s[..., :, None] + s[..., None, :]

    def turned(a_dot: Any) -> Any:
        moved = dagger(u) @ a_dot @ dagger(v_t)
        return u @ ((moved - dagger(moved)) / sums) @ v_t

    return lambda bar: (turned(bar),), turned


def _from_matrix(matrix: Any, assume_valid: Any = False) -> Any:
    if not assume_valid:
        matrix = nearest_rotation(matrix)
    return IN_PYTHON._from_matrix_orthogonal(matrix)


# ---- reduction by symmetries ---------------------------------------------------------------------


@non_differentiable
def _chosen(quat: Any, left: Any, right: Any) -> Any:
    """Return the indices of the factors that make each rotation smallest."""
    return IN_C.reduce(quat, left, right)[1:]


def _reduce(quat: Any, left: Any = None, right: Any = None) -> Any:
    of_left, of_right = _chosen(quat, left, right)
    if right is not None:
        quat = IN_PYTHON.compose_quat(quat, right[of_right])
    if left is not None:
        quat = IN_PYTHON.compose_quat(left[of_left], quat)
    return quat, of_left, of_right


# ---- registration --------------------------------------------------------------------------------

_carry(ROTATIONS, IN_C, IN_PYTHON)
_carry(RIGID, RIGID_IN_C, RIGID_IN_PYTHON)
if hasattr(IN_PYTHON, "_from_matrix_orthogonal"):
    carried(IN_C.from_matrix)(_from_matrix)
    substitute(IN_PYTHON.from_matrix)(_from_matrix)  # SciPy's writes into its argument
if hasattr(IN_C, "reduce") and hasattr(IN_PYTHON, "compose_quat"):
    carried(IN_C.reduce)(_reduce)
for _backend in (IN_C, IN_PYTHON):
    if hasattr(_backend, "approx_equal"):
        non_differentiable(_backend.approx_equal)
