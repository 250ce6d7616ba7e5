"""`adjoint.extensions.erfa`: the geometry of ERFA, and coordinates of astropy that stand on it."""

import erfa
import numpy as np
import pytest
from astropy import units as u
from astropy.coordinates import FK5, Angle, SkyCoord, spherical_to_cartesian
from erfa import ufunc

import adjoint as ad
from adjoint.testing import check_gradient
from tests.rules.harness import reals

ANGLES = reals(4) * 0.7
POINTS, OTHERS = reals(4, 3) + 2.0, reals(4, 3, seed=5)
ROTATIONS = reals(4, 3, 3, seed=7)

LINES = {
    "s2c": [(0.3, -0.4), (ANGLES, 0.2), (ANGLES[:, None], ANGLES[:2])],
    "s2p": [(0.3, -0.4, 2.0), (ANGLES, 0.2, ANGLES + 3.0), (0.3, ANGLES, 2.0)],
    "c2s": [(POINTS[0],), (POINTS,)],
    "p2s": [(POINTS[0],), (POINTS,)],
    "pm": [(POINTS[0],), (POINTS,)],
    "pn": [(POINTS[0],), (POINTS,)],
    "pdp": [(POINTS, OTHERS), (POINTS[0], OTHERS)],
    "pxp": [(POINTS, OTHERS), (POINTS[0], OTHERS)],
    "ppp": [(POINTS, OTHERS), (POINTS[0], OTHERS)],
    "pmp": [(POINTS, OTHERS), (POINTS[0], OTHERS)],
    "sxp": [(2.0, POINTS), (ANGLES, OTHERS[0])],
    "sepp": [(POINTS, OTHERS), (POINTS[0], OTHERS)],
    "seps": [(0.3, -0.4, 0.9, 0.6), (ANGLES, 0.2, 0.9, 0.6)],
    "pas": [(0.3, -0.4, 0.9, 0.6), (ANGLES, 0.2, 1.9, 0.6)],
    "anp": [(7.0,), (ANGLES * 10.0,), (-0.3,)],
    "anpm": [(7.0,), (ANGLES * 10.0,), (-0.3,)],
    "rxp": [(ROTATIONS, POINTS), (ROTATIONS[0], POINTS), (ROTATIONS, POINTS[0])],
    "trxp": [(ROTATIONS, POINTS), (ROTATIONS[0], POINTS), (ROTATIONS, POINTS[0])],
    "rxr": [(ROTATIONS, ROTATIONS[::-1].copy()), (ROTATIONS[0], ROTATIONS)],
    "tr": [(ROTATIONS,), (ROTATIONS[0],)],
    "rx": [(0.3, ROTATIONS[0]), (ANGLES, ROTATIONS[0]), (0.3, ROTATIONS)],
    "ry": [(0.3, ROTATIONS[0]), (ANGLES, ROTATIONS[0]), (0.3, ROTATIONS)],
    "rz": [(0.3, ROTATIONS[0]), (ANGLES, ROTATIONS[0]), (0.3, ROTATIONS)],
}


@pytest.mark.parametrize("name", LINES)
def test_functions(name):
    f = getattr(ufunc, name)
    for point in LINES[name]:
        check_gradient(f, *point, modes="all")


def test_as_people_call_them():
    check_gradient(lambda v: erfa.s2c(v, 0.3 * v) @ erfa.s2c(0.1, 0.2), 0.4)

    def written(v):
        out = np.empty((4, 3))
        ufunc.s2c(v, 0.2, out)
        return out

    check_gradient(written, ANGLES)


# ---- coordinates ---------------------------------------------------------------------------------

OTHER = SkyCoord(ra=12.0 * u.deg, dec=-3.0 * u.deg)


def angle(v):
    return np.sin(Angle(v * u.deg)).value * Angle(v, "deg").radian


def rectangular(v):
    x, y, z = spherical_to_cartesian(2.0, 0.03 * v, 0.1 * v)
    return (x * y + z).value


def separation(v):
    return SkyCoord(ra=v * u.deg, dec=20.0 * u.deg).separation(OTHER).deg


def bearing(v):
    return SkyCoord(ra=v * u.deg, dec=0.5 * v * u.deg).position_angle(OTHER).rad


def galactic(v):
    place = SkyCoord(ra=v, dec=20.0, unit="deg").galactic
    return place.l.deg * place.b.rad


def precessed(v):
    return SkyCoord(ra=v * u.deg, dec=20.0 * u.deg).transform_to(FK5(equinox="J1975")).ra.deg


def in_space(v):
    near = SkyCoord(ra=v * u.deg, dec=20.0 * u.deg, distance=v * u.pc)
    far = SkyCoord(ra=12.0 * u.deg, dec=-3.0 * u.deg, distance=30.0 * u.pc)
    return near.separation_3d(far).value


def moved_along(v):
    return OTHER.directional_offset_by(0.1 * v * u.deg, v * u.arcmin).ra.deg


@pytest.mark.parametrize(
    "f",
    [angle, rectangular, separation, bearing, galactic, precessed, in_space, moved_along],
    ids=lambda f: f.__name__,
)
def test_coordinates(f):
    slope = (f(10.3 + 1e-5) - f(10.3 - 1e-5)) / 2e-5
    assert ad.gradient(f, 10.3)[0] == pytest.approx(slope, rel=1e-7)
    assert ad.derivative(f)(10.3) == pytest.approx(slope, rel=1e-7)


def test_several_at_once():
    def total(ra, dec):
        places = SkyCoord(ra=ra * u.deg, dec=dec * u.deg)
        return places.separation(OTHER).rad * places.cartesian.x.value

    check_gradient(total, 30.0 + ANGLES[:2], 10.0 * ANGLES[:2], rtol=1e-5, modes="reverse")
    assert ad.gradient(lambda v: SkyCoord(v * u.deg, 0 * u.deg).ra.wrap_at("180d").deg, 200.0) == (
        1.0,
    )
