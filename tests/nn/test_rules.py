"""Each rule of `adjoint.nn.rules` against finite differences of the plain function."""

import numpy as np
import pytest

import adjoint as ad
from adjoint import nn
from adjoint.nn import rules
from adjoint.rulekit.registry import rrule, table
from adjoint.rulekit.row_sums import by_class, by_sample

rng = np.random.default_rng(0)
OURS = ("adjoint.nn.", "adjoint.rulekit.row_sums")
LOGITS = rng.normal(size=(4, 3)) * 2
ONEHOT = nn.onehot([0, 2, 1, 1], 3)
SMOOTH = rng.dirichlet(np.ones(3), size=4)
UNNORMALISED = rng.normal(size=(4, 3))

CASES = {
    nn.relu: [
        ((rng.normal(size=(3, 2)),), {}),
        ((np.array(0.7),), {}),
        ((-0.3,), {}),
        ((2,), {}),
        ((np.empty((0, 2)),), {}),
    ],
    nn.sigmoid: [
        ((rng.normal(size=(3, 2)) * 3,), {}),
        ((np.array(0.7),), {}),
        ((0.0,), {}),
        ((np.zeros(3),), {}),
        ((3,), {}),
    ],
    nn.softmax: [
        ((LOGITS,), {}),
        ((LOGITS,), {"axis": 0}),
        ((LOGITS[0],), {}),
        ((np.zeros((2, 3)),), {}),
        ((rng.normal(size=(2, 3, 4)),), {"axis": 1}),
    ],
    nn.logsoftmax: [
        ((LOGITS,), {}),
        ((LOGITS,), {"axis": 0}),
        ((LOGITS[0],), {}),
        ((np.zeros((2, 3)),), {}),
    ],
    nn.mse: [
        ((rng.normal(size=5), rng.normal(size=5)), {}),
        ((rng.normal(size=(2, 3)), rng.normal(size=(2, 3))), {}),
        ((np.array(1.0), np.array(3.0)), {}),
        ((np.ones(3), np.ones(3)), {}),
    ],
    by_class: [((LOGITS,), {}), ((LOGITS.T.copy().T,), {}), ((rng.normal(size=(2, 9)),), {})],
    by_sample: [((LOGITS,), {}), ((LOGITS.T.copy().T,), {}), ((LOGITS[0],), {})],
    nn.logit_cross_entropy: [
        ((LOGITS, ONEHOT), {}),
        ((LOGITS, SMOOTH), {}),
        ((LOGITS, UNNORMALISED), {}),
        ((LOGITS[1], ONEHOT[1]), {}),
        ((rng.normal(size=(3, 9)), rng.normal(size=(3, 9))), {}),
        ((rng.normal(size=(2, 2, 3)), rng.normal(size=(2, 2, 3))), {}),
    ],
}


def numerical_cotangent(f, args, kwargs, i, y_bar, h=1e-6):
    """The cotangent of argument `i` by central differences."""
    base = np.array(args[i], float)
    bar = np.zeros(base.shape)
    for index in np.ndindex(base.shape):
        values = []
        for sign in (1, -1):
            moved = base.copy()
            moved[index] += sign * h
            operand = float(moved) if np.ndim(args[i]) == 0 else moved
            values.append(np.sum(y_bar * f(*args[:i], operand, *args[i + 1 :], **kwargs)))
        bar[index] = (values[0] - values[1]) / (2 * h)
    return bar


@pytest.mark.parametrize(
    "f, args, kwargs",
    [
        pytest.param(f, *case, id=f"{f.__name__}-{i}")
        for f in CASES
        for i, case in enumerate(CASES[f])
    ],
)
def test_against_finite_differences(f, args, kwargs):
    y, back = rrule(f, *args, **kwargs)
    np.testing.assert_array_equal(y, f(*args, **kwargs), strict=isinstance(y, np.ndarray))
    y_bar = np.cos(1.0 + np.arange(np.size(y), dtype=float)).reshape(np.shape(y))
    y_bar = y_bar if np.ndim(y) else float(y_bar)
    f_bar, *bars = back(y_bar)
    assert f_bar is None and len(bars) == len(args)
    for i, bar in enumerate(bars):
        expected = numerical_cotangent(f, args, kwargs, i, y_bar)
        assert np.shape(bar) == np.shape(args[i])
        np.testing.assert_allclose(bar, expected, rtol=1e-6, atol=1e-8)


def test_every_rule_has_a_case():
    registered = {
        f
        for f, entry in table.items()
        if (getattr(f, "__module__", None) or "").startswith(OURS) and entry.rrules
    }
    assert registered == set(CASES)
    assert rules.__doc__


@pytest.mark.parametrize("f", CASES)
def test_float32_stays_float32(f):
    args, kwargs = CASES[f][0]
    args = [a.astype(np.float32) for a in args]
    y, back = rrule(f, *args, **kwargs)
    _, *bars = back(np.ones_like(y))
    assert all(bar.dtype == np.float32 for bar in (y, *bars))


@pytest.mark.parametrize("f", CASES)
def test_neither_operands_nor_cotangent_are_changed(f):
    args, kwargs = CASES[f][0]
    y, back = rrule(f, *args, **kwargs)
    y_bar = np.ones_like(y)
    before = [a.copy() for a in args]
    first = back(y_bar)
    second = back(y_bar)
    for a, b in zip([*before, np.ones_like(y), *first[1:]], [*args, y_bar, *second[1:]]):
        np.testing.assert_array_equal(a, b)


def test_relu_at_zero_has_derivative_zero():
    assert rrule(nn.relu, 0.0)[1](1.0)[1] == 0.0
    assert rrule(nn.relu, np.zeros(2))[1](np.ones(2))[1].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ">f8", np.longdouble, int])
@pytest.mark.parametrize("shape", [(100,), (3, 64), (2, 3, 70), (64, 3), (0, 64), ()])
def test_relu_of_rows_of_any_length_is_the_maximum_with_zero(shape, dtype):
    x = np.random.default_rng(1).normal(size=shape) * 9
    if x.size > 9:
        x.flat[4], x.flat[5], x.flat[6] = (0, 0, 0) if dtype is int else (np.nan, np.inf, -0.0)
    for given in (np.asarray(x, dtype), np.asarray(x, dtype).T, np.asarray(x, dtype)[..., None]):
        found, expected = nn.relu(given), np.maximum(given, 0)
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == expected.dtype
        assert found.strides == expected.strides


def test_sigmoid_is_exact_in_both_tails():
    _, back = rrule(nn.sigmoid, np.array([-40.0, 40.0, -800.0, 800.0]))
    np.testing.assert_allclose(back(np.ones(4))[1], [np.exp(-40.0)] * 2 + [0.0, 0.0], rtol=1e-14)


def test_extreme_logits():
    scores = np.array([[800.0, -800.0], [-800.0, 800.0]])
    value, back = rrule(nn.logit_cross_entropy, scores, np.array([[1.0, 0.0], [1.0, 0.0]]))
    assert value == 800.0
    np.testing.assert_allclose(back(1.0)[1], [[0.0, 0.0], [-0.5, 0.5]])


def test_what_a_rule_is_not_written_for_is_declined():
    assert rrule(nn.softmax, [1.0, 2.0]) is None
    assert rrule(nn.mse, np.ones(2) * 1j, np.ones(2)) is None
    assert rrule(nn.mse, 1.0, 2.0) is None


def test_rules_refuse_shapes_like_the_functions():
    for f in (nn.mse, nn.logit_cross_entropy):
        with pytest.raises(ValueError, match=r"differ in shape: \(3, 1\) and \(3,\)"):
            rrule(f, np.ones((3, 1)), np.ones(3))


@pytest.mark.parametrize("classes", [2, 9])
@pytest.mark.parametrize("kind", [list, tuple, "nested", np.asfortranarray])
def test_the_loss_takes_what_stands_for_arrays(kind, classes):
    scores, truth = rng.normal(size=(3, classes)), rng.normal(size=(3, classes))
    given = [a.tolist() if kind == "nested" else kind(a) for a in (scores, truth)]
    expected = ad.gradient(nn.logit_cross_entropy, scores, truth)
    for args in (given, (scores, given[1]), (given[0], truth)):
        for tier in ("fast", "generic"):
            found = [ad.grad(nn.logit_cross_entropy, i, tier=tier)(*args) for i in (0, 1)]
            for bar, other in zip(found, expected, strict=True):
                np.testing.assert_allclose(np.array(bar), other, rtol=1e-12)


def test_cotangents_are_laid_out_as_new_arrays_are():
    scores, truth = rng.normal(size=(4, 2)), rng.normal(size=(4, 2))
    for bar in ad.gradient(nn.logit_cross_entropy, scores, truth):
        assert bar.flags.c_contiguous
