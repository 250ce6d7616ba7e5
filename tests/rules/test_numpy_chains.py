"""`adjoint.rules.numpy.chains`: logarithms of sums of exponentials, and sums of segments."""

import numpy as np

from adjoint.rules.numpy.chains import log_total, segment_sums, spread
from tests.rules.harness import complexes, reals, table

STARTS = np.array([1, 2, 5])

CASES = {
    log_total: [(reals(5), 0), (reals(3, 4), 0), (reals(3, 4), -1)],
    segment_sums: [(reals(7), STARTS), (reals(3, 7), STARTS - 1), (complexes(2, 7), STARTS)],
    spread: [(reals(3), STARTS, 7), (reals(2, 3), STARTS - 1, 6), (complexes(2, 3), STARTS, 7)],
}
test_rule = table(CASES)
