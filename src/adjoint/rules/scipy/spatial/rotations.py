"""`scipy.spatial.transform`: SciPy keeps its algorithms twice, in C and in Python.

`Rotation` and `RigidTransform` are Python over functions of quaternions and matrices. Those in C
give the values, those in Python, written for any array library, the derivatives. Older versions of
SciPy have the classes themselves in C; their derivatives are refused, as of everything in C.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from adjoint.rulekit.registry import non_differentiable, substitute
from adjoint.rules.numpy.linalg.matrices import dagger
from adjoint.rules.scipy.carried import carried
from adjoint.rules.scipy.linalg.calls import Call, matrix_rule


def _module(name: str) -> Any:
    """A module that not every version of SciPy has."""
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
    """The orthogonal matrices next to some matrices, as SciPy takes these: unless they are
    orthogonal already."""
    gram = a @ np.swapaxes(a, -1, -2)
    skewed = ~np.all(np.isclose(gram, np.eye(3), atol=1e-12), axis=(-2, -1))
    y = np.array(a)
    if np.any(skewed):
        u, _, v_t = np.linalg.svd(a[skewed])
        y[skewed] = u @ v_t
    return y


@matrix_rule(nearest_rotation, "a")
def _(call: Call) -> Any:
    """The polar factor Q of A = Q H: Qᵀ dQ solves X H + H X = QᵀdA − dAᵀQ. That a matrix which is
    orthogonal is taken as it is makes no difference."""
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
    """The places of the factors that make each rotation smallest."""
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
    substitute(IN_PYTHON.from_matrix)(_from_matrix)  # it writes into its argument
if hasattr(IN_C, "reduce") and hasattr(IN_PYTHON, "compose_quat"):
    carried(IN_C.reduce)(_reduce)
for _backend in (IN_C, IN_PYTHON):
    if hasattr(_backend, "approx_equal"):
        non_differentiable(_backend.approx_equal)
