"""Python's operators, and the ufuncs that are the same functions."""

import operator

import numpy as np
import pytest

from adjoint.rulekit.registry import rrule
from tests.rules.harness import complexes, reals, table

SHAPES = [
    (2.0, 3.0),
    (2, 3),
    (True, 1.5),
    (np.float64(2.0), 3.0),
    (np.float32(2.0), np.float32(3.0)),
    (np.float16(2.0), 3.0),
    (np.array(2.0), 3.0),
    (reals(3), reals(3, seed=1)),
    (reals(3), 2.0),
    (2.0, reals(3)),
    (reals(3), np.int64(2)),
    (reals(2, 3), reals(3, seed=1)),
    (reals(2, 1, 4), reals(3, 1, seed=1)),
    (reals(2, 3).T, reals(3, 2, seed=1)),
    (np.array(1.5), reals(2, 2)),
    (reals(0, 3), reals(3)),
    (reals(3, dtype="f4"), reals(3, dtype="f4", seed=1)),
    (reals(3, dtype="f4"), reals(2, 3, seed=1)),
    (reals(3, dtype="f4"), 2.0),
    (np.arange(1, 4), reals(3)),
    (np.arange(1, 4, dtype="i1"), 100),
]
COMPLEX = [
    (1 + 2j, 3 - 1j),
    (2.0, 3 - 1j),
    (complexes(3), complexes(3, seed=5)),
    (reals(3), complexes(2, 3)),
    (np.complex64(1 + 2j), np.float32(2)),
    (complexes(2), 2.0),
]
LISTS = [([1.0, 2.0], (3.0, 4.0)), ([[1.0], [2.0]], 3.0)]
POSITIVE = [
    (2.0, 1.5),
    (2, 3),
    (2.0, -2),
    (np.float64(2), 3.0),
    (reals(3, low=0.5), reals(3, seed=1)),
    (reals(2, 1, low=0.5), reals(3, seed=1)),
    (reals(3, low=0.5), 2),
    (reals(3, low=0.5), 3.0),
    (reals(3, low=0.5), -0.5),
    (3.0, reals(3)),
    (reals(3, low=0.5, dtype="f4"), np.float32(2.5)),
    (np.arange(1.0, 4.0), np.arange(3)),
    (reals(3, low=0.5), 0),
    (np.array(1.5), np.array(2.5)),
]
REMAINDERS = [
    (7.5, 2.0),
    (-7.5, 2.0),
    (7.5, -2.0),
    (reals(3), 0.7),
    (reals(2, 1), reals(3, low=0.5)),
]
MATRICES = [
    (reals(3), reals(3, seed=1)),
    (reals(2, 3), reals(3, seed=1)),
    (reals(3), reals(3, 2, seed=1)),
    (reals(2, 3), reals(3, 4, seed=1)),
    (reals(5, 2, 3), reals(3, 4, seed=1)),
    (reals(2, 3), reals(5, 3, 4, seed=1)),
    (reals(5, 1, 2, 3), reals(4, 3, 2, seed=1)),
    (reals(5, 2, 3), reals(3, seed=1)),
    (reals(3), reals(5, 3, 2, seed=1)),
    (reals(2, 3, dtype="f4"), reals(3, 4, seed=1)),
    (complexes(2, 3), complexes(3, 4, seed=5)),
    (complexes(5, 2, 3), reals(3, 2)),
    (np.arange(6).reshape(2, 3), reals(3, 2)),
    (reals(2, 0), reals(0, 3)),
    (reals(4, 2, 0), reals(0, 3)),
    (reals(2, 3).T, reals(3, 2).T),
]
UNARY = [
    (1.5,),
    (-2,),
    (reals(3),),
    (reals(2, 3, dtype="f4"),),
    (np.float32(-1),),
    (np.array(2.0),),
]

CASES = {
    operator.pos: [*UNARY, (1 + 2j,)],
    operator.neg: [*UNARY, (1 + 2j,), (complexes(3),), (reals(0),)],
    operator.abs: [*UNARY, (3 - 4j,), (complexes(2, 2),), (np.complex64(1 + 1j),)],
    abs: [*UNARY, (3 - 4j,)],
    operator.add: [*SHAPES, *COMPLEX],
    operator.sub: [*SHAPES, *COMPLEX],
    operator.mul: [*SHAPES, *COMPLEX, (reals(2), [1.0, 2.0])],
    operator.truediv: [*SHAPES, *COMPLEX],
    divmod: REMAINDERS[:-2],
    np.divmod: [*REMAINDERS, ([7.5, 2.5], 2)],
    operator.floordiv: [(7.5, 2.0), (reals(3), 0.7), (7, 2)],
    operator.mod: REMAINDERS,
    operator.pow: [
        *POSITIVE,
        (-2.0, 3),
        (-2.0, 0.5),
        (1 + 2j, 2.0),
        (complexes(3), 3),
        (2.0, 1 + 1j),
    ],
    operator.matmul: [*MATRICES, (reals(2, 2), [1.0, 2.0])],
    operator.and_: [(6, 3), (np.arange(3), 1)],
    operator.or_: [(6, 3)],
    operator.xor: [(6, 3)],
    operator.lshift: [(6, 3)],
    operator.rshift: [(6, 3)],
    operator.invert: [(6,), (np.arange(3),)],
    np.positive: UNARY,
    np.negative: [*UNARY, ([1.0, 2.0],)],
    np.absolute: [*UNARY, (complexes(3),), ([1.0, -2.0],)],
    np.fabs: UNARY,
    np.add: [*SHAPES, *COMPLEX, *LISTS],
    np.subtract: [*SHAPES, *LISTS],
    np.multiply: [*SHAPES, *COMPLEX, *LISTS],
    np.true_divide: [*SHAPES, *LISTS],
    np.floor_divide: [(reals(3), 0.7), (7, 2)],
    np.remainder: REMAINDERS,
    np.fmod: REMAINDERS,
    np.power: [*POSITIVE[:2], *POSITIVE[3:], ([1.0, 2.0], 2), (complexes(2), 2.5)],
    np.float_power: [*POSITIVE, ([1.0, 2.0], 2)],
    np.matmul: [*MATRICES, ([[1.0, 2.0]], reals(2, 2))],
}
test_rule = table(CASES)


# ---- edge points ---------------------------------------------------------------------------------


def bars(f, *args, y_bar=1.0):
    with np.errstate(all="ignore"):
        return rrule(f, *args)[1](y_bar)[1:]


@pytest.mark.parametrize("zero", [0.0, 0, np.float64(0), np.array(0.0)])
def test_abs_at_zero_has_slope_zero(zero):
    assert bars(abs, zero) == (0.0,)
    assert bars(np.absolute, np.zeros(2), y_bar=np.ones(2))[0].tolist() == [0.0, 0.0]
    assert bars(abs, 0j) == (0j,)


@pytest.mark.parametrize("make", [float, np.float64, lambda x: np.array([x])])
def test_powers_of_zero(make):
    def slopes(b):
        y_bar = np.ones_like(make(0.0)) if isinstance(make(0.0), np.ndarray) else 1.0
        return [
            float(np.squeeze(bar)) for bar in bars(operator.pow, make(0.0), make(b), y_bar=y_bar)
        ]

    assert slopes(2.0) == [0.0, 0.0]
    assert slopes(1.0) == [1.0, 0.0]
    assert slopes(0.0) == [0.0, 0.0]
    assert slopes(0.5) == [np.inf, 0.0]


def test_power_of_a_negative_number():
    assert bars(operator.pow, -2.0, 3)[0] == 12.0
    assert bars(operator.pow, np.array([-2.0, 3.0]), 3, y_bar=np.ones(2))[0].tolist() == [
        12.0,
        27.0,
    ]
    assert bars(operator.pow, -2.0, 3) == pytest.approx((12.0, -8 * np.log(2)))
    for f in (operator.pow, np.power, np.float_power):
        slopes = bars(f, np.array([-2.0, 2.0]), np.array([3.0, 3.0]), y_bar=np.ones(2))[1]
        assert slopes == pytest.approx([-8 * np.log(2), 8 * np.log(2)])
        powers = bars(f, np.array([-2.0]), np.array([3.0 + 0j]), y_bar=np.ones(1))[1]
        assert powers == pytest.approx(np.conj([-8 * np.log(-2 + 0j)]))


@pytest.mark.parametrize("f", [operator.truediv, np.true_divide])
def test_a_zero_cotangent_stays_zero(f):
    a, b = np.array([1.0, 1.0]), np.array([0.0, 2.0])
    a_bar, b_bar = bars(f, a, b, y_bar=np.array([0.0, 1.0]))
    assert a_bar.tolist() == [0.0, 0.5] and b_bar.tolist() == [0.0, -0.25]
    a_bar, b_bar = bars(f, 1.0, b, y_bar=np.array([0.0, 1.0]))
    assert a_bar == 0.5 and b_bar.tolist() == [0.0, -0.25]
    assert bars(f, np.float64(1), np.float64(0), y_bar=0.0) == (0.0, 0.0)


def test_a_zero_cotangent_times_infinity_is_zero():
    x = np.array([np.inf, 1.0])
    a_bar, b_bar = bars(operator.mul, x, x, y_bar=np.array([0.0, 1.0]))
    assert a_bar.tolist() == b_bar.tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    "args", [([1.0], [2.0]), ("a", "b"), ([1.0], 2), (object(), 1.0), ({1}, {2}), (None, 1.0)]
)
def test_operators_decline_what_is_no_number(args):
    assert rrule(operator.add, 1.0, 2.0) is not None
    for f in (operator.add, operator.mul, operator.sub, operator.or_):
        assert rrule(f, *args) is None


def test_operators_decline_arrays_with_a_meaning_of_their_own():
    matrix = np.ma.masked_array([1.0, 2.0], [True, False])
    assert rrule(operator.mul, matrix, 2.0) is None
    assert rrule(operator.add, np.array(["a"]), np.array(["b"])) is None
    assert rrule(operator.add, np.array([object()]), 1.0) is None


def test_ufuncs_decline_keywords():
    assert rrule(np.add, 1.0, 2.0, dtype=np.float32) is None
    assert rrule(np.add, reals(3), 2.0, where=np.array([True, False, True])) is None


def test_the_rule_for_one_operand_alone():
    rule = next(iter(rrule.find(operator.mul, (1.0, 2.0), {}))).function
    for a, b in SHAPES:
        y, back = rule(a, b)
        both = back(np.ones_like(y) * 1.0)
        for i in range(2):
            alone = rule.only[i](a, b)[1](np.ones_like(y) * 1.0)
            np.testing.assert_array_equal(alone[i + 1], both[i + 1])
            assert alone[2 - i] is None


def test_the_rule_for_one_operand_alone_at_a_pole():
    rule = next(iter(rrule.find(operator.truediv, (1.0, 2.0), {}))).function
    y_bar = np.array([0.0, 1.0])
    with np.errstate(all="ignore"):
        assert rule.only[0](np.ones(2), 0.0)[1](y_bar)[1].tolist() == [0.0, np.inf]
        assert rule.only[1](1.0, np.zeros(2))[1](y_bar)[2].tolist() == [0.0, -np.inf]
