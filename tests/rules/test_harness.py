"""What the lines of the tables are checked for: that each check can fail."""

import numpy as np
import pytest

from adjoint.rulekit import registry
from adjoint.rulekit.families import elementwise
from tests.rules.harness import check_complex_step


@pytest.fixture
def cube():
    def cube(x):
        return x * x * x

    yield cube
    registry.table.pop(cube, None)


def test_a_complex_step_finds_what_differences_do_not(cube):
    elementwise(cube, lambda y, x: 3.0 * x * x * (1 + 1e-8))
    with pytest.raises(AssertionError, match="complex step"):
        check_complex_step(cube, np.array([1.0, 2.0]))
    with pytest.raises(AssertionError, match="complex step"):
        check_complex_step(cube, 1.5)


def test_a_complex_step_says_nothing_of_moduli():
    check_complex_step(np.abs, np.array([1.0, 2.0]))
