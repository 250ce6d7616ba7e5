"""`np.pad` in programs of all kinds."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from tests.fast.second_order import check_programs

RNG = np.random.default_rng(0)
M = RNG.normal(size=(5, 4))
MODES = "constant edge reflect symmetric wrap linear_ramp maximum minimum mean median".split()
WIDTHS = [2, (1, 3), ((1, 2), (0, 3)), [(2, 1)], ((0, 0), (3, 1))]
OPTIONS = [
    {"constant_values": 1.5},
    {"constant_values": -2},
    {"mode": "linear_ramp", "end_values": 0.7},
    {"constant_values": 0.0},
    {"constant_values": (0, 0)},
    {"constant_values": (1.5, -0.5)},
    {"constant_values": ((1.0, 2.0), (3.0, 4.0))},
    {"mode": "linear_ramp", "end_values": (0.7,)},
]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("mode", MODES)
def test_modes(mode, width):
    weights = RNG.normal(size=np.pad(M, width, mode=mode).shape)

    def f(x):
        return (np.pad(x * x, width, mode=mode) ** 2 * weights).sum()

    check_programs(f, M)
    assert ad.withgradient(f, M)[0] == pytest.approx(f(M), rel=1e-13)


@pytest.mark.parametrize("options", OPTIONS)
def test_options(options):
    weights = RNG.normal(size=(8, 7))

    def f(x):
        return (np.pad(x * x, (1, 2), **options) ** 2 * weights).sum()

    check_programs(f, M)
    assert ad.withgradient(f, M)[0] == pytest.approx(f(M), rel=1e-13)


def test_a_constant_with_a_derivative():
    check_programs(lambda x: (np.pad(x[1:] ** 2, 2, constant_values=x[0]) ** 3).sum(), M[0])


def test_arrays_of_one_number():
    check_programs(lambda x: (np.full(5, x[0]) ** 3).sum() * x[1], M[0])
    check_programs(lambda x: (np.full_like(x, x[0] * 2) ** 3 * x).sum(), M[0])
    check_programs(lambda x: (np.full((2, len(x)), x[0] * x[1]) ** 3 * x).sum(), M[0])
