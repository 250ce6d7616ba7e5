"""Polynomials."""

import numpy as np
import pytest

from adjoint.rulekit.registry import rrule
from adjoint.rules.python.evalpoly import evalpoly
from tests.rules.harness import complexes, reals, table

C = reals(4)
CASES = {
    evalpoly: [
        (1.2, C),
        (0.0, C),
        (np.float64(1.2), C),
        (np.float32(1.2), C.astype("f4")),
        (1.2, C.astype("f4")),
        (1.2, C.tolist()),
        (1.2, tuple(C.tolist())),
        (2, [1, 2, 3]),
        (1.2, np.arange(3)),
        (reals(5), C),
        (reals(2, 3), [1.0, 2.0]),
        (np.zeros(2), C),
        (reals(3, dtype="f4"), C.astype("f4")),
        (np.array(1.5), C),
        (1.5, [2.0]),
        (reals(3), np.array([2.0])),
        (1.5 + 2j, C),
        (1.5, complexes(3)),
        (complexes(3), complexes(4)),
        (1.5, [reals(2), reals(2, seed=1)]),
        (reals(3), reals(2, 3)),
        (reals(0), C),
    ],
}
test_rule = table(CASES)


def test_the_worked_example():
    y, back = rrule(evalpoly, 1.2, np.array([2.0, 0.0, 3.0, 4.0]))
    assert type(y) is float and y == pytest.approx(13.232)
    _, x_bar, c_bar = back(1.0)
    assert x_bar == pytest.approx(24.48)
    np.testing.assert_allclose(c_bar, [1.0, 1.2, 1.44, 1.728])


def test_zero_is_a_point_like_any_other():
    _, x_bar, c_bar = rrule(evalpoly, 0.0, np.array([2.0, 7.0, 3.0]))[1](1.0)
    assert x_bar == 7.0 and c_bar.tolist() == [1.0, 0.0, 0.0]


def test_the_shape_is_that_of_the_points():
    assert evalpoly(np.zeros(3), [2.0]).tolist() == [2.0, 2.0, 2.0]
    assert evalpoly(2.0, [1.0, 0.0, 3.0]) == 13.0


@pytest.mark.parametrize("nothing", [[], (), np.zeros(0)])
def test_no_coefficients(nothing):
    with pytest.raises(ValueError, match="at least one coefficient"):
        evalpoly(1.0, nothing)


def test_what_is_not_numeric_is_declined():
    assert rrule(evalpoly, 1.0, ["a"]) is None
    assert rrule(evalpoly, 1.0, {0: 1.0}) is None
