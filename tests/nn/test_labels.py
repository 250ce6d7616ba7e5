import numpy as np
import pytest

from adjoint import nn


def test_onehot():
    assert nn.onehot([0, 2], 3).tolist() == [[1, 0, 0], [0, 0, 1]]
    assert nn.onehot(1, 3).tolist() == [0, 1, 0]
    assert nn.onehot(np.array([[0, 1]], np.uint8), 2).shape == (1, 2, 2)
    assert nn.onehot([True, False], 2).tolist() == [[0, 1], [1, 0]]
    assert nn.onehot([], 3).shape == (0, 3)
    assert nn.onehot([0], 2).dtype == np.float64
    assert nn.onehot([0], 2, dtype=np.float32).dtype == np.float32


def test_onecold_is_the_inverse():
    labels = np.random.default_rng(0).integers(5, size=(3, 4))
    assert (nn.onecold(nn.onehot(labels, 5)) == labels).all()
    assert nn.onecold(np.array([0.1, 0.7, 0.7])) == 1


def test_bad_labels():
    with pytest.raises(ValueError, match=r"label 3 is not in 0\.\.2 \(3 classes\)"):
        nn.onehot([0, 3], 3)
    with pytest.raises(ValueError, match="label -1"):
        nn.onehot([-1], 3)
    with pytest.raises(ValueError, match="at least 1"):
        nn.onehot([0], 0)
    with pytest.raises(TypeError, match="integers, got an array of float64"):
        nn.onehot([0.0, 1.0], 2)
    with pytest.raises(ValueError, match="one score per class"):
        nn.onecold(3.0)
