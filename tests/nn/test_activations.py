import math

import numpy as np
import pytest
import scipy.special

from adjoint import nn

X = np.array([[-1.2, 0.5, 0.0], [2.1, -0.5, 800.0], [-800.0, 1e-9, 30.0]])


@pytest.mark.parametrize(
    "f, reference",
    [
        (nn.relu, lambda x: np.where(x > 0, x, 0)),
        (nn.sigmoid, scipy.special.expit),
        (nn.tanh, np.tanh),
        (nn.softmax, lambda x: scipy.special.softmax(x, axis=-1)),
        (nn.logsoftmax, lambda x: scipy.special.log_softmax(x, axis=-1)),
    ],
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_values(f, reference, dtype):
    x = X.astype(dtype)
    y = f(x)
    assert y.dtype == dtype and y.shape == x.shape
    np.testing.assert_allclose(y, reference(x), rtol=1e-6 if dtype == np.float32 else 1e-14)


@pytest.mark.parametrize("f", [nn.relu, nn.sigmoid, nn.tanh])
def test_numbers_give_numbers(f):
    assert isinstance(f(0.5), float)
    assert f(0.5) == pytest.approx(f(np.array([0.5]))[0])
    if np.lib.NumpyVersion(np.__version__) >= "2.0.0":  # NumPy 1 widens a lone scalar
        assert isinstance(f(np.float32(0.5)), np.float32)


@pytest.mark.parametrize("f", [nn.relu, nn.sigmoid, nn.tanh, nn.softmax, nn.logsoftmax])
def test_nan_stays_nan(f):
    assert np.isnan(f(np.array([np.nan, np.nan]))).all()


def test_no_overflow_at_800():
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        assert nn.sigmoid(np.array([-800.0, 800.0])).tolist() == [0.0, 1.0]
        assert nn.softmax(np.array([-800.0, 800.0])).tolist() == [0.0, 1.0]
        assert nn.logsoftmax(np.array([-800.0, 800.0])).tolist() == [-1600.0, 0.0]
        assert nn.tanh(np.array([-800.0, 800.0])).tolist() == [-1.0, 1.0]


def test_sigmoid_keeps_small_probabilities():
    assert nn.sigmoid(-40.0) == pytest.approx(math.exp(-40), rel=1e-15)


def test_other_axes_and_masks():
    np.testing.assert_allclose(nn.softmax(X, axis=0).sum(axis=0), 1.0)
    np.testing.assert_allclose(nn.logsoftmax(X.T, axis=0), nn.logsoftmax(X).T)
    assert nn.softmax(np.array([0.0, -np.inf, 0.0])).tolist() == [0.5, 0.0, 0.5]
    assert nn.softmax(np.array([1, 1])).tolist() == [0.5, 0.5]
    assert nn.softmax([0.0, 0.0]).tolist() == [0.5, 0.5]
