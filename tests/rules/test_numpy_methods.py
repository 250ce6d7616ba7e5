"""Methods and attributes of arrays and NumPy's scalars, and methods of ufuncs."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.programs import store
from adjoint.rulekit.registry import lookup, rrule
from adjoint.testing import check_gradient
from tests.rules.harness import case, complexes, reals, table
from tests.support import check_reverse

V = reals(6)
X = reals(3, 4)
X3 = reals(2, 3, 4, seed=1)
Z = complexes(3, 4)
SINGLE = reals(3, 4, dtype=np.float32)
HOLES = np.where(X > -0.5, X, np.nan)
ARRAYS = [(X,), (X3,), (Z,), (SINGLE,), (np.asfortranarray(X)[::2],)]
AXES = [*ARRAYS, (X, 0), (X, -1), case(X3, axis=1)]
KEPT = [case(X, axis=0, keepdims=True), (X3, (0, 2))]


def each_order():
    """Layouts that are neither that of C nor that of Fortran, in the order of the memory."""
    return [case(x, order=order) for x in (X3.swapaxes(0, 1), X[::2, ::-1]) for order in "CFAK"]


METHODS = {
    "sum": [*AXES, *KEPT, (X, 0, None, None), case(X, initial=2.0)],
    "mean": [*AXES, *KEPT],
    "prod": [*AXES, *KEPT],
    "max": [(X,), (X, 0), case(X3, axis=1), *KEPT],
    "min": [(X,), (X, 0), case(X3, axis=1), *KEPT],
    "ptp": [(X,), (X, 0)],
    "var": [*AXES, *KEPT, case(X, ddof=1)],
    "std": [*AXES, *KEPT, case(X, ddof=1)],
    "cumsum": AXES,
    "cumprod": AXES,
    "reshape": [
        (X, 12),
        (X, (2, 6)),
        (X, 2, -1),
        case(X, 6, 2, order="F"),
        case(X.T, (-1,), order="A"),
        (X, -1, 1),
    ],
    "transpose": [
        *ARRAYS,
        (X3, np.array([2, 0, 1])),
        (X3, 2, 0, 1),
        (X3, (1, 2, 0)),
        (X3, -1, 0, 1),
        (X3, (-1, 0, 1)),
        (X, None),
    ],
    "swapaxes": [(X, 0, 1), (X3, 0, -1)],
    "ravel": [*ARRAYS, (X, "F"), *each_order()],
    "flatten": [*ARRAYS, case(X, order="F"), *each_order()],
    "squeeze": [(X[:, None],), (X[:, None], 1)],
    "diagonal": [(X,), (X, 1), (X3, 0, 1, 2)],
    "trace": [(X,), (X, 1), (X3, 0, 1, 2)],
    "repeat": [(X, 2), (X, [1, 2, 0], 0), case(X, 2, axis=1)],
    "take": [(X, [1, 1, 5]), (X, [2, 0], 0), case(X, 1, axis=1)],
    "compress": [(X, [True, False, True], 0), (V, [False, True])],
    "choose": [(np.array([0, 1, 1]), [V[:3], X[0, :3]])],
    "copy": [*ARRAYS, (X, "F")],
    "astype": [(X, complex), (SINGLE, float), (X, float), case(Z, np.complex128, copy=False)],
    "view": [(X,), (Z,)],
    "conj": ARRAYS,
    "conjugate": ARRAYS,
    "clip": [(X, -1.0, 1.0), (X, reals(4) - 2, None), case(X, -0.5, 0.5)],
    "dot": [(X, V[:4]), (V, V + 1), (X, reals(4, 2))],
    "item": [(np.array(1.5),)],
    "tolist": [(V,), (X,), (Z,), (np.array(1.5),), (SINGLE,)],
    "T": ARRAYS,
    "mT": ARRAYS,
    "real": ARRAYS,
    "imag": ARRAYS,
    "__copy__": ARRAYS,
}
FLOAT, COMPLEX, NARROW = np.float64(1.5), np.complex128(1 + 2j), np.float32(0.5)
ARGUMENTS = {
    "reshape": (1, 1),
    "swapaxes": None,
    "diagonal": None,
    "trace": None,
    "compress": ([True],),
    "repeat": (3,),
    "take": ([0, 0],),
    "astype": (complex,),
    "clip": (-1.0, 1.0),
    "choose": None,
    "__copy__": None,
}


def scalars(name):
    arguments = ARGUMENTS.get(name, ())
    if name in ("max", "min", "ptp", "clip"):
        return [(FLOAT, *arguments), (NARROW, *arguments)]
    return [(x, *arguments) for x in (FLOAT, COMPLEX, NARROW)]


if np.__version__ >= "2":
    del METHODS["ptp"]

CASES = {
    (np.ndarray, name): cases
    for name, cases in METHODS.items()
    if hasattr(np.ndarray, name) and name != "item"
}
CASES |= {
    (np.generic, name): scalars(name)
    for name in METHODS
    if hasattr(np.generic, name) and ARGUMENTS.get(name, ()) is not None
}
CASES |= {
    (np.ndarray, "__array_wrap__"): [(X, X3), (V, Z, None)],
    (np.generic, "choose"): [(np.int64(1), [1.5, V[:3]])],
    np.real: [(X,), (Z,), (1 + 2j,), (1.5,), ([1.0, 2j],)],
    np.imag: [(X,), (Z,), (1 + 2j,), ([1.0, 2j],)],
    (np.ufunc, "reduce"): [
        (np.add, X),
        case(np.add, X3, axis=(0, 2), keepdims=True),
        (np.add, X, None),
        (np.add, [1.0, 2.0]),
        case(np.add, X, initial=1.5),
        (np.multiply, X),
        (np.multiply, X, 1),
        (np.maximum, X),
        (np.minimum, X, None),
        case(np.maximum, X, initial=0.1),
        (np.logaddexp, X),
        case(np.logaddexp, X, axis=1, keepdims=True),
        (np.add, SINGLE),
        (np.add, Z),
        case(np.multiply, X, axis=1, initial=2.0),
        (np.add, X, 0, float),
        *(
            case(f, X + 3, **options)
            for f in (np.subtract, np.divide, np.hypot, np.logaddexp2, np.fmax, np.fmin)
            for options in ({}, {"axis": 1}, {"axis": -1, "keepdims": True}, {"initial": 2.5})
        ),
        *(
            case(f, X3 + 3, axis=(0, 2), where=X3 > -1)
            for f in (np.logaddexp, np.logaddexp2, np.hypot)
        ),
        case(np.hypot, X, axis=None, where=X > -1, initial=0.5),
        case(np.logaddexp, X, initial=0.5),
        case(np.fmax, HOLES, axis=1),
        case(np.fmin, HOLES, axis=None, initial=0.7),
        case(np.maximum, SINGLE, dtype=np.float64),
        case(np.subtract, SINGLE + 3, axis=1, dtype=np.float64),
        (np.hypot, np.array([-3.0])),
        (np.subtract, Z),
        (np.divide, [3.0, 2.0, 4.0]),
        (np.logical_and, X),
    ],
    (np.ufunc, "accumulate"): [
        (np.add, X),
        (np.add, X, 1),
        (np.multiply, X),
        (np.multiply, np.array([0.0, 2.0, 0.0])),
        (np.maximum, V),
        (np.maximum, X3, 1),
        (np.minimum, X, -1),
        (np.add, [1.0, 2.0]),
        (np.add, SINGLE, 1),
        *((f, X + 3) for f in (np.subtract, np.divide, np.hypot, np.logaddexp, np.fmax)),
        *((f, X3 + 3, -1) for f in (np.subtract, np.divide, np.hypot, np.logaddexp, np.fmin)),
        (np.subtract, Z, 1),
        (np.subtract, np.zeros((0, 3))),
        (np.maximum, SINGLE, 0, np.float64),
    ],
    (np.ufunc, "outer"): [
        (np.add, V, X),
        (np.multiply, X, V),
        (np.subtract, V, 2.0),
        (np.multiply, [1.0, 2.0], V),
        (np.maximum, V, X),
        (np.multiply, Z, V),
        (np.arctan2, V, V + 1),
        (np.multiply, 2.0, 3.0),
        (np.add, SINGLE, 2.0),
        (np.hypot, SINGLE, [1, 2]),
    ],
    (np.ufunc, "reduceat"): [
        (np.add, V, [0, 2, 3]),
        (np.add, V, np.array([], int)),
        (np.add, X, [1, 0, 2], 1),
        (np.add, Z, [0, 2]),
        (np.add, V, [3, 1, 1, 4]),
        (np.add, SINGLE, [0, 1], 0, np.float64),
        *((f, V + 3, [0, 2, 3, 1]) for f in (np.multiply, np.maximum, np.subtract, np.hypot)),
        *((f, X + 3, [1, 0, 2], 1) for f in (np.multiply, np.minimum, np.divide, np.logaddexp)),
    ],
}
test_rule = table(CASES)


def test_part_of_tolist():
    _, back = rrule((np.ndarray, "tolist"), np.ones((2, 2)))
    np.testing.assert_array_equal(back([None, [None, 2.0]])[1], [[0, 0], [0, 2]])


def test_item_is_read_like_an_element():
    item = lookup((np.ndarray, "item")).substitute
    for x, index in [
        (X, (1, 2)),
        (X, (7,)),
        (X, (-2,)),
        (V, (3,)),
        (np.array([[2.0]]), ()),
        (X, ((0, 1),)),
        (np.array(3.0), ()),
    ]:
        value = item(x, *index)
        assert value == x.item(*index) and type(value) is float
    for x, index in [(X, (12,)), (X, (-13,)), (V, (6,)), (X, ())]:
        with pytest.raises((IndexError, ValueError)):
            item(x, *index)


@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize("x", [V, X, np.array(3.0), np.float64(3.0)], ids=np.shape)
def test_items_that_are_not_there(x, mode):
    """What is no index is so to NumPy, in its words."""
    for index in [
        ("a",), (1.5,), (0, 1), ((0, 1),), (None,), ([0],), (True,), (slice(1),), (("a",),),
        (0, "a"), (np.float64(1.0),), (np.bool_(True),), (99,), ((),), ((0,),), (np.int8(0),),
    ]:  # fmt: skip
        found = []
        for run in (
            lambda f: f(x),
            lambda f: (ad.pullback(f, x) if mode == "reverse" else ad.jvp(f, (x,), (x,)))[0],
        ):
            try:
                found.append(run(lambda x: x.item(*index)))  # noqa: B023
            except (TypeError, ValueError, IndexError) as error:
                found.append((type(error), str(error)))
        assert found[0] == found[1]


@pytest.mark.parametrize("method", ["reduce", "accumulate"])
def test_what_a_loop_of_numpy_does_otherwise_is_declined(method):
    """Some versions compute the power of the first and the last element only."""
    x = np.array([1.3, 0.7, 1.9, 0.6])
    y, expected = np.power.reduce(x), ((x[0] ** x[1]) ** x[2]) ** x[3]
    applied = rrule((np.ufunc, method), np.power, x)
    assert method == "accumulate" or (applied is None) == (abs(y - expected) > 1e-6)


def test_outer_with_keywords():
    check_reverse(lambda a, b: np.hypot.outer(a, b, dtype=np.float64), V, SINGLE)


def test_views_of_other_types_are_declined():
    assert rrule((np.ndarray, "view"), np.ones(2), np.int64) is None


def test_ties_of_a_reduction_share():
    _, _, x_bar = rrule((np.ufunc, "reduce"), np.maximum, np.array([1.0, 2.0, 2.0]))[1](1.0)
    np.testing.assert_array_equal(x_bar, [0, 0.5, 0.5])


class OwnItems(np.ndarray):
    """An array that says something else of its elements than it holds."""

    def __getitem__(self, index):
        return 7.0


def test_tolist_of_a_class_of_its_own():
    def f(v):
        return v.view(OwnItems).tolist()[1] ** 2

    check_gradient(f, np.array([1.0, 2.0]))
    assert ad.gradient(f, np.array([1.0, 2.0]))[0].tolist() == [0.0, 4.0]


@pytest.mark.parametrize("f", [np.real, np.imag, np.nan_to_num])
@pytest.mark.parametrize("is_fast", [True, False], ids=["fast", "generic"])
def test_the_tangent_of_a_number_is_a_number(f, is_fast, monkeypatch):
    def of(x):
        return f(np.exp(1j * x)).sum()

    monkeypatch.setattr(store, "is_enabled", [is_fast])
    y, y_dot = ad.pushforward(of, (0.5,), (2.0,))
    slope = 1j * np.exp(0.5j)
    assert isinstance(y_dot, np.number)
    assert y_dot == pytest.approx(2.0 * (slope if f is np.nan_to_num else f(slope)))
    assert y == f(np.exp(0.5j))
