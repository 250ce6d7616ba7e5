"""Sums over windows of an array."""

import numpy as np
import pytest

from adjoint.extensions.pandas.groups import sums
from tests.rules.harness import reals, table

START, END = np.array([0, 0, 1, 2, 3]), np.array([1, 2, 3, 4, 5])
CASES = {
    sums: [
        (reals(5), START, END),
        (reals(5), END[::-1] - 1, np.full(5, 5)),
        (reals(5), np.array([2]), np.array([2])),
        (reals(5), np.array([3, 0]), np.array([1, 5])),
        (reals(1), np.array([0]), np.array([1])),
    ],
}
test_rule = table(CASES)


@pytest.mark.parametrize(("x", "start", "end"), CASES[sums])
def test_they_are_what_slices_add_up_to(x, start, end):
    expected = [x[i:j].sum() for i, j in zip(start, end, strict=True)]
    np.testing.assert_allclose(sums(x, start, end), expected, atol=1e-15)
