"""where, select, clip, and functions with a table inside."""

import numpy as np
import pytest
from scipy import special

import adjoint as ad
from adjoint.rulekit.registry import rrule
from adjoint.rules.numpy.products import core
from adjoint.rules.numpy.shapes.elementwise_choices import bessel_i1
from adjoint.testing import check_gradient
from tests.rules.harness import case, complexes, reals, table

MASK = np.array([True, False, True])
HOLES = np.array([1.0, np.nan, np.inf, 2.0, -np.inf])
KNOTS, VALUES = np.array([0.0, 1.0, 3.0, 4.0]), reals(4)
CASES = {
    np.where: [
        (MASK, reals(3), reals(3, seed=1)),
        (MASK, reals(3), 0.0),
        (MASK, 1.0, reals(2, 3)),
        (MASK[:, None], reals(3), [1.0, 2.0, 3.0]),
        (True, 2.0, 3.0),
        (MASK.tolist(), reals(3, dtype="f4"), np.float32(0)),
        (MASK, complexes(3), reals(3)),
        (np.array([1, 0, 2]), np.arange(3), reals(3)),
        (MASK,),
    ],
    np.select: [
        ([MASK, ~MASK], [reals(3), reals(3, seed=1)]),
        ([MASK, np.array([True, True, False])], (reals(3), 2.0), 1.5),
        ([MASK], [reals(2, 1)], reals(3)),
        ([MASK, MASK], [reals(3, dtype="f4"), reals(3, dtype="f4")], np.float32(1)),
        ([True], [[1.0, 2.0]]),
        ([MASK], [reals(3)], 0.5),
    ],
    core.umath.clip: [
        (reals(5), -0.5, 0.7),
        (reals(2, 3), reals(3, low=-1, high=0), 0.7),
        (reals(3).tolist(), -0.5, [0.1, 0.2, 0.3]),
    ],
    np.clip: [
        (reals(5), -0.5, 0.7),
        (reals(2, 3), None, 0.7),
        (reals(2, 3), reals(3, low=-1, high=0), None),
        (reals(3, dtype="f4"), -0.5, 0.5),
        (reals(3).tolist(), -0.5, [0.1, 0.2, 0.3]),
        (2.0, 0.0, 1.0),
        (reals(3), 0.5, -0.5),
        (np.arange(5), 1.5, 3.5),
        case(reals(3), a_min=-0.5, a_max=0.5),
    ],
    np.nan_to_num: [
        (reals(3),),
        (complexes(3),),
        (reals(2, 2, dtype="f4"),),
        (1.5,),
        case(reals(3), nan=1.0),
        (HOLES, True, 1.5, 2.5, -2.5),
        (HOLES, True, reals(5), 2.5, reals(5)),
        (np.array([complex(1.0, np.nan), complex(np.nan, 2.0), 0.5 + 1j]), True, 1.5),
        (HOLES.astype("f4"), True, np.float32(1.5), 2.5, -0.5),
        case(HOLES, nan=1.5, posinf=2.5, neginf=0.5),
    ],
    np.angle: [
        (complexes(3),),
        (1 - 2j,),
        (complexes(2, 2).astype("c8"),),
        (reals(3),),
        (1j, True),
    ],
    np.sinc: [
        (reals(3),),
        (0.0,),
        (0.3,),
        (np.array([-2e-2, -9e-3, 1e-4, 0.0, 1.0]),),
        (reals(3, dtype="f4"),),
        ([0.5, 1.5],),
    ],
    np.i0: [(reals(3),), (0.0,), (1.5,), (np.array([-31.0, 29.0, 31.0]),), ([0.5, 1.5],)],
    np.interp: [
        (reals(5, low=0.1, high=3.9), KNOTS, VALUES),
        (np.array([-1.0, 0.5, 5.0]), KNOTS, VALUES),
        (np.array([-1.0, 0.5, 5.0]), KNOTS, VALUES, 2.0, 3.0),
        (2.2, KNOTS, VALUES),
        (np.array([[0.5], [3.3]]), KNOTS.tolist(), tuple(VALUES)),
        (1.5, KNOTS, complexes(4)),
        (np.array([-1.3, 0.5, 7.3]), np.array([3.1, 0.4, 1.9]), reals(3), None, None, 4.0),
        (np.array([-1.3, 0.5, 9.3]), np.array([3.1, 0.4, 1.9]), reals(3), 7.0, 8.0, -4.0),
        case(np.array([-1.3, 0.5]), np.array([3.1, 0.4, 1.9]), reals(3), period=4.0),
        (np.float32(0.5), KNOTS.astype("f4"), VALUES.astype("f4")),
        (0.5, [1.0], [2.0]),
    ],
}
test_rule = table(CASES)


def bars(f, *args, y_bar, **kwargs):
    with np.errstate(all="ignore"):
        return rrule(f, *args, **kwargs)[1](np.asarray(y_bar))[1:]


def test_what_was_not_selected_contributes_nothing():
    x_bar, y_bar = bars(np.where, MASK, reals(3), reals(3), y_bar=[np.inf, np.nan, 1.0])[1:]
    assert x_bar.tolist() == [np.inf, 0.0, 1.0]
    np.testing.assert_array_equal(y_bar, [0.0, np.nan, 0.0])


def test_ties_of_clip_are_shared():
    a_bar, low_bar, high_bar = bars(np.clip, np.array([0.0, 0.5, 1.0]), 0.0, 1.0, y_bar=np.ones(3))
    assert a_bar.tolist() == [0.5, 1.0, 0.5] and low_bar == high_bar == 0.5


@pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.1.0", reason="min= came with NumPy 2.1"
)
def test_clip_with_the_names_of_the_array_api():
    *arg_bars, by_name = bars(np.clip, reals(3), min=5.0, y_bar=np.ones(3))
    assert by_name == {"min": 3.0} and arg_bars[0].tolist() == [0.0, 0.0, 0.0]


def test_clip_of_another_type():
    check_gradient(lambda v: np.clip(v, 0.0, 1.0, dtype=float), np.array([0.5, 2.0, -1.0]))
    bar = ad.gradient(lambda v: v.clip(0, 1, dtype="f4").sum() * 2.0, np.array([0.5, 2.0]))[0]
    assert bar.dtype == float and bar.tolist() == [2.0, 0.0]


def test_replaced_values_contribute_nothing():
    x = np.array([np.nan, np.inf, 1.0])
    assert bars(np.nan_to_num, x, y_bar=np.ones(3))[0].tolist() == [0.0, 0.0, 1.0]


def test_replaced_parts_of_complex_numbers():
    z, y_bar = np.array([complex(np.inf, 2.0), complex(1.0, -np.inf)]), [1 + 2j, 3 + 4j]
    z_bar, _, *others = bars(np.nan_to_num, z, True, 0.0, 1.5, -1.5, y_bar=y_bar)
    assert z_bar.tolist() == [2j, 3] and others == [0, 1, 4]


def test_angle_at_zero():
    assert bars(np.angle, np.zeros(1, complex), y_bar=np.ones(1))[0].tolist() == [0.0]


def test_bessel_i1():
    x = np.array([-700.0, -40.0, -30.0, -1.0, 0.0, 1e-8, 0.5, 3.0, 12.0, 29.9, 30.1, 300.0])
    np.testing.assert_allclose(bessel_i1(x), special.i1(x), rtol=2e-14)
    assert bessel_i1(2.0) == pytest.approx(special.i1(2.0), rel=1e-14)


def test_conditions_of_where_that_decline():
    assert rrule(np.where, MASK, ["a", "b", "c"], 0.0) is None
    assert rrule(np.clip, reals(3), 0.0, 1.0, out=np.empty(3)) is None
    assert rrule(np.nan_to_num, reals(3), copy=False) is None


# ---- what is not selected contributes nothing, whatever its cotangent ----------------------------

SELECTIONS = {
    "maximum": lambda v: np.maximum(v, 0),
    "maximum of arrays": lambda v: np.maximum(v, np.zeros(v.shape)),
    "maximum of a number": lambda v: np.array([np.maximum(x, 0.0) for x in v]),
    "broadcast": lambda v: np.maximum(v[:, None], np.zeros(3)),
    "half precision": lambda v: np.maximum(v.astype(np.float32), np.float32(0)),
    "minimum": lambda v: -np.minimum(-v, 0),
    "fmax": lambda v: np.fmax(v, 0),
    "clip": lambda v: np.clip(v, 0, None),
    "method": lambda v: v.clip(0),
    "relu": ad.nn.relu,
    "max": lambda v: np.max(np.stack([v, np.zeros(v.shape)]), 0),
    "reduce": lambda v: np.maximum.reduce([v, np.zeros(v.shape)]),
    "initial": lambda v: np.max(v[:, None], 1, initial=0.0),
    "sort": lambda v: np.sort(np.stack([v, np.zeros(v.shape)]), 0)[1],
    "where": lambda v: np.where(v > 0, v, 0),
}


@pytest.mark.parametrize("name", SELECTIONS)
@pytest.mark.parametrize("v", [np.array([-1.0, 2.0]), np.linspace(-2.0, 3.1, 12)], ids=len)
def test_an_infinite_cotangent_of_what_is_not_selected(name, v):
    (v_bar,) = ad.gradient(lambda v: np.sqrt(SELECTIONS[name](v)).sum(), v)
    positive = np.where(v > 0, v, 1.0)
    expected = np.where(v > 0, 0.5 / np.sqrt(positive), 0.0)
    factor = 3 if name == "broadcast" else 1
    np.testing.assert_allclose(v_bar, factor * expected, rtol=1e-6)


ENDS = [
    [0.2, 0.7, 1.0, 1.0], [0.0, 0.0, 1.0, 2.0], [0.0, 0.0, 1.0, 1.0], [1.0, 1.0], [1.0],
    [0.0, 0.5, 0.5, 1.0], [0.0, 0.0, 0.0, 1.0, 1.0, 1.0],
]  # fmt: skip


@pytest.mark.parametrize("knots", ENDS, ids=repr)
@pytest.mark.parametrize("x", [-1.0, 0.0, 0.3, 0.5, 0.8, 1.0, 1.5])
def test_interpolation_between_knots_that_coincide(knots, x):
    """As in the inverse of a distribution whose last probabilities are zero."""
    xp, fp = np.array(knots), np.sin(np.arange(len(knots)) + 1.0)
    steps = 1e-6 * np.eye(len(knots))
    slopes = np.array([np.interp(x, xp, fp + h) - np.interp(x, xp, fp - h) for h in steps]) / 2e-6
    (found,) = ad.gradient(lambda fp: np.interp(x, xp, fp), fp)
    np.testing.assert_allclose(found, slopes, atol=1e-8)
    _, pushed = ad.pushforward(lambda fp: np.interp(x, xp, fp), (fp,), (fp,))
    np.testing.assert_allclose(pushed, slopes @ fp, atol=1e-8)
    if x not in knots:
        slope = (np.interp(x + 1e-6, xp, fp) - np.interp(x - 1e-6, xp, fp)) / 2e-6
        f = lambda x: np.interp(x, xp, fp)
        np.testing.assert_allclose(ad.gradient(f, x)[0], slope, atol=1e-8)
        np.testing.assert_allclose(ad.pushforward(f, (x,), (1.0,))[1], slope, atol=1e-8)
