"""Rules of Mathieu, spheroidal wave and parabolic cylinder functions, in the argument.

Each function returns a value and its first derivative; the second derivative follows from the
differential equation. The derivatives in the parameters of the equation have no closed form, except
those of Mathieu's eigenvalues.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special as sp

from adjoint.rulekit.families import NoDerivative, elementwise
from adjoint.rules.scipy.pointwise import pointwise
from adjoint.rules.scipy.special.bessel import ORDER

PARAMETER = NoDerivative("a parameter of the equation")


# ---- Mathieu: y″ = −(a − 2q cos 2x) y, modified y″ = (a − 2q cosh 2x) y (28.2.1, 28.20.1) --------

NODES = np.arange(512) * (360 / 512)
"""Nodes in degrees; the functions are periodic, so sums over nodes are integrals to rounding."""


LARGEST = 1e4
"""Largest parameter at which SciPy has the functions; far beyond, it accesses invalid memory."""


def _eigenvalue_slope(m: Any, q: Any, even: bool) -> Any:
    """Return the mean of 2 cos 2x, weighted by the squared eigenfunction (Hellmann and Feynman).
    The eigenvalue is that of the operator −y″ + 2q cos 2x · y; for q < 0 by 28.2.26."""
    m, q = np.broadcast_arrays(m, q)
    swapped = (q < 0) & np.equal(np.mod(m, 2), 1)
    known = np.abs(q) <= LARGEST
    node, size, order = NODES, np.abs(np.where(known, q, 0))[..., None], m[..., None]
    y, other = (sp.mathieu_cem, sp.mathieu_sem) if even else (sp.mathieu_sem, sp.mathieu_cem)
    values = np.where(swapped[..., None], other(order, size, node)[0], y(order, size, node)[0])
    weight = values * values
    slope = np.sum(2 * sp.cosdg(2 * node) * weight, axis=-1) / np.sum(weight, axis=-1)
    return np.where(known, np.where(q < 0, -slope, slope), np.nan)[()]


elementwise(sp.mathieu_a, None, lambda m, q: _eigenvalue_slope(m, q, True), singular=True)
elementwise(sp.mathieu_b, None, lambda m, q: _eigenvalue_slope(m, q, False), singular=True)


def _angular(f: Any, eigenvalue: Any) -> None:
    """Register a function of an angle in degrees, whose returned derivative is per radian."""
    step = math.pi / 180

    def slopes(y: Any, m: Any, q: Any, x: Any) -> tuple[Any, Any]:
        bent = (2 * q * sp.cosdg(2 * x) - eigenvalue(m, q)) * y[0]
        return step * y[1], step * bent

    pointwise(f, "m q x", q=PARAMETER, x=lambda y, m, q, x: slopes(y, m, q, x))


def _radial(f: Any, eigenvalue: Any) -> None:
    pointwise(
        f,
        "m q x",
        q=PARAMETER,
        x=lambda y, m, q, x: (y[1], (eigenvalue(m, q) - 2 * q * np.cosh(2 * x)) * y[0]),
    )


_angular(sp.mathieu_cem, sp.mathieu_a)
_angular(sp.mathieu_sem, sp.mathieu_b)
_radial(sp.mathieu_modcem1, sp.mathieu_a)
_radial(sp.mathieu_modcem2, sp.mathieu_a)
_radial(sp.mathieu_modsem1, sp.mathieu_b)
_radial(sp.mathieu_modsem2, sp.mathieu_b)
pointwise(sp.mathieu_even_coef, q=PARAMETER)
pointwise(sp.mathieu_odd_coef, q=PARAMETER)


# ---- spheroidal: ((1−x²) w′)′ + (λ − c²x² − m²/(1−x²)) w = 0 (30.2.1) ----------------------------


def _prolate(y: Any, m: Any, c: Any, cv: Any, x: Any) -> tuple[Any, Any]:
    s = (1 - x) * (1 + x)
    return y[1], (2 * x * y[1] - (cv - (c * x) ** 2 - m * m / s) * y[0]) / s


def _oblate(y: Any, m: Any, c: Any, cv: Any, x: Any) -> tuple[Any, Any]:
    """Return slopes with −c² in place of c²."""
    s = (1 - x) * (1 + x)
    return y[1], (2 * x * y[1] - (cv + (c * x) ** 2 - m * m / s) * y[0]) / s


def _oblate_radial(y: Any, m: Any, c: Any, cv: Any, x: Any) -> tuple[Any, Any]:
    """Return slopes at ix, where the equation is that of the prolate functions."""
    s = 1 + x * x
    return y[1], ((cv - (c * x) ** 2 - m * m / s) * y[0] - 2 * x * y[1]) / s


def _spheroidal(f: Any, with_value: Any, value: Any, slopes: Callable[..., Any]) -> None:
    """Register a function, and its variant that takes the characteristic value."""
    pointwise(
        f,
        "m n c x",
        c=PARAMETER,
        x=lambda y, m, n, c, x: slopes(y, m, c, value(m, n, c), x),
    )
    pointwise(
        with_value,
        "m n c cv x",
        c=PARAMETER,
        cv=PARAMETER,
        x=lambda y, m, c, cv, x: slopes(y, m, c, cv, x),
    )


_spheroidal(sp.pro_ang1, sp.pro_ang1_cv, sp.pro_cv, _prolate)
_spheroidal(sp.pro_rad1, sp.pro_rad1_cv, sp.pro_cv, _prolate)
_spheroidal(sp.pro_rad2, sp.pro_rad2_cv, sp.pro_cv, _prolate)
_spheroidal(sp.obl_ang1, sp.obl_ang1_cv, sp.obl_cv, _oblate)
_spheroidal(sp.obl_rad1, sp.obl_rad1_cv, sp.obl_cv, _oblate_radial)
INACCURATE = NoDerivative("the argument", "SciPy's values are too inaccurate for")
for _f, _names in ((sp.obl_rad2, "m n c x"), (sp.obl_rad2_cv, "m n c cv x")):
    pointwise(_f, _names, x=INACCURATE, **dict.fromkeys(_names.split()[2:-1], PARAMETER))
elementwise(sp.pro_cv, None, None, PARAMETER)
elementwise(sp.obl_cv, None, None, PARAMETER)
pointwise(sp.pro_cv_seq, c=PARAMETER)
pointwise(sp.obl_cv_seq, c=PARAMETER)


# ---- parabolic cylinders: D_v″ = (x²/4 − v − ½) D_v, W″ = (a − x²/4) W (12.2.2, 12.2.3) ----------


def _cylinder(y: Any, v: Any, x: Any) -> tuple[Any, Any]:
    return y[1], (x * x / 4 - v - 0.5) * y[0]


def _cylinders(y: Any, v: Any, x: Any) -> tuple[Any, Any]:
    """Return slopes of the orders from v mod 1 to v; for v < 0 SciPy's orders are others."""
    start = v - int(v) if v >= 0 else np.nan
    return _cylinder(y, start + np.arange(len(y[0])), x)


pointwise(sp.pbdv, "v x", v=ORDER, x=lambda y, v, x: _cylinder(y, v, x))
pointwise(sp.pbvv, "v x", v=ORDER, x=lambda y, v, x: _cylinder(y, v, x))
pointwise(sp.pbwa, "a x", a=ORDER, x=lambda y, a, x: (y[1], (a - x * x / 4) * y[0]))
pointwise(sp.pbdv_seq, v=ORDER, x=lambda y, v, x: _cylinders(y, v, x))
pointwise(sp.pbvv_seq, v=ORDER, x=lambda y, v, x: _cylinders(y, v, x))


def _whole_cylinders(y: Any, n: Any, z: Any) -> tuple[Any, Any]:
    """Return slopes of the orders 0, ±1, …, n; off the real axis SciPy's values are wrong."""
    if np.any(np.imag(z)):
        return y[0] * np.nan, y[1] * np.nan
    return _cylinder(y, np.arange(len(y[0])) * (1 if n >= 0 else -1), z)


pointwise(sp.pbdn_seq, z=lambda y, n, z: _whole_cylinders(y, n, z))


# ---- ellipsoidal harmonics -----------------------------------------------------------------------

ELLIPSOID = NoDerivative("any argument")

pointwise(sp.ellip_harm, h2=ELLIPSOID, k2=ELLIPSOID, s=ELLIPSOID)
pointwise(sp.ellip_harm_2, h2=ELLIPSOID, k2=ELLIPSOID, s=ELLIPSOID)
pointwise(sp.ellip_normal, h2=ELLIPSOID, k2=ELLIPSOID)
