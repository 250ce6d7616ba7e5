"""Rules of `cmath`: holomorphic functions, and functions to and from real numbers."""

from __future__ import annotations

import cmath
import math
from typing import Any

import numpy as np

from adjoint.rulekit.families import elementwise
from adjoint.rulekit.projection import is_numeric, project
from adjoint.rulekit.registry import frule, non_differentiable, rrule

elementwise(cmath.exp, lambda y, x: y)
elementwise(cmath.sqrt, lambda y, x: 0.5 / y, singular=True)
elementwise(cmath.log, lambda y, x: 1 / x)
elementwise(
    cmath.log,
    lambda y, a, b: 1 / (a * cmath.log(b)),
    lambda y, a, b: -y / (b * cmath.log(b)),
)
elementwise(cmath.log10, lambda y, x: 1 / (x * math.log(10.0)))
elementwise(cmath.sin, lambda y, x: cmath.cos(x))
elementwise(cmath.cos, lambda y, x: -cmath.sin(x))
elementwise(cmath.tan, lambda y, x: 1 + y * y)
elementwise(cmath.sinh, lambda y, x: cmath.cosh(x))
elementwise(cmath.cosh, lambda y, x: cmath.sinh(x))
elementwise(cmath.tanh, lambda y, x: 1 - y * y)
elementwise(cmath.asin, lambda y, x: 1 / cmath.sqrt(1 - x * x))
elementwise(cmath.acos, lambda y, x: -1 / cmath.sqrt(1 - x * x))
elementwise(cmath.atan, lambda y, x: 1 / (1 + x * x))
elementwise(cmath.asinh, lambda y, x: 1 / cmath.sqrt(1 + x * x))
# not the root of the product, which lies on another branch
elementwise(cmath.acosh, lambda y, x: 1 / (cmath.sqrt(x - 1) * cmath.sqrt(x + 1)))
elementwise(cmath.atanh, lambda y, x: 1 / (1 - x * x))


def _turn(z: Any) -> Any:
    """Return i z / |z|², the gradient of the phase; 0 at 0 and for real numbers."""
    return 1j * z / abs(z) ** 2 if np.iscomplexobj(z) and z else 0.0


elementwise(cmath.phase, lambda y, x: _turn(x), real_valued=True)


@rrule.register(cmath.polar)
def _(z, /):
    if not is_numeric(z):
        return NotImplemented
    r, phi = cmath.polar(z)

    def polar_back(y_bar):
        if not r:
            return None, project(0j, z)
        r_bar, phi_bar = (0.0 if bar is None else bar for bar in y_bar)
        return None, project((r_bar + 1j * phi_bar / r) * z / r, z)

    return (r, phi), polar_back


@frule.register(cmath.polar)
def _(dots, z, /):
    r, phi = cmath.polar(z)
    if dots[0] is None or not r:
        return (r, phi), None
    turned = complex(z).conjugate() / r * dots[0]
    return (r, phi), (turned.real, turned.imag / r)


@rrule.register(cmath.rect)
def _(r, phi, /):
    if not (is_numeric(r) and is_numeric(phi)):
        return NotImplemented
    unit = cmath.rect(1.0, phi)

    def rect_back(y_bar):
        turned = y_bar * unit.conjugate()
        return None, project(turned.real, r), project(r * turned.imag, phi)

    return cmath.rect(r, phi), rect_back


@frule.register(cmath.rect)
def _(dots, r, phi, /):
    unit, (r_dot, phi_dot) = cmath.rect(1.0, phi), dots
    y_dot = 0j
    if r_dot is not None:
        y_dot = y_dot + unit * r_dot
    if phi_dot is not None:
        y_dot = y_dot + 1j * r * unit * phi_dot
    return cmath.rect(r, phi), y_dot


non_differentiable(cmath.isclose, cmath.isfinite, cmath.isinf, cmath.isnan)
