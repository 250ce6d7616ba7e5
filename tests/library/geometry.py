"""Rotations, maps and molecules: pyquaternion, trimesh, pymap3d, geopy, ase."""

import numpy as np
from ase import Atoms
from ase.calculators.lj import LennardJones
from ase.calculators.morse import MorsePotential
from geopy import distance
from pyquaternion import Quaternion
from trimesh import transformations

from tests.library.registry import case, reals

V, W = reals(5), reals(5, low=0.5, high=2.0, seed=1)

case(
    "pyquaternion.Quaternion.rotate",
    np.array([1.0, 2.0, 0.5]),
    0.7,
    V[:3],
    call=lambda axis, angle, v: Quaternion(axis=axis, angle=angle).rotate(v),
)
case(
    "pyquaternion.Quaternion.slerp",
    [0.5, 0.2, 0.3, 0.4],
    [0.1, 0.9, 0.3, 0.2],
    0.3,
    call=lambda p, q, s: Quaternion.slerp(Quaternion(*p), Quaternion(*q), s).elements,
)
case(
    "pyquaternion.Quaternion.exp",
    [0.5, 0.2, 0.3, 0.4],
    call=lambda q: (Quaternion.exp(Quaternion(*q)) * Quaternion.log(Quaternion(*q))).elements,
)

case("trimesh.transformations.rotation_matrix", 0.3, V[:3])
case("trimesh.transformations.euler_matrix", 0.1, 0.2, 0.3)
case("trimesh.transformations.quaternion_matrix", V[:4])
case("trimesh.transformations.quaternion_multiply", V[:4], W[:4])
case("trimesh.transformations.reflection_matrix", V[:3], W[:3])
case(
    "trimesh.transformations.euler_from_matrix",
    V[:3],
    call=lambda v: transformations.euler_from_matrix(transformations.euler_matrix(*v)),
)
case("trimesh.transformations.superimposition_matrix", reals(3, 5), reals(3, 5, seed=2))
case("trimesh.triangles.area", reals(4, 3, 3))

case("pymap3d.geodetic2ecef", 42.0, -82.0, 200.0)
case("pymap3d.ecef2geodetic", 660e3, -4700e3, 4245e3)
case("pymap3d.geodetic2enu", 42.1, -81.9, 1000.0, 42.0, -82.0, 200.0)
case("pymap3d.vincenty.vdist", 10.0, 20.0, 11.0, 22.0)
case(
    "geopy.distance.great_circle",
    41.0,
    -71.0,
    42.0,
    -81.0,
    call=lambda a, b, c, d: distance.great_circle((a, b), (c, d)).km,
)
case(
    "geopy.distance.geodesic",
    41.0,
    -71.0,
    42.0,
    -81.0,
    call=lambda a, b, c, d: distance.geodesic((a, b), (c, d)).km,
)

POSITIONS = np.array([[0.0, 0.0, 0.0], [1.1, 0.1, 0.0], [0.2, 1.2, 0.1], [0.3, 0.4, 1.3]])


def _atoms(positions, calculator=None):
    atoms = Atoms("Ar4", positions=positions)
    atoms.calc = None if calculator is None else calculator()
    return atoms


for where, calculator in (
    ("lj.LennardJones", LennardJones),
    ("morse.MorsePotential", MorsePotential),
):
    case(
        f"ase.calculators.{where}",
        POSITIONS,
        call=lambda p, c=calculator: _atoms(p, c).get_potential_energy(),
        derived=lambda p, c=calculator: -_atoms(p, c).get_forces(),
    )
case("ase.Atoms.get_dihedral", POSITIONS, call=lambda p: _atoms(p).get_dihedral(0, 1, 2, 3))
case(
    "ase.Atoms.get_moments_of_inertia", POSITIONS, call=lambda p: _atoms(p).get_moments_of_inertia()
)
case("ase.geometry.cellpar_to_cell", np.array([1.0, 2.0, 3.0, 80.0, 85.0, 95.0]))
