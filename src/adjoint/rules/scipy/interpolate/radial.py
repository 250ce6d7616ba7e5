"""NumPy equivalents of the compiled matrices of `RBFInterpolator`."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from adjoint.rules.scipy.equivalents import carried


def _module() -> Any:
    try:
        return importlib.import_module("scipy.interpolate._rbfinterp_pythran")
    except ImportError:
        return None


# ---- kernels -------------------------------------------------------------------------------------


def _linear(r):
    return -r


def _thin_plate_spline(r):
    return r**2 * np.log(np.where(r == 0, 1.0, r))


def _cubic(r):
    return r**3


def _quintic(r):
    return -(r**5)


def _multiquadric(r):
    return -np.sqrt(r**2 + 1)


def _inverse_multiquadric(r):
    return 1 / np.sqrt(r**2 + 1)


def _inverse_quadratic(r):
    return 1 / (r**2 + 1)


def _gaussian(r):
    return np.exp(-(r**2))


KERNELS: dict[Any, Any] = {
    "linear": _linear, "thin_plate_spline": _thin_plate_spline, "cubic": _cubic,
    "quintic": _quintic, "multiquadric": _multiquadric,
    "inverse_multiquadric": _inverse_multiquadric, "inverse_quadratic": _inverse_quadratic,
    "gaussian": _gaussian,
}  # fmt: skip


# ---- matrices ------------------------------------------------------------------------------------


def _monomials(x, powers):
    return np.prod(x[:, None, :] ** powers, axis=-1)


def _radial(x, y, kernel, epsilon):
    u = epsilon * x[:, None, :] - epsilon * y[None, :, :]
    return KERNELS[kernel](np.linalg.norm(u, axis=-1))


_compiled = _module()

if hasattr(_compiled, "_build_system"):

    @carried(_compiled._build_system)
    def _build_system(y, d, smoothing, kernel, epsilon, powers):
        p, r = len(y), len(powers)
        highest, lowest = np.max(y, axis=0), np.min(y, axis=0)
        shift, scale = (highest + lowest) / 2, (highest - lowest) / 2
        scale = np.where(scale == 0.0, 1.0, scale)
        left = np.zeros((p + r, p + r))
        left[:p, :p] = _radial(y, y, kernel, epsilon) + np.diag(smoothing)
        polynomials = _monomials((y - shift) / scale, powers)
        left[:p, p:] = polynomials
        left[p:, :p] = polynomials.T
        return left, np.concatenate([d, np.zeros((r, d.shape[1]))]), shift, scale


if hasattr(_compiled, "_build_evaluation_coefficients"):

    @carried(_compiled._build_evaluation_coefficients)
    def _build_evaluation_coefficients(x, y, kernel, epsilon, powers, shift, scale):
        polynomials = _monomials((x - shift) / scale, powers)
        return np.concatenate([_radial(x, y, kernel, epsilon), polynomials], axis=1)


if hasattr(_compiled, "_polynomial_matrix"):
    carried(_compiled._polynomial_matrix)(_monomials)
