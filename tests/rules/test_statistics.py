"""The module `statistics`, which computes in fractions."""

import statistics
from fractions import Fraction

import numpy as np
import pytest

import adjoint as ad
from tests.rules.harness import table

XS = [0.3, 1.2, 0.7, 2.1, 1.6]
WEIGHTS = [1.1, 0.4, 2.2, 0.9, 3.1]
DATA = [(XS,), (tuple(XS),), ([0.3, 2, 1.5],), ([np.float64(0.3), 1.5],)]
SPREADS = [*((data, None) for (data,) in DATA), (XS, 1.1)]

CASES = {
    statistics.mean: DATA,
    statistics.harmonic_mean: [*SPREADS[:-1], (XS, WEIGHTS), (XS, [1, 2, 1, 1, 3])],
    statistics.variance: [*SPREADS, ([0.25] * 3, None)],
    statistics.pvariance: SPREADS,
    statistics.stdev: SPREADS,
    statistics.pstdev: SPREADS,
    statistics._normal_dist_inv_cdf: [(0.4, 0.3, 1.2), (0.999, 0.0, 2.0)],
}
test_rule = table(CASES)


def test_other_collections():
    for f in (statistics.mean, statistics.stdev, statistics.harmonic_mean):
        wanted = ad.gradient(f, XS)[0]
        wanted = pytest.approx(wanted, rel=1e-13)
        assert ad.gradient(lambda xs: f(iter(xs)), XS)[0] == wanted
        assert ad.gradient(lambda xs: f(x for x in xs), XS)[0] == wanted
        assert ad.gradient(lambda xs: f(dict.fromkeys(xs).keys()), XS)[0] == wanted
        assert ad.gradient(f, np.array(XS))[0].tolist() == wanted


def test_exact_numbers_have_no_derivative():
    half = Fraction(1, 2)
    assert ad.gradient(lambda x: float(statistics.mean([half, 1])) * x, 3.0) == (0.75,)
    assert ad.gradient(lambda x: statistics.mean([half, x, 2 * x]), 3.0) == (1.0,)
    assert ad.gradient(lambda x: statistics.variance([1, 2, 4]) * x, 3.0)[0] == statistics.variance(
        [1, 2, 4]
    )


def test_no_deviation_at_all():
    assert ad.gradient(statistics.stdev, [0.25] * 3) == ([0.0] * 3,)


def test_in_programs():
    """The value is the exact one, also where a sum of floats is far from it."""
    for data in (
        XS, [1e16, 1.0, -1e16], [1, 2.5], [np.float64(0.1)] * 3, np.array(XS), [np.inf, 1.0],
    ):  # fmt: skip
        for f in (statistics.mean, statistics.pvariance):
            for _ in range(2):
                try:
                    value = ad.withgradient(lambda xs: f(list(xs)) * 1.0, data)[0]  # noqa: B023
                except ad.AdjointError:
                    continue
                expected = f(list(data)) * 1.0
                assert value == expected or np.isnan([value, expected]).all()
                assert type(value) is type(expected)
    for f in (statistics.variance, statistics.pstdev):
        x = np.array(XS)
        gradient = ad.gradient(lambda x, f=f: f([a * a for a in x], 1.3), x)[0]
        steps = 1e-6 * np.eye(len(x))
        slopes = [(f(list((x + h) ** 2), 1.3) - f(list((x - h) ** 2), 1.3)) / 2e-6 for h in steps]
        np.testing.assert_allclose(gradient, slopes, rtol=1e-7)
