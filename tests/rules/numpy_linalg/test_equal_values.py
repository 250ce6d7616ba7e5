"""Second derivatives where values are equal and their vectors turn: right, or not a number."""

import numpy as np
import pytest
from scipy import linalg

import adjoint as ad
from adjoint.errors import NoDerivativeError

POINTS = {
    "zero": (np.diag([1.0, 0.0, 0.0]), 0.0),
    "all zero": (np.zeros((3, 3)), 0.0),
    "unit": (np.eye(3), 1.0),
    "pairs": (np.diag([2.0, 1.0, 1.0]), 1.0),
}
VALUES = {
    "eigvalsh": np.linalg.eigvalsh,
    "eigh": lambda a: np.linalg.eigh(a)[0],
    "eigvals": lambda a: np.linalg.eigvals(a).real,
    "svd": lambda a: np.linalg.svd(a, compute_uv=False),
    "svd with vectors": lambda a: np.linalg.svd(a)[1],
    "scipy eigvalsh": linalg.eigvalsh,
    "scipy eigh": lambda a: linalg.eigh(a)[0],
    "scipy eigvals": lambda a: linalg.eigvals(a).real,
    "scipy svdvals": linalg.svdvals,
}
TURNING = {
    "symmetric": np.array([[0.0, 0.5, 0.0], [0.5, 0.0, 1.0], [0.0, 1.0, 0.0]]),
    "skew": np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]),
    "one entry": np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]),
}


def found_or_refused(f, modes):
    """A derivative of `f` at 0, with NaN for a refusal."""
    for mode in modes:
        f = ad.derivative(f) if mode == "f" else ad.grad(f)
    try:
        return f(0.0)
    except NoDerivativeError:
        return np.nan


@pytest.mark.parametrize("modes", ["ff", "fr", "rf", "rr"])
@pytest.mark.parametrize(
    "values, turn",
    [(v, t) for v in VALUES for t in TURNING if t == "symmetric" or "svd" in v],
)
@pytest.mark.filterwarnings("ignore")
def test_values_that_stand_still_while_vectors_turn(values, turn, modes):
    """A derivative of each value that is zero says nothing of the sum of squares."""
    for point, level in POINTS.values():

        def f(t, point=point, level=level):
            return np.sum((VALUES[values](point + t * TURNING[turn]) - level) ** 2)

        h = 1e-3
        expected = (f(h) + f(-h) - 2 * f(0.0)) / (h * h)
        found = found_or_refused(f, modes)
        assert np.isnan(found) or found == pytest.approx(expected, rel=1e-4, abs=1e-5)


def test_a_row_that_rises_from_zero():
    """Into the space that the vectors of a wide matrix leave out."""

    def f(t):
        wide = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, t]])
        return np.sum(np.linalg.svd(wide, compute_uv=False) ** 2)

    for modes in ("ff", "fr", "rf", "rr"):
        assert np.isnan(found_or_refused(f, modes))


def test_equal_values_part_on_one_side():
    turn = np.array([[0.0, 1.0], [1.0, 0.0]])
    _, dot = ad.pushforward(np.linalg.eigvalsh, (np.eye(2),), (turn,))
    np.testing.assert_allclose(dot, [-1.0, 1.0])
    _, dot = ad.pushforward(linalg.svdvals, (np.eye(2),), (turn,))
    np.testing.assert_allclose(dot, [1.0, -1.0])
    _, dot = ad.pushforward(linalg.svdvals, (np.zeros((2, 2)),), (turn * [1.0, 2.0],))
    np.testing.assert_allclose(dot, [2.0, 1.0])
    stacked = np.stack([np.eye(2), np.diag([1.0, 2.0])])
    _, dot = ad.pushforward(np.linalg.eigvalsh, (stacked,), (np.stack([turn, turn]),))
    np.testing.assert_allclose(dot, [[-1.0, 1.0], [0.0, 0.0]], atol=1e-14)


def test_a_tangent_that_is_no_number_stays_one():
    dot = ad.pushforward(np.linalg.eigvalsh, (np.eye(2),), (np.full((2, 2), np.nan),))[1]
    assert np.isnan(dot).all()
