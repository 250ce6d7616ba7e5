"""Functions that make arrays."""

from typing import NamedTuple

import numpy as np
import pytest

from adjoint.rulekit.registry import rrule
from tests.rules.harness import case, complexes, reals, table
from tests.support import check_reverse

V = reals(4)
X = reals(3, 4)
Z = complexes(3, 4)
SINGLE = reals(3, dtype=np.float32)


class Point(NamedTuple):
    x: float
    y: float


SOURCES = [
    ([1.0, 2.0, 3.5],),
    ((1.0, 2, np.float64(3.5)),),
    ([[1.0, 2.0], (3.0, 4.0)],),
    ([V, X[0]],),
    ([[V, V + 1], (X[0], X[1])],),
    ([np.float32(1.0), np.float32(2.0)],),
    ([1, 2, 3],),
    ([1.0, 2j],),
    ([Z[0], V],),
    (X,),
    (Z,),
    (SINGLE,),
    (2.5,),
    (np.float64(2.5),),
    ([],),
    ([[], []],),
    ([np.array(1.0), 2.0],),
    case([1.0, 2.5], dtype=np.float32),
    case([1.0, 2.5], dtype=complex),
    case(X, dtype=complex),
    case(SINGLE, dtype=np.float64),
    case([V, SINGLE.tolist() + [1.0]]),
    case([True, 2.0]),
    ([Point(1.0, 2.0), Point(3.0, 4.0)],),
]

CASES = {
    np.array: [
        *SOURCES,
        case([1.0, 2.0], ndmin=3),
        case([V, V + 1], ndmin=4),
        case(X, copy=False) if np.__version__ < "2" else case(X, copy=None),
        case(X, order="F"),
    ],
    np.asarray: [*SOURCES, (X, None, "F")],
    np.asanyarray: SOURCES,
    np.ascontiguousarray: [([1.0, 2.0],), (X.T,), (Z,), (2.5,)],
    np.asfortranarray: [([1.0, 2.0],), (X,), (Z,), (2.5,)],
    np.asarray_chkfinite: [([1.0, 2.0],), (X.T,)],
    np.require: [([1.0, 2.0],), case(X, requirements="F"), (SINGLE, float)],
    np.copy: [(X,), ([1.0, 2.0],), case(X, order="F"), (2.5,)],
    np.full: [
        ((2, 3), 1.5),
        (4, V),
        case((3, 4), V, np.float32, tolerances={"rtol": 5e-2}),
        case((2, 2), np.float64(2.0), order="F"),
        (2, 1.5 + 2j),
        ((2, 3), [1.0, 2.0, 3.0]),
        (3, 2),
    ],
    np.full_like: [
        (X, 1.5),
        (X, V),
        case(SINGLE, 2.0),
        case(X, 2.0, shape=(2,)),
        (np.arange(2), 2.0, float),
    ],
    np.linspace: [
        (1.0, 3.5),
        (1.0, 3.5, 4),
        case(1.0, 3.5, num=4, endpoint=False),
        (V, 2.0, 3),
        case(V, X, 3, axis=1),
        case(V, V + 1, 3, axis=-1, endpoint=False),
        case(1.0, 3.0, 5, retstep=True),
        case(1.0, 3.0, 5, False, True),
        (1.0, 2j, 3),
        (0, 2, 5),
        (1.0, 2.0, 1),
        case(1.0, 2.0, 3, dtype=np.float32),
    ],
    np.logspace: [
        (0.5, 1.5, 4),
        case(0.5, 1.5, 4, base=2.0, endpoint=False),
        (0.5, 1.5, 4, True, 3.0),
        (V, V + 1, 3),
        case(V, X, 3, axis=1),
    ],
    np.geomspace: [
        (0.5, 4.0, 4),
        case(2.0, 30.0, 4, endpoint=False),
        (V + 3, 9.0, 3),
        (-1.0, -8.0, 4),
    ],
    np.arange: [(1.2, 4.0), (1.2, 4.0, 0.6), (4.5,), (1, 6, 2.2), case(0.3, 2.0, dtype=np.float64)],
    np.vander: [(V,), (V, 3), case(V, increasing=True), (complexes(3), 3), ([1.0, 2.0], 4), (V, 0)],
}
for kind in (np.ndarray, np.generic):
    x = X if kind is np.ndarray else np.float64(1.5)
    CASES[kind, "__array__"] = [(x,), (x, np.complex128), (x, np.float32)]
if hasattr(np, "astype"):
    CASES[np.astype] = [(X, np.complex128), (SINGLE, np.float64), case(X, float, copy=False)]
test_rule = table(CASES)


def test_structure_of_the_cotangent():
    y, back = rrule(np.array, [[1.0, 2], (np.float32(3.0), np.array(4.0))])
    ((a, b), (c, d)) = bars = back(np.array([[1.0, 2.0], [3.0, 4.0]]))[1]
    assert type(bars) is list and type(bars[0]) is list and type(bars[1]) is tuple
    assert [type(bar) for bar in (a, b, c, d)] == [float, float, np.float32, np.ndarray]
    assert [float(bar) for bar in (a, b, c, d)] == [1.0, 2.0, 3.0, 4.0]


def test_named_tuples_stay():
    _, back = rrule(np.array, [Point(1.0, 2.0)])
    assert back(np.array([[3.0, 4.0]]))[1] == [Point(3.0, 4.0)]


@pytest.mark.parametrize("f", [np.array, np.asarray])
def test_rounded_to_integers_there_is_no_derivative(f):
    y, back = rrule(f, [1.5, 2.5], dtype=int)
    assert y.tolist() == [1, 2] and back(np.ones(2)) == (None, None)


def test_integers_count_as_reals():
    y, back = rrule(np.array, [1, 2])
    assert back(np.array([0.5, 1.5])) == (None, [0.5, 1.5])


@pytest.mark.parametrize("source", [["a", "b"], [object()], [None, 1.0], "text"])
def test_what_is_not_numeric_is_declined(source):
    assert rrule(np.array, source) is None


def test_conversion_of_text():
    y, back = rrule(np.array, ["1.5", "2.5"], dtype=float)
    assert y.tolist() == [1.5, 2.5] and back(np.ones(2)) == (None, [None, None])


def test_step_of_linspace_alone():
    (values, step), back = rrule(np.linspace, 1.0, 3.0, 5, retstep=True)
    _, start_bar, stop_bar, _ = back((None, 2.0))
    assert (start_bar, stop_bar) == (-0.5, 0.5)
    _, start_bar, stop_bar, _ = back((np.ones(5), None))
    assert (start_bar, stop_bar) == (2.5, 2.5)


def test_arange_by_names():
    y, back = rrule(np.arange, start=1.5, stop=4.0, step=0.75)
    assert back(np.ones(len(y))) == (None, {"start": 4.0, "step": 6.0})
    check_reverse(lambda a, s: np.arange(a, stop=4.0, step=s), 1.2, 0.75)


class Wrapped:
    """Says which array it is."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.values, dtype)


@pytest.mark.parametrize(
    "f", [np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray]
)
def test_objects_that_stand_for_arrays(f):
    check_reverse(lambda x: f(Wrapped(x * x)), V)
    check_reverse(lambda x: f(Wrapped(x), dtype=complex) * 2, X)
    check_reverse(lambda x: np.sin(np.atleast_2d(Wrapped(x))), V)
