"""What NumPy takes for arrays and numbers although it is neither: a derivative through it is right
or refused in every mode and never lost, and what is constant in such clothes stays constant."""

import array
import collections
import ctypes
import statistics
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import adjoint as ad
from adjoint.errors import AdjointError, ArgumentError, NoDerivativeError
from adjoint.testing import check_gradient
from tests.errors.places import raised

POINT, DIRECTION = np.array([0.3, 1.7, 1.2]), np.array([0.4, -1.1, 0.9])
WEIGHTS = np.array([0.5, -1.0, 2.0])
STEP = 1e-6


class TellsByClass:
    def __init__(self, values):
        self.values = values

    @property
    def __array_interface__(self):
        return self.values.__array_interface__


class TellsItself:
    def __init__(self, values):
        self.values = values
        self.__array_interface__ = values.__array_interface__


class TellsItsStruct:
    def __init__(self, values):
        self.values = values

    @property
    def __array_struct__(self):
        return self.values.__array_struct__


class TellsByGetattr:
    def __init__(self, values):
        self.values = values

    def __getattr__(self, name):
        if name == "__array_interface__":
            return self.values.__array_interface__
        raise AttributeError(name)


class GivesItself:
    def __init__(self, values):
        self.__array__ = lambda dtype=None, copy=None: np.array(values, dtype)


CLOTHES = {
    "array": lambda v: array.array("d", v.tolist()),
    "array of an array": lambda v: array.array("d", v),
    "memoryview": lambda v: memoryview(v * 1.0),
    "memoryview of bytes": lambda v: memoryview(v.tobytes()).cast("d"),
    "memoryview of an array.array": lambda v: memoryview(array.array("d", v.tolist())),
    "ctypes": lambda v: (ctypes.c_double * 3)(*v),
    "interface of a class": lambda v: TellsByClass(v * 1.0),
    "interface of an object": lambda v: TellsItself(v * 1.0),
    "interface by getattr": lambda v: TellsByGetattr(v * 1.0),
    "array of an object": lambda v: GivesItself(v * 1.0),
    "struct": lambda v: TellsItsStruct(v * 1.0),
    "list of arrays": lambda v: [array.array("d", v.tolist())],
    "tuple of arrays": lambda v: (array.array("d", v.tolist()),),
    "deque of arrays": lambda v: collections.deque([array.array("d", v.tolist())]),
    "list of views": lambda v: [memoryview(v * 1.0)],
    "list of objects": lambda v: [TellsByClass(v * 1.0)],
    "numbers of ctypes": lambda v: [ctypes.c_double(e) for e in v],
}
OBJECTS = {
    "fractions": lambda v: [Fraction(float(e)) for e in v],
    "fractions beside floats": lambda v: [Fraction(float(v[0])), v[1], v[2]],
    "array of fractions": lambda v: np.array([Fraction(float(e)) for e in v]),
    "decimals": lambda v: [Decimal(float(e)) for e in v],
    "array of objects": lambda v: np.array([v[0], v[1], v[2]], dtype=object),
    "as objects": lambda v: v.astype(object),
}


def assigned(x, v):
    o = np.zeros(3)
    o[:] = x
    return (o * o).sum()


def added_in_place(x, v):
    o = v * 1.0
    o += x
    return (o * o).sum()


def added_to_nothing(x, v):
    o = np.zeros(3)
    o += x
    return (o * o).sum()


def multiplied_in_place(x, v):
    o = v * 1.0
    o *= x
    return (o * o).sum()


def into_out(x, v):
    o = np.zeros(3)
    np.add(x, v, out=o)
    return (o * o).sum()


def copied_to(x, v):
    o = np.zeros(3)
    np.copyto(o, x)
    return (o * o).sum()


def put(x, v):
    o = np.zeros(3)
    np.put(o, [0, 1, 2], x)
    return (o * o).sum()


def added_at(x, v):
    o = v * 1.0
    np.add.at(o, [0, 1, 2], x)
    return (o * o).sum()


def an_element(x, v):
    o = np.zeros(3)
    o[0] = np.ravel(x)[0]
    return (o * v).sum()


USES = {
    "add": lambda x, v: np.sum(np.add(x, 1.0) ** 2),
    "add as floats": lambda x, v: np.sum(np.add(x, 1.0, dtype=float) ** 2),
    "sin": lambda x, v: np.sum(np.sin(x)),
    "sum": lambda x, v: np.sum(x) * 1.0,
    "sum by keyword": lambda x, v: np.sum(a=x) * 1.0,
    "mean": lambda x, v: np.mean(x) * 2.0,
    "max": lambda x, v: np.max(x) * 2.0,
    "cumsum": lambda x, v: np.cumsum(x)[-1] * 1.0,
    "norm": lambda x, v: np.linalg.norm(x) * 1.0,
    "interp": lambda x, v: np.interp(0.5, [0.0, 1.0, 2.0], x),
    "outer": lambda x, v: np.outer(x, WEIGHTS).sum() * 1.0,
    "kron": lambda x, v: np.kron(x, WEIGHTS).sum() * 1.0,
    "polyval": lambda x, v: np.polyval(x, 2.0),
    "dot": lambda x, v: np.sum(np.dot(x, WEIGHTS)) * 1.0,
    "dot with itself": lambda x, v: np.sum(np.dot(x, v)) * 1.0,
    "inner": lambda x, v: np.sum(np.inner(v, x)) * 1.0,
    "vdot": lambda x, v: np.vdot(v, x),
    "multiply": lambda x, v: np.multiply(v, x).sum() * 1.0,
    "*": lambda x, v: (v * x).sum() * 1.0,
    "* reflected": lambda x, v: (x * v).sum() * 1.0,
    "@": lambda x, v: np.ravel(x @ v).sum() * 1.0,
    "array": lambda x, v: np.array(x).sum() * 1.0,
    "array of floats": lambda x, v: np.array(x, dtype=float).sum(),
    "array of type d": lambda x, v: np.array(x, dtype="d").sum(),
    "asarray": lambda x, v: (np.asarray(x) * v).sum() * 1.0,
    "asarray of floats": lambda x, v: (np.asarray(x, float) * v).sum(),
    "ascontiguousarray": lambda x, v: (np.ascontiguousarray(x, float) * v).sum(),
    "array in a list": lambda x, v: np.array([x], dtype=float).sum(),
    "concatenate": lambda x, v: np.concatenate([np.ravel(x), v]).sum() * 1.0,
    "stack": lambda x, v: np.vstack([x, v]).sum() * 2.0,
    "where": lambda x, v: np.where([True, False, True], x, v).sum() * 1.0,
    "clip": lambda x, v: np.clip(v + 0.1, x, 5.0).sum() * 1.0,
    "reduce": lambda x, v: np.sum(np.add.reduce(x)) * 1.0,
    "ufunc.outer": lambda x, v: np.multiply.outer(x, v).sum() * 1.0,
    "einsum": lambda x, v: np.sum(np.einsum("...i,i", x, v)) * 1.0,
    "tensordot": lambda x, v: np.tensordot(x, v, 1).sum() * 1.0,
    "sort": lambda x, v: (np.sort(x) * 2.0).sum(),
    "tile": lambda x, v: np.tile(x, 2).sum() * 1.0,
    "fft": lambda x, v: np.abs(np.fft.fft(x)).sum(),
    "average": lambda x, v: np.average(v, weights=np.ravel(x)),
    "full": lambda x, v: np.full((1, 3), x, float).sum(),
    "full_like": lambda x, v: np.full_like(v, x).sum() * 1.0,
    "append": lambda x, v: np.append(v, x).sum() * 1.0,
    "solve": lambda x, v: np.linalg.solve(np.eye(3) * 2, np.ravel(x)).sum(),
    **{f.__name__: f for f in (
        assigned, added_in_place, added_to_nothing, multiplied_in_place, into_out, copied_to, put,
        added_at, an_element,
    )},
}  # fmt: skip


def reverse(f):
    return np.dot(ad.grad(f)(POINT.copy()), DIRECTION)


def forward(f):
    return ad.pushforward(f, (POINT.copy(),), (DIRECTION,))[1]


def forward_inside_reverse(f):
    def moved(t):
        return ad.pushforward(f, (POINT + t * DIRECTION,), (DIRECTION,))[0]

    return ad.grad(moved)(0.0)


def reverse_beside_reverse(f):
    return reverse(lambda v: f(v) * ad.gradient(lambda u: u * u / 2, 1.0)[0])


def second(f):
    """Of the integral of ``f`` along the direction, as far as the slope of that shows it."""

    def slope(t):
        return ad.pushforward(lambda s: s * f(POINT + t * DIRECTION), (1.0,), (1.0,))[1]

    return ad.grad(slope)(0.0)


MODES = [reverse, forward, forward_inside_reverse, reverse_beside_reverse, second]


def numeric(f):
    """``None`` where NumPy does not take such operands."""
    try:
        up, down = f(POINT + STEP * DIRECTION), f(POINT - STEP * DIRECTION)
        return (float(up) - float(down)) / (2 * STEP)
    except (TypeError, ValueError):
        return None


def check_right_or_refused(f):
    expected = numeric(f)
    if expected is None:
        pytest.skip("NumPy does not take that")
    for mode in MODES:
        try:
            found = mode(f)
        except AdjointError:
            continue
        assert found == pytest.approx(expected, rel=1e-5, abs=1e-6), mode.__name__


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("clothes", [*CLOTHES, *OBJECTS])
def test_derivatives_are_right_or_refused(clothes, use):
    dress = (CLOTHES | OBJECTS)[clothes]

    def f(v):
        return USES[use](dress(v), v)

    check_right_or_refused(f)


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("clothes", CLOTHES)
def test_constants_are_not_refused(clothes, use):
    constant = CLOTHES[clothes](POINT)

    def f(v):
        return USES[use](constant, v) + v.sum()

    expected = numeric(f)
    if expected is None:
        pytest.skip("NumPy does not take that")
    for mode in (reverse, forward, second):
        assert mode(f) == pytest.approx(expected, rel=1e-5, abs=1e-6), mode.__name__


@pytest.mark.parametrize("use", ["array of floats", "asarray of floats", "assigned", "full_like"])
@pytest.mark.parametrize("clothes", ["fractions", "array of fractions", "decimals"])
def test_constant_objects_that_become_floats(clothes, use):
    constant = OBJECTS[clothes](POINT)

    def f(v):
        return USES[use](constant, v) + v.sum()

    for mode in (reverse, forward):
        assert mode(f) == pytest.approx(numeric(f)), mode.__name__


def test_views_of_arrays_are_followed():
    def f(v):
        o = np.zeros(3)
        np.asarray(memoryview(o))[:] = np.sin(memoryview(v * 2.0))
        return (o * memoryview(v)).sum()

    for mode in MODES:
        assert mode(f) == pytest.approx(numeric(f))


# ---- one by one ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "f",
    [
        lambda v: np.array(Decimal(v[0]), dtype=float) * 1.0,
        lambda v: np.asarray(Fraction(v[0]), dtype=float) * 1.0,
        lambda v: np.float64(Decimal(v[0])),
        lambda v: np.full(3, Fraction(v[0]), float).sum(),
        lambda v: np.array([v[0], Fraction(v[1])], dtype="d").sum(),
        lambda v: np.array([v[0], Decimal(v[1])], dtype=np.complex64).sum().real,
        lambda v: np.add(Fraction(v[0]), WEIGHTS).sum(),
        lambda v: (WEIGHTS * Fraction(v[0])).sum(),
        lambda v: np.add(ctypes.c_double(v[0]), 1.0),
        lambda v: np.frombuffer(array.array("d", v.tolist())).sum(),
        lambda v: np.fromiter(array.array("d", v.tolist()), float).sum(),
        lambda v: np.vectorize(lambda q: q * 2)(array.array("d", v.tolist())).sum(),
        lambda v: np.average(v, weights=array.array("d", v.tolist())),
    ],
)
def test_numbers_alone(f):
    for mode in (reverse, forward, second):
        raised(NoDerivativeError, mode, f)


@pytest.mark.parametrize(
    "f",
    [
        lambda v: array.array("d", np.array([v[0], v[1]], dtype=object))[0],
    ],
)
def test_what_c_makes_of_arrays_of_objects(f):
    for mode in (reverse, forward, second):
        raised(NoDerivativeError, mode, f)


@pytest.mark.parametrize(
    "f",
    [
        lambda v: v.astype(object)[[0]][0] * 1.0,
        lambda v: v.astype(object).flat[0] * 1.0,
        lambda v: v.astype(object)[:1].tolist()[0] * 1.0,
        lambda v: sum(v.astype(object)),
    ],
)
def test_what_is_made_of_arrays_of_objects(f):
    for mode in MODES:
        assert mode(f) == pytest.approx(numeric(f))


@pytest.mark.parametrize(
    "f",
    [
        lambda v: (v * np.array([1.0, 2.0, 3.0], dtype=object)).sum(),
        lambda v: v @ np.array([1.0, 2.0, 3.0], dtype=object),
        lambda v: np.vdot(v, np.array([1.0, 2.0, 3.0], dtype=object)),
        lambda v: np.where([True, False, True], v.astype(object), v * v).sum() * 1.0,
    ],
)
def test_what_c_calculates_with_arrays_of_objects(f):
    for mode in MODES:
        raised(NoDerivativeError, mode, f)


def test_ufuncs_made_of_functions():
    def f(v):
        return np.frompyfunc(lambda q: q * 2, 1, 1)(np.array([v[0], v[1]], dtype=object))[0]

    check_right_or_refused(f)


def test_elements_taken_out_of_arrays_of_objects_are_followed_in_forward_mode():
    def f(v):
        return np.array([v[0] * v[0], v[1]], dtype=object)[[0]][0]

    assert forward(f) == pytest.approx(numeric(f))


# ---- statistics ----------------------------------------------------------------------------------

EXACT = [
    statistics.mean, statistics.harmonic_mean, statistics.variance, statistics.stdev,
    statistics.pvariance, statistics.pstdev, statistics.median, statistics.fmean,
    statistics.geometric_mean,
]  # fmt: skip


@pytest.mark.parametrize("f", EXACT, ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    "data",
    [
        lambda v: [Fraction(v), Fraction(1, 3)],
        lambda v: (Fraction(v), 0.5),
        lambda v: iter([Fraction(v), Fraction(1, 3)]),
        lambda v: [Decimal(v), Decimal("0.1")],
    ],
)
def test_statistics_of_fractions(f, data):
    def g(v):
        return float(f(data(v)))

    raised(NoDerivativeError, ad.gradient, g, 0.3)
    raised(NoDerivativeError, ad.pushforward, g, (0.3,), (1.0,))


@pytest.mark.parametrize("f", EXACT, ids=lambda f: f.__name__)
def test_statistics_beside_constant_fractions(f):
    def g(v):
        return f([Fraction(1, 3), v]) + v * float(f([Fraction(1, 3), Fraction(1, 4)]))

    slope = (g(0.7 + STEP) - g(0.7 - STEP)) / (2 * STEP)
    assert ad.gradient(g, 0.7) == (pytest.approx(slope),)
    assert ad.pushforward(g, (0.7,), (1.0,))[1] == pytest.approx(slope)


@pytest.mark.parametrize(
    "g",
    [
        lambda v: statistics.harmonic_mean([1.0, 2.0], [Fraction(v), Fraction(1, 2)]),
        lambda v: statistics.pvariance([1.0, 2.0], Fraction(v)),
    ],
)
def test_statistics_with_fractions_beside_the_data(g):
    raised(NoDerivativeError, ad.gradient, g, 0.3)
    raised(NoDerivativeError, ad.pushforward, g, (0.3,), (1.0,))


# ---- pandas --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "f",
    [
        lambda pd, v: (pd.Series(v) ** 2).sum(),
        lambda pd, v: added_to_nothing(pd.Series(v), v),
        lambda pd, v: added_in_place(pd.Series(v), v),
        lambda pd, v: multiplied_in_place(pd.Series(v), v),
        lambda pd, v: assigned(pd.Series(v), v),
        lambda pd, v: np.sum(np.sin(pd.Series(v)) * pd.DataFrame({"a": v})["a"]),
    ],
)
def test_pandas_around_arrays(f):
    pd = pytest.importorskip("pandas")
    check_gradient(lambda v: f(pd, v), POINT)


@pytest.mark.parametrize(
    "f",
    [
        lambda pd, v: (pd.Series([v[0], v[1]]) ** 2).sum(),
        lambda pd, v: (pd.Series(v.tolist()) ** 2).sum(),
        lambda pd, v: (pd.Series({"a": v[0], "b": 2.0}) ** 2).sum(),
        lambda pd, v: (pd.DataFrame({"a": [v[0], v[1]]}) ** 2).sum().sum(),
        lambda pd, v: np.sum(np.sin(pd.Series([v[0], v[1]]))),
        lambda pd, v: added_in_place(pd.Series([v[0], v[1], 2.0]), v),
        lambda pd, v: assigned(pd.Series(v.tolist()), v),
    ],
)
def test_pandas_around_lists(f):
    pd = pytest.importorskip("pandas")
    check_gradient(lambda v: f(pd, v), POINT)


def test_what_an_object_of_c_holds_has_no_cotangent_of_its_own():
    """A series or a tree as an argument."""
    pd = pytest.importorskip("pandas")
    spatial = pytest.importorskip("scipy.spatial")
    raised(ArgumentError, ad.gradient, lambda s: (s * s).sum(), pd.Series([0.3, 0.4]))
    tree = spatial.KDTree(np.eye(3))
    raised(ArgumentError, ad.gradient, lambda t: t.query(POINT)[0], tree)
    raised(ArgumentError, ad.gradient, lambda t: t.data.sum(), tree)
