"""Functions that give an array another shape, pick elements out, or put some in."""

import inspect

import numpy as np
import pytest

import adjoint as ad
from adjoint.rulekit.registry import rrule
from tests.rules.harness import case, complexes, reals, table
from tests.support import check_reverse

V = reals(6)
X = reals(3, 4)
X3 = reals(2, 3, 4, seed=1)
X4 = reals(2, 3, 2, 2, seed=1)
F = np.asfortranarray(X)
STRIDED = reals(6, 8)[::2, ::2]
Z = complexes(3, 4)
SINGLE = reals(3, 4, dtype=np.float32)
NESTED = [[1.0, 2.0, 3.0], (4.0, 5.0, 6.0)]
KINDS = [(X,), (F,), (STRIDED,), (Z,), (SINGLE,), (NESTED,), (np.arange(6).reshape(2, 3),)]


def each(*args, **kwargs):
    """The same further arguments for every kind of two-dimensional operand."""
    return [case(*kind, *args, **kwargs) for kind in KINDS]


CASES = {
    np.reshape: [
        *each(-1),
        (X, (2, 6)),
        case(X, (2, 6), order="F"),
        case(F, (2, -1), order="A"),
        case(STRIDED, 12, order="A"),
        (2.5, (1, 1)),
        (np.zeros((0, 3)), (3, 0)),
    ],
    np.ravel: [*each(), *each("F"), case(F, order="A"), case(F, order="K"), (2.5,), (X4,)],
    np.squeeze: [(X[:, None],), case(X[None, :, None], axis=0), (X[:1, :1],), ([[1.0]],), (2.5,)],
    np.expand_dims: [*each(0), (X, (0, -1)), (2.5, 0)],
    np.atleast_1d: [(2.5,), (X,), (2.5, X, [1.0, 2.0])],
    np.atleast_2d: [(2.5,), (V,), (X, 1.5)],
    np.atleast_3d: [(V,), (X, V, X3)],
    np.transpose: [
        *each(),
        (X3,),
        (X3, (2, 0, 1)),
        (X3, (-1, 0, 1)),
        case(X4, axes=(-1, 0, 2, 1)),
        (V,),
    ],
    np.swapaxes: [*each(0, 1), (X3, 0, -1)],
    np.moveaxis: [*each(0, 1), (X3, (0, 1), (-1, 0)), (X4, [0, 2], [1, 0])],
    np.rollaxis: [(X3, 2), (X3, 0, 3), (X3, -1, 1), (X3, 0, -1), (X4, 1, 3)],
    np.flip: [*each(), *each(0), (X3, (0, 2)), (V,)],
    np.fliplr: each(),
    np.flipud: [*each(), (V,)],
    np.rot90: [*each(), *each(2), (X, -1), (X3, 3, (0, 2)), (X3, 1, (2, 1))],
    np.roll: [*each(1), (X, (1, -2), (0, 1)), (X, 3, -1), (V, -2), (X, [1, 2], 0)],
    np.tile: [
        *each(2),
        (V, (2, 3)),
        (X3, (2, 1, 3)),
        (X3, 2),
        (X, (3, 1, 2, 1)),
        (2.5, 3),
        (X, ()),
    ],
    np.repeat: [
        *each(2),
        (X, 3, 0),
        (np.array(1.3), 2, 0),
        (X, [1, 0, 2], 0),
        (X, np.array([2, 1, 1, 3]), -1),
        (V, [0, 1, 2, 3, 0, 1]),
        (2.5, 4),
        (X, [2], 1),
    ],
    np.resize: [*each((2, 3)), (X, (5, 7)), (V, 4), (2.5, 3), (np.zeros(0), 2)],
    np.broadcast_to: [
        (V, (3, 6)),
        (X[:, :1], (2, 3, 4)),
        (2.5, (2, 2)),
        ([1.0, 2.0], (3, 2)),
        (Z, (1, 3, 4)),
    ],
    np.broadcast_arrays: [(V, X[0, 0]), (X, X[:, :1], [1.0, 2.0, 3.0, 4.0]), (2.5, V)],
    np.diagonal: [*each(), (X, 1), (X, -2), (X3, 0, 1, 2), (X3, -1, 2, 0), (X4, 1, -1, 0), (X, 9)],
    np.trace: [
        *each(),
        (X, 1),
        (X, -2),
        (X3, 0, 1, 2),
        (X4, 1, -1, 0),
        (X, 9),
        case(X, dtype=complex),
        (X3, 0, 1, 2, complex),
        case(X, dtype=int),
    ],  # fmt: skip
    np.diag: [*each(), (V,), (V, 2), (V, -1), (X, 1), (X, -2), ([1.0, 2.0],), (complexes(3), -1)],
    np.diagflat: [(V,), (X,), (X, 2), (V, -3), ([1.0, 2.0], 1)],
    np.tril: [*each(), (X, 1), (X, -1), (X3,), (V,), (X3, -1)],
    np.triu: [*each(), (X, 1), (X, -1), (X3,), (V,), (X3, 2)],
    np.take: [
        (V, 2),
        (V, [1, 1, -1]),
        (X, [[0, 5], [5, 11]]),
        (X, [2, 0, 2], 0),
        (X3, np.array([[0, 1], [1, 1]]), 1),
        (X3, 1, -1),
        case(V, [7, -8, 3], mode="wrap"),
        case(X, [7, -8, 3], axis=1, mode="clip"),
        (Z, [0, 0], 1),
        (SINGLE, [0, 0]),
        (NESTED, [0, 0], 0),
        (X, [], 0),
    ],
    np.take_along_axis: [
        (X, np.array([[0, 0], [1, 3], [2, 2]]), 1),
        (X, np.array([[0, 2, 1, 0]]), 0),
        (X, np.array([0, 11, 0]), None),
        (Z, np.argsort(X, 0), 0),
    ],
    np.compress: [
        ([True, False, True], X, 0),
        ([True, False, True], V),
        (np.array([0, 1, 1, 0]), X3, -1),
        ([1, 0], [3.0, 4.0]),
    ],
    np.extract: [(X > 0, X), (np.array([True, False]), [3.0, 4.0]), (X3 > 0, X3)],
    np.delete: [
        (V, 1),
        (V, [0, 3]),
        (X, 1, 0),
        (X, slice(0, 3, 2), 1),
        (X, 2),
        ([1.0, 2.0], 0),
        (X, np.array([True, False, True]), 0),
    ],
    np.insert: [
        (V, 2, 1.5),
        (V, [1, 1, 3], [1.5, 2.5, 3.5]),
        (X, 1, 2.5, 0),
        (X, 1, [1.0, 2.0, 3.0], 1),
        (X, [0, 2], X[:, :2], 1),
        ([1.0, 2.0], 1, 3.0),
        (X, 2, V),
    ],
    np.append: [(V, 1.5), (V, X), (X, X[:1], 0), (X, X[:, :2], 1), ([1.0], [2.0, 3.0]), (Z, X)],
    np.choose: [
        (np.array([0, 1, 1, 0]), [V[:4], X[0]]),
        (np.array([[0, 1], [2, 0]]), (1.5, X[:2, :2], V[:2])),
        case(np.array([4, -1, 1]), [V[:3], 2.5], mode="wrap"),
        case(np.array([4, -1, 1]), [V[:3], 2.5], mode="clip"),
        (np.array([0, 1, 2, 0]), X[:3]),
    ],
    np.pad: [
        (V, 2),
        (X, ((1, 2), (0, 3))),
        case(X, (1, 2), constant_values=3.0),
        case(X, 1, "edge"),
        case(X, ((2, 2), (3, 1)), mode="reflect"),
        case(X, ((4, 2), (3, 5)), mode="reflect"),
        case(X, 2, mode="symmetric"),
        case(X, 5, mode="wrap"),
        (Z, 1),
        ([1.0, 2.0], (1, 2)),
        (SINGLE, 1),
        (X3, 1, "edge"),
    ],
    np.unique: [(np.array([3.0, 1.0, 2.0]),), (X,), case([2.0, 1.0], return_index=True), (Z,)]
    + [case(X, axis=0), case(X3, axis=1, return_counts=True), case(Z, axis=-1), (SINGLE,)],
}
if hasattr(np, "matrix_transpose"):
    CASES[np.matrix_transpose] = [*each(), (X3,)]
test_rule = table(CASES)


def test_unique_shares_among_equal_elements():
    y, back = rrule(np.unique, np.array([2.0, 1.0, 2.0, 5.0]), return_counts=True)
    np.testing.assert_array_equal(back((np.array([1.0, 4.0, 7.0]), None))[1], [2, 1, 2, 7])


def test_unique_slices_share():
    x = np.array([[2.0, 1.0, 2.0], [0.5, 4.0, 0.5]])
    y, back = rrule(np.unique, x, axis=1)
    assert y.tolist() == [[1.0, 2.0], [4.0, 0.5]]
    x_bar = back(np.array([[1.0, 4.0], [2.0, 6.0]]))[1]
    np.testing.assert_array_equal(x_bar, [[2, 1, 2], [3, 2, 3]])


def test_unique_in_any_order():
    if "sorted" in inspect.signature(np.unique).parameters:
        x = np.array([3.0, 1.0, 2.0, 3.0, 7.0, 5.0])
        check_reverse(lambda x: np.unique(x, sorted=False) ** 2, x[1:])


def test_constant_of_pad_has_a_cotangent():
    y, back = rrule(np.pad, np.ones(2), (1, 2), constant_values=3.0)
    _, x_bar, width_bar, named = back(np.array([1.0, 10.0, 20.0, 2.0, 4.0]))
    np.testing.assert_array_equal(x_bar, [10, 20])
    assert width_bar is None and named == {"constant_values": 7.0}


@pytest.mark.parametrize("mode", ["mean", "linear_ramp", "maximum", "empty"])
def test_other_modes_of_pad_are_declined(mode):
    assert rrule(np.pad, np.ones(3), 1, mode) is None
    assert rrule(np.pad, np.ones(3), 1, constant_values=(1.0, 2.0)) is None


def filled_together(x):
    """Arrays of one shape are given back as they are."""
    y = x * x
    a, b = np.broadcast_arrays(y, np.ones(3))
    a[0], b[1] = 5.0, x[2]
    return (a * b).sum() + y[0] * x[1], a is y


def test_broadcast_arrays_may_be_written():
    x, h = np.array([0.5, 1.5, 2.5]), 1e-6
    value, same = filled_together(x)
    assert same and ad.pullback(filled_together, x)[0] == (value, True)
    slope = [
        (filled_together(x + h * e)[0] - filled_together(x - h * e)[0]) / (2 * h) for e in np.eye(3)
    ]

    def f(x):
        total, same = filled_together(x)
        assert same
        return total

    for found in (ad.grad(f)(x), ad.jacobian_forward(f, x), ad.grad(f, tier="generic")(x)):
        np.testing.assert_allclose(found, slope, rtol=1e-8)
    curvature = [(ad.grad(f)(x + h * e) - ad.grad(f)(x - h * e)) / (2 * h) for e in np.eye(3)]
    np.testing.assert_allclose(ad.hessian(f, x), curvature, rtol=1e-8)
    np.testing.assert_allclose(ad.hessian(f, x, mode="forward"), curvature, rtol=1e-8)


@pytest.mark.filterwarnings("error")
def test_stretched_arrays_are_as_numpy_leaves_them():
    def f(x):
        wide, high, number = np.broadcast_arrays(x, x[:2, None], 2.0)
        x.flags.writeable = False
        still = np.broadcast_arrays(x, np.ones((2, 3)))[0]
        return (wide * high * number).sum(), [
            still.flags.writeable,
            *[a.flags._writeable_no_warn for a in (wide, high, number)],
        ]

    x = np.arange(3.0)
    value, flags = f(x.copy())
    for mode in (ad.pullback, lambda f, x: ad.pushforward(f, (x,), (np.ones(3),))):
        assert mode(f, x.copy())[0] == (value, flags)


class Held:
    def __init__(self, v):
        self.v = v


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.broadcast_to([Held(x), Held(2.0 * x)], (2, 2))[1, 1].v * x,
        lambda x: np.broadcast_to([Held(x), x], (2, 2), subok=True)[1, 1] * x * 2.0,
        lambda x: np.broadcast_to(Held(x), shape=(2, 2))[1, 1].v * x * 2.0,
        lambda x: len(np.broadcast_to(["ab", "b"], (2, 2))[0, 0]) * x * x,
    ],
)
def test_lists_of_objects_and_of_text_are_stretched(f):
    assert f(3.0) == 18.0  # 2 x²
    for slope in (ad.grad(f), ad.grad(f, tier="generic"), ad.derivative(f)):
        assert slope(3.0) == 12.0
    assert ad.hessian(f, 3.0) == 4.0
    with pytest.raises(ValueError, match="could not be broadcast"):
        ad.gradient(lambda x: np.broadcast_to([Held(x), x], (3,))[0].v, 3.0)


def test_operands_by_keyword():
    for f, x, keywords in [
        (np.reshape, {"a": X}, {"shape": 12}),
        (np.transpose, {"a": X}, {}),
        (np.flip, {"m": X}, {"axis": 1}),
        (np.tile, {"A": X}, {"reps": 2}),
    ]:
        y, back = rrule(f, **x, **keywords)
        f_bar, named = back(np.ones_like(y))
        assert f_bar is None and [bar.shape for bar in named.values()] == [X.shape]
