"""Rules of the geometry of `erfa`, which `astropy.coordinates` uses: vectors, angles, rotations.

The values are ERFA's; the derivatives are those of the same formulas in NumPy (see `erfa.h`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.rulekit.loading import registering
from adjoint.rules.scipy.equivalents import carried

_RELATIVE, _ABSOLUTE = 1e-9, 1e-12


# ---- spherical and rectangular coordinates -------------------------------------------------------


def _direction(theta, phi):
    across = np.cos(phi)
    x, y, z = np.broadcast_arrays(across * np.cos(theta), across * np.sin(theta), np.sin(phi))
    return np.stack([x, y, z], axis=-1)


def _position(theta, phi, r):
    r = np.asarray(r)
    return r[..., np.newaxis] * _direction(theta, phi)


def _angles(p):
    x, y, z = p[..., 0], p[..., 1], p[..., 2]
    return np.arctan2(y, x), np.arctan2(z, np.hypot(x, y))


def _spherical(p):
    theta, phi = _angles(p)
    return theta, phi, _modulus(p)


# ---- vectors -------------------------------------------------------------------------------------


def _modulus(p):
    return np.sqrt(np.sum(p * p, axis=-1))


def _normalized(p):
    r = _modulus(p)
    return r, p / r[..., np.newaxis]


def _inner(a, b):
    return np.sum(a * b, axis=-1)


def _outer(a, b):
    return np.cross(a, b)


def _sum(a, b):
    return a + b


def _difference(a, b):
    return a - b


def _scaled(s, p):
    s = np.asarray(s)
    return s[..., np.newaxis] * p


# ---- angles --------------------------------------------------------------------------------------


def _separation(a, b):
    return np.arctan2(_modulus(_outer(a, b)), _inner(a, b))


def _separation_of_angles(al, ap, bl, bp):
    return _separation(_direction(al, ap), _direction(bl, bp))


def _bearing(al, ap, bl, bp):
    dl = bl - al
    along = np.sin(bp) * np.cos(ap) - np.cos(bp) * np.sin(ap) * np.cos(dl)
    return np.arctan2(np.sin(dl) * np.cos(bp), along)


def _from_zero(a):
    return np.mod(a, 2.0 * np.pi)


def _around_zero(a):
    return a - 2.0 * np.pi * np.round(a / (2.0 * np.pi))


# ---- rotations -----------------------------------------------------------------------------------


def _rotated(r, p):
    return np.sum(r * p[..., np.newaxis, :], axis=-1)


def _rotated_back(r, p):
    return np.sum(r * p[..., :, np.newaxis], axis=-2)


def _product(a, b):
    return np.matmul(a, b)


def _transposed(r):
    return np.swapaxes(r, -1, -2)


def _about_x(phi, r):
    c, s = np.cos(phi)[..., np.newaxis], np.sin(phi)[..., np.newaxis]
    x, y, z = r[..., 0, :], r[..., 1, :], r[..., 2, :]
    x = x + 0.0 * c
    return np.stack([x, c * y + s * z, c * z - s * y], axis=-2)


def _about_y(theta, r):
    c, s = np.cos(theta)[..., np.newaxis], np.sin(theta)[..., np.newaxis]
    x, y, z = r[..., 0, :], r[..., 1, :], r[..., 2, :]
    y = y + 0.0 * c
    return np.stack([c * x - s * z, y, c * z + s * x], axis=-2)


def _about_z(psi, r):
    c, s = np.cos(psi)[..., np.newaxis], np.sin(psi)[..., np.newaxis]
    x, y, z = r[..., 0, :], r[..., 1, :], r[..., 2, :]
    z = z + 0.0 * c
    return np.stack([c * x + s * y, c * y - s * x, z], axis=-2)


# ---- registration --------------------------------------------------------------------------------

EQUIVALENTS: dict[str, Any] = {
    "s2c": _direction,
    "s2p": _position,
    "c2s": _angles,
    "p2s": _spherical,
    "pm": _modulus,
    "pn": _normalized,
    "pdp": _inner,
    "pxp": _outer,
    "ppp": _sum,
    "pmp": _difference,
    "sxp": _scaled,
    "sepp": _separation,
    "seps": _separation_of_angles,
    "pas": _bearing,
    "anp": _from_zero,
    "anpm": _around_zero,
    "rxp": _rotated,
    "trxp": _rotated_back,
    "rxr": _product,
    "tr": _transposed,
    "rx": _about_x,
    "ry": _about_y,
    "rz": _about_z,
}


@registering("erfa.ufunc")
def _(ufunc: Any) -> None:
    for name, twin in EQUIVALENTS.items():
        carried(getattr(ufunc, name), _RELATIVE, _ABSOLUTE)(twin)
