"""NumPy's universal functions, other than those that are operators."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.rulekit.registry import lookup, rrule
from tests.rules.harness import complexes, reals, table
from tests.support import check_reverse


def real(low=-2.0, high=2.0):
    """Operands of a real function, in this interval."""

    def some(*shape, dtype=float):
        return reals(*shape, low=low, high=high, dtype=dtype)

    x = float(some(1)[0])
    return [
        (x,),
        (np.float64(x),),
        (np.float32(x),),
        (np.float16(x),),
        (np.array(x),),
        (some(3),),
        (some(2, 3),),
        (some(2, 3).T,),
        (some(2, 2, 2)[:, ::-1],),
        (some(3, dtype="f4"),),
        (some(0),),
        (some(2, 2).tolist(),),
        ((x, x),),
    ]


def holomorphic(low=-2.0, high=2.0):
    """Operands of a function of complex numbers, its real ones in this interval."""
    return [*real(low, high), (0.4 + 0.7j,), (complexes(2, 2),), (complexes(3).astype("c8"),)]


def pairs(low=-2.0, high=2.0):
    def some(*shape, seed=0, dtype=float):
        return reals(*shape, low=low, high=high, seed=seed, dtype=dtype)

    return [
        (float(some(1)[0]), float(some(1, seed=1)[0])),
        (np.float64(some(1)[0]), float(some(1, seed=1)[0])),
        (some(3), some(3, seed=1)),
        (some(2, 3), some(3, seed=1)),
        (some(2, 1), some(3, seed=1)),
        (some(3), float(some(1, seed=1)[0])),
        (np.array(some(1)[0]), some(2, 2, seed=1)),
        (some(3, dtype="f4"), some(3, seed=1, dtype="f4")),
        (some(3).tolist(), some(3, seed=1)),
        (some(0, 3), some(3)),
    ]


INTEGERS = [(2,), (np.arange(1, 4),)]
CASES = {
    np.exp: [*holomorphic(), *INTEGERS],
    np.exp2: [*holomorphic(), *INTEGERS],
    np.expm1: holomorphic(),
    np.log: [*holomorphic(0.2, 3.0), *INTEGERS],
    np.log2: holomorphic(0.2, 3.0),
    np.log10: holomorphic(0.2, 3.0),
    np.log1p: holomorphic(-0.5, 3.0),
    np.sqrt: [*holomorphic(0.2, 3.0), *INTEGERS],
    np.cbrt: real(),
    np.square: [*holomorphic(), *INTEGERS],
    np.reciprocal: holomorphic(),
    np.logaddexp: pairs(),
    np.logaddexp2: pairs(),
    np.sin: [*holomorphic(), *INTEGERS],
    np.cos: holomorphic(),
    np.tan: holomorphic(-1.2, 1.2),
    np.arcsin: holomorphic(-0.9, 0.9),
    np.arccos: holomorphic(-0.9, 0.9),
    np.arctan: holomorphic(),
    np.sinh: holomorphic(),
    np.cosh: holomorphic(),
    np.tanh: holomorphic(),
    np.arcsinh: holomorphic(),
    np.arccosh: holomorphic(1.2, 3.0),
    np.arctanh: holomorphic(-0.9, 0.9),
    np.degrees: real(),
    np.rad2deg: real(),
    np.radians: real(),
    np.deg2rad: real(),
    np.hypot: pairs(),
    np.arctan2: pairs(),
    np.maximum: [*pairs(), (reals(3), 0.0), (np.arange(3), 1.5)],
    np.minimum: pairs(),
    np.fmax: [*pairs(), (np.array([np.nan, 1.0]), np.array([1.0, 2.0]))],
    np.fmin: [*pairs(), (np.array([np.nan, 1.0]), np.array([1.0, 2.0]))],
    np.copysign: pairs(),
    np.heaviside: pairs(),
    np.ldexp: [(1.5, 2), (reals(3), np.array([1, -2, 3])), (reals(2, dtype="f4"), 2)],
    np.nextafter: [(1.5, 2.0)],
    np.conjugate: holomorphic(),
    np.sign: [*real(), (complexes(3),), (1 + 2j,)],
    np.modf: [(1.7,), (reals(3),), ([1.5, -2.5],)],
    np.frexp: [(1.7,), (reals(3),), ([1.5, -2.5],)],
}
VECTORS = [
    (reals(3), reals(3, seed=1)),
    (reals(2, 3), reals(3, seed=1)),
    (complexes(2, 3), complexes(3, seed=5)),
    (reals(4, 1, 3), reals(2, 3, dtype="f4")),
]
if hasattr(np, "vecdot"):
    CASES[np.vecdot] = VECTORS
if hasattr(np, "matvec"):
    CASES[np.matvec] = [
        (reals(2, 3), reals(3)),
        (reals(4, 2, 3), reals(3)),
        (complexes(2, 3), complexes(4, 3, seed=5)),
    ]
    CASES[np.vecmat] = [
        (reals(2), reals(2, 3)),
        (reals(4, 2), reals(2, 3)),
        (complexes(2), complexes(4, 2, 3, seed=5)),
    ]
test_rule = table(CASES)


def test_every_ufunc_is_registered():
    for name, f in vars(np).items():
        if isinstance(f, np.ufunc):
            rules = lookup(f)
            assert rules is not None and (rules.rrules or rules.inactive), name


# ---- edge points ---------------------------------------------------------------------------------


def bars(f, *args, y_bar):
    with np.errstate(all="ignore"):
        return [np.asarray(bar).tolist() for bar in rrule(f, *args)[1](np.asarray(y_bar))[1:]]


@pytest.mark.parametrize(
    "f, x, slope",
    [
        (np.sqrt, 0.0, np.inf),
        (np.log, 0.0, np.inf),
        (np.cbrt, 0.0, np.inf),
        (np.arcsin, 1.0, np.inf),
        (np.arccosh, 1.0, np.inf),
        (np.exp, 1000.0, np.inf),
        (np.square, np.inf, np.inf),
        (np.reciprocal, 0.0, -np.inf),
        (np.absolute, 0.0, 0.0),
        (np.sign, 0.0, None),
    ],
)
def test_a_zero_cotangent_stays_zero(f, x, slope):
    """Where the slope is infinite, what was not selected contributes nothing."""
    assert bars(f, np.array([x, x]), y_bar=[1.0, 1.0]) in ([[slope, slope]], [None])
    if slope is not None:
        assert bars(f, np.array([x, x]), y_bar=[0.0, 1.0]) == [[0.0, slope]]
        assert bars(f, np.array([x, x], "f4"), y_bar=[0.0, 1.0]) == [[0.0, slope]]
        assert bars(f, np.float64(x), y_bar=0.0) == [0.0]
        assert bars(f, x, y_bar=0.0) == [0.0]
        assert bars(f, x, y_bar=1.0) == [slope]


def test_ties_are_shared_equally():
    a, b = np.array([1.0, 2.0, np.inf]), np.array([1.0, 1.0, np.inf])
    ones = np.ones(3)
    for f in (np.maximum, np.fmax):
        assert bars(f, a, b, y_bar=ones) == [[0.5, 1.0, 0.5], [0.5, 0.0, 0.5]]
    for f in (np.minimum, np.fmin):
        assert bars(f, a, b, y_bar=ones) == [[0.5, 0.0, 0.5], [0.5, 1.0, 0.5]]
    assert bars(np.maximum, 0.0, 0.0, y_bar=1.0) == [0.5, 0.5]


def test_the_origin_of_hypot_and_arctan2():
    assert bars(np.hypot, np.zeros(1), np.zeros(1), y_bar=[1.0]) == [[0.0], [0.0]]
    assert bars(np.arctan2, np.zeros(1), np.zeros(1), y_bar=[0.0]) == [[0.0], [0.0]]


def test_python_numbers_have_python_cotangents():
    assert type(rrule(np.sin, 0.5)[1](np.float64(1))[1]) is float
    assert type(rrule(np.sin, 1)[1](np.float64(1))[1]) is float
    assert type(rrule(np.maximum, 0.5, np.float64(1))[1](np.float64(1))[1]) is float
    assert type(rrule(np.exp, 0.5j)[1](np.complex128(1))[1]) is complex


def test_what_is_not_numeric_is_declined():
    for x in ("a", ["a"], [[1.0], [1.0, 2.0]], np.array([object()]), None, np.ma.array([1.0])):
        assert rrule(np.sin, x) is None
    assert rrule(np.sin, 1.0, dtype=np.float32) is None
    assert rrule(np.sin, reals(2), np.empty(2)) is None


@pytest.mark.parametrize("f", [np.arcsin, np.arccos, np.emath.arcsin, np.emath.arccos])
@pytest.mark.parametrize("x", [1.7, -1.7, 0.4])
def test_on_the_cuts_the_branch_is_that_of_the_value(f, x):
    """The reals beyond 1 are the cuts of the complex function."""
    check_reverse(lambda x: f(np.multiply(x, 1.0 + 0j)), x)
    check_reverse(lambda x: np.emath.arccos(x), np.array([x, 2.5]))


def test_a_dtype_is_asked_of_the_result():
    z = np.array([1 + 2j, 0.5 - 1j])
    check_reverse(lambda z: np.abs(z, dtype=np.float64), z)
    check_reverse(lambda x: np.ldexp(x, 2, dtype=np.float64), np.float32([1.5, 2.5]))
    check_reverse(lambda x: np.multiply(x, 2, dtype=complex), np.array([1.5, 2.5]))


def test_numbers_beside_single_precision_where_only_a_part_is_computed():
    def f(x):
        return np.multiply(x, 0.1, out=np.ones(3, np.float32), where=x > 0.5)

    x = np.float32([0.3, 0.7, 1.1])
    assert ad.pullback(f, x)[0].tolist() == f(x).tolist()


def test_sums_of_infinite_powers():
    for f in (np.logaddexp, np.logaddexp2):
        for a, b, expected in (
            (np.inf, 1.0, (1, 0)), (-3.0, np.inf, (0, 1)), (1.0, -np.inf, (1, 0)),
            (np.inf, np.inf, (0.5, 0.5)), (-np.inf, -np.inf, (0.5, 0.5)),
        ):  # fmt: skip
            assert ad.gradient(f, a, b) == expected
            assert ad.pushforward(f, (a, b), (1.0, None))[1] == expected[0]
            bars = ad.gradient(lambda x, y: f(x, y).sum(), np.array([a]), np.array([b]))  # noqa: B023
            assert tuple(bar[0] for bar in bars) == expected


def test_the_slope_of_arcsinh_does_not_overflow():
    assert ad.gradient(np.arcsinh, 1e200) == (1e-200,)
    assert ad.gradient(lambda x: np.arcsinh(x).sum(), np.array([-1e200]))[0] == 1e-200
