"""NumPy's scalar types as functions."""

import numpy as np

from adjoint.rulekit.registry import rrule
from tests.rules.harness import complexes, reals, table

REAL = [(1.5,), (2,), (np.float32(1.5),), (reals(3),), ([1.0, 2.0],), (np.array(1.5),)]
CASES = {
    (np.generic, "__getitem__"): [
        (np.float64(1.5), ()),
        (np.float64(1.5), ...),
        (np.float32(1.5), None),
        (np.complex128(1 + 2j), (..., None)),
    ],
    (np.generic, "view"): [
        (np.float64(1.5),),
        (np.float32(1.5), np.ma.MaskedArray),
        (np.complex128(1 + 2j), np.complex128),
    ],
    np.float16: REAL,
    np.float32: [*REAL, ((1.0, 2.0),)],
    np.float64: REAL,
    np.longdouble: [(1.5,)],
    np.complex64: [*REAL, (1 + 2j,)],
    np.complex128: [*REAL, (complexes(3),)],
    np.clongdouble: [(1.5 + 1j,)],
}
test_rule = table(CASES)


def test_text_is_declined():
    assert rrule(np.float64, "1.5") is None
