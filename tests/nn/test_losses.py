import numpy as np
import pytest

from adjoint import nn


def test_mse():
    assert nn.mse(np.array([4.0, 2.0, -3.0, 1.5]), np.array([6.0, -2.0, -1.0, 1.5])) == 6.0
    assert nn.mse([1.0, 2.0], [3.0, 2.0]) == 2.0
    assert nn.mse(1.0, 3.0) == 4.0
    assert nn.mse(np.array([1j, 1.0]), np.zeros(2)) == 1.0


def test_cross_entropies_agree():
    rng = np.random.default_rng(0)
    scores, y = rng.normal(size=(5, 3)), nn.onehot(rng.integers(3, size=5), 3)
    expected = -np.mean([nn.logsoftmax(s)[t] for s, t in zip(scores, y.argmax(1))])
    assert nn.logit_cross_entropy(scores, y) == pytest.approx(expected, rel=1e-14)
    assert nn.cross_entropy(nn.softmax(scores), y) == pytest.approx(expected, rel=1e-10)
    assert nn.logit_cross_entropy(scores[0], y[0]) == pytest.approx(
        -nn.logsoftmax(scores[0])[y[0].argmax()]
    )


def test_cross_entropy_at_probability_zero_is_finite():
    assert nn.cross_entropy(np.array([0.0, 1.0]), np.array([1.0, 0.0])) == pytest.approx(27.631)
    assert abs(nn.cross_entropy(np.array([0.0, 1.0]), np.array([0.0, 1.0]))) < 1e-11


def test_hinge_loss():
    assert nn.hinge_loss(np.array([0.5, -2.0]), np.array([1.0, 1.0])) == 1.75
    assert nn.hinge_loss(np.array([2.0, -2.0]), np.array([1, -1])) == 0.0


@pytest.mark.parametrize("f", [nn.mse, nn.cross_entropy, nn.logit_cross_entropy, nn.hinge_loss])
def test_shapes_are_not_broadcast(f):
    with pytest.raises(ValueError, match=r"differ in shape: \(3, 1\) and \(3,\)"):
        f(np.ones((3, 1)), np.ones(3))
    with pytest.raises(ValueError, match="no samples"):
        f(np.empty((0, 2)), np.empty((0, 2)))


def test_hinge_loss_refuses_labels_0_and_1():
    with pytest.raises(ValueError, match="labels -1 and 1, found a 0"):
        nn.hinge_loss(np.ones(2), np.array([0, 1]))


@pytest.mark.parametrize("f", [nn.mse, nn.cross_entropy, nn.logit_cross_entropy, nn.hinge_loss])
def test_float32_stays_float32(f):
    a = np.full((2, 2), 0.5, np.float32)
    assert f(a, a).dtype == np.float32
