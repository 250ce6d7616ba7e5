"""The counts of `make coverage`."""

import numpy as np

from tests.program_coverage import Coverage
from tests.support import Sample


def _covered(x):
    return np.sum(np.sin(x))


def _generic(x):
    exec("", {})
    return np.sum(np.sin(x))


def _raising(x):
    raise ValueError(x)


def test_counts():
    coverage = Coverage()
    for f in (_covered, _generic, _raising):
        coverage.add(f.__name__, Sample(f, (np.array([0.5, 0.25]),)))
    assert (coverage.functions, coverage.programs) == (2, 1)
    assert dict(coverage.reasons) == {"a call of exec": 1}
    first, *_, last = coverage.lines("two functions", 5)
    assert first == "two functions: 1 of 2 run as programs (50.0 %)"
    assert last == "     1  a call of exec  (_generic)"
