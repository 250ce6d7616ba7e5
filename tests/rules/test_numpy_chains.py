"""`adjoint.rules.numpy.chains`: sums of segments."""

import numpy as np

from adjoint.rules.numpy.chains import segment_sums, spread
from tests.rules.harness import complexes, reals, table

STARTS = np.array([1, 2, 5])

CASES = {
    segment_sums: [(reals(7), STARTS), (reals(3, 7), STARTS - 1), (complexes(2, 7), STARTS)],
    spread: [(reals(3), STARTS, 7), (reals(2, 3), STARTS - 1, 6), (complexes(2, 3), STARTS, 7)],
}
test_rule = table(CASES)
