"""What the families own: broadcasting, dtype, realness, and what is kept for the reverse sweep."""

import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import mutually_broadcastable_shapes

from adjoint.errors import RuleError
from adjoint.rulekit.families import elementwise, linear, project
from adjoint.rulekit.registry import rrule
from adjoint.rulekit.row_sums import by_class, column_sums, row_sums
from adjoint.testing import check_rule


class Array(np.ndarray):
    """An array that can be watched, with no meaning of its own."""


def watched(*values):
    return np.array(values).view(Array)


@pytest.mark.parametrize(
    "f, keeps_x, keeps_y",
    [
        (np.negative, False, False),
        (np.exp, False, True),
        (np.sin, True, False),
        (np.tanh, False, True),
    ],
)
def test_only_what_the_partials_read_is_kept(f, keeps_x, keeps_y):
    x = watched(1.0, 2.0)
    y, back = rrule(f, x)
    x_alive, y_alive = weakref.ref(x), weakref.ref(y)
    del x, y
    assert (x_alive() is not None) == keeps_x and (y_alive() is not None) == keeps_y
    assert back(np.ones(2))[1].shape == (2,)


@settings(max_examples=60)
@given(
    mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=3, min_side=0),
    st.sampled_from(["f4", "f8", "c16", "i4"]),
    st.sampled_from(["f4", "f8", "c16"]),
)
def test_any_shapes_that_broadcast_and_any_dtypes(shapes, left, right):
    rng = np.random.default_rng(0)
    (a, b) = (rng.uniform(1, 2, shape) for shape in shapes.input_shapes)
    check_rule(np.multiply, a.astype(left), b.astype(right))
    check_rule(np.true_divide, a.astype(left), b.astype(right))


def test_partials_may_leave_out_y():
    def cube(x):
        return x * x * x

    elementwise(cube, lambda x: 3 * x * x)
    check_rule(cube, np.array([1.0, 2.0]))
    check_rule(cube, 1 + 2j)
    with pytest.raises(TypeError, match="a partial takes the 1 operands"):
        elementwise(cube, lambda a, b: a)


def test_linear_takes_the_keywords_of_its_transpose():
    def shifted(x, by=1, *, scale=1.0):
        return np.roll(x, by) * scale

    linear(shifted, lambda y_bar, shape, by=1, *, scale=1.0: np.roll(y_bar, -by) * scale)
    check_rule(shifted, np.arange(4.0))
    check_rule(shifted, np.arange(4.0, dtype="f4"), 2, scale=3.0)
    check_rule(shifted, [1.0, 2.0, 3.0])
    assert rrule(shifted, np.arange(4.0), other=1) is None
    assert rrule(shifted, ["a"]) is None


def test_a_transpose_of_the_wrong_shape_is_refused():
    def total(x):
        return np.sum(x)

    linear(total, lambda y_bar, shape: y_bar)
    with pytest.raises(RuleError, match=r"cotangent of shape \(\) for an argument of shape \(3,\)"):
        rrule(total, np.ones(3))[1](1.0)


@pytest.mark.parametrize(
    "bar, primal, expected",
    [
        (np.ones((2, 3)), np.zeros(3), np.full(3, 2.0)),
        (np.ones((2, 3)), np.zeros((2, 1)), np.full((2, 1), 3.0)),
        (np.ones((2, 3)), 1.0, 6.0),
        (np.float64(1), 1, 1.0),
        (1 + 2j, 1.0, 1.0),
        (1.0, 1j, 1 + 0j),
        (np.ones(2), np.zeros(2, np.float32), np.ones(2, np.float32)),
        (np.ones(2), np.float32(0), np.float32(2)),
        (np.ones(2), np.zeros(2, bool), np.ones(2)),
        (np.ones(2), [0, 1.0], [1.0, 1.0]),
        (np.ones((2, 2)), ([0.0, 1.0], (2.0, 3.0)), ([1.0, 1.0], (1.0, 1.0))),
        (2.0, np.array(1.0), np.array(2.0)),
    ],
)
def test_project(bar, primal, expected):
    got = project(bar, primal)
    assert type(got) is type(expected)
    if isinstance(expected, np.ndarray):
        assert got.dtype == expected.dtype and got.shape == expected.shape
    np.testing.assert_equal(got, expected)


@pytest.mark.parametrize("shape", [(2,), (3, 2), (2, 3, 1)])
def test_project_does_not_broadcast_in_silence(shape):
    with pytest.raises(RuleError, match="does not fit"):
        project(np.ones((2, 3)), np.ones(shape))


def test_project_gives_back_what_fits():
    bar = np.ones(3)
    assert project(bar, np.zeros(3)) is bar and project(None, 1.0) is None


@pytest.mark.parametrize("dtype", ["f8", "f4", ">f8", "f2", "c16", "i8"])
@pytest.mark.parametrize("shape", [(3, 2), (1, 1), (0, 3), (3, 0), (200, 16)])
def test_sums_of_columns(dtype, shape):
    a = (10 * np.random.default_rng(0).normal(size=shape)).astype(dtype)
    for x in (a, np.asfortranarray(a), a[::-1], a[:, ::-1], a[::2]):
        found, expected = column_sums(x), x.sum(axis=0)
        assert found.dtype == expected.dtype and found.flags.writeable
        np.testing.assert_allclose(found, expected, rtol=1e-12 if dtype == "f8" else 1e-3)
    if dtype in ("f8", "f4") and shape == (3, 2):
        a[1, 0] = np.nan
        a[1, 1], a[2, 1] = np.inf, -np.inf
        with np.errstate(invalid="ignore"):
            assert np.isnan(column_sums(a)).all()


@pytest.mark.parametrize("dtype", ["f8", "f4", ">f8", "f2", "c16", "i8"])
@pytest.mark.parametrize("shape", [(200, 2), (50, 30, 7), (5, 3), (0, 3), (3, 0), (400, 1)])
def test_sums_of_rows_are_the_same(dtype, shape):
    a = (10 * np.random.default_rng(0).normal(size=shape)).astype(dtype)
    a[:1] = -0.0
    for x in (a, np.asfortranarray(a), a[::-1], a[..., ::-1], a[::2]):
        for keepdims in (False, True):
            found, expected = row_sums(x, keepdims), x.sum(axis=-1, keepdims=keepdims)
            np.testing.assert_array_equal(found, expected, strict=True)
            np.testing.assert_array_equal(np.signbit(found.real), np.signbit(expected.real))


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i8"])
@pytest.mark.parametrize("columns", [0, 1, 2, 3, 5, 7, 8, 30])
def test_a_matrix_by_class_has_the_same_sums_and_maxima(dtype, columns):
    x = (10 * np.random.default_rng(0).normal(size=(23, columns))).astype(dtype)
    for a in (x, x.T.copy().T, x[::-1]):
        found = by_class(a)
        np.testing.assert_array_equal(found, a, strict=True)
        assert found.flags.f_contiguous or columns >= 8 or dtype not in ("f8", "f4")
        sums = [np.sum(np.exp(b / 10), axis=-1, keepdims=True) for b in (found, x)]
        if a is x:
            np.testing.assert_array_equal(*sums, strict=True)
        if columns:
            np.testing.assert_array_equal(np.max(found, axis=-1), np.max(a, axis=-1))


@pytest.mark.parametrize("x", [2.0, [[1.0, 2.0]], np.ones(3), np.ones((2, 2, 2))], ids=str)
def test_what_is_no_matrix_stays_what_it_is(x):
    assert by_class(x) is x
