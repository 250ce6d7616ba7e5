import numpy as np
import pytest

import adjoint as ad
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


LABELS = np.array([0, 1, 1, 0, 0.3])


def test_binary_cross_entropies_agree():
    scores = np.array([0.0, -1.0, 3.0, -4.0, 0.5])
    p = nn.sigmoid(scores)
    expected = -np.mean(LABELS * np.log(p) + (1 - LABELS) * np.log(1 - p))
    assert nn.binary_cross_entropy(p, LABELS) == pytest.approx(expected, rel=1e-10)
    assert nn.logit_binary_cross_entropy(scores, LABELS) == pytest.approx(expected, rel=1e-14)
    # two classes are one probability and its complement
    rows, both = np.stack([-scores / 2, scores / 2], -1), np.stack([1 - LABELS, LABELS], -1)
    assert nn.logit_cross_entropy(rows, both) == pytest.approx(expected, rel=1e-14)
    assert nn.logit_binary_cross_entropy(0.5, 1) == pytest.approx(np.log(1 + np.exp(-0.5)))
    assert nn.logit_binary_cross_entropy([0.5], [True]) == pytest.approx(np.log(1 + np.exp(-0.5)))


def test_binary_cross_entropies_at_the_ends():
    for score, label, expected in [(40, 1, np.exp(-40)), (-40, 0, np.exp(-40)), (-800, 1, 800)]:
        assert nn.logit_binary_cross_entropy(float(score), label) == pytest.approx(expected)
    assert nn.binary_cross_entropy(np.array([0.0]), np.array([1])) == pytest.approx(27.631)
    assert abs(nn.binary_cross_entropy(np.array([1.0, 0.0]), np.array([1, 0]))) < 1e-11


def test_gradients_of_binary_cross_entropies():
    """At a score of 0 there is no kink: sigmoid(0) - y."""
    scores = np.array([0.0, -1.0, 3.0, -800.0, 800.0])
    (found,) = ad.gradient(lambda s: nn.logit_binary_cross_entropy(s, LABELS), scores)
    np.testing.assert_allclose(found, (nn.sigmoid(scores) - LABELS) / 5, rtol=1e-14, atol=1e-16)
    ad.testing.check_gradient(
        lambda s: nn.logit_binary_cross_entropy(s, LABELS), np.array([0.3, -1.0, 3.0, -8.0, 8.0])
    )
    p = np.array([0.2, 0.9, 0.5, 0.1, 0.7])
    ad.testing.check_gradient(lambda p: nn.binary_cross_entropy(p, LABELS), p)


@pytest.mark.parametrize("f", [nn.binary_cross_entropy, nn.logit_binary_cross_entropy])
def test_binary_cross_entropies_refuse_other_labels(f):
    for wrong in ([-1, 1], [0.0, 2.0], [0.0, np.nan]):
        with pytest.raises(ValueError, match=r"labels from 0 to 1, found .*; use \(y \+ 1\) / 2"):
            f(np.array([0.5, 0.5]), np.array(wrong))


LOSSES = [
    nn.mse,
    nn.cross_entropy,
    nn.logit_cross_entropy,
    nn.hinge_loss,
    nn.binary_cross_entropy,
    nn.logit_binary_cross_entropy,
]


@pytest.mark.parametrize("f", LOSSES)
def test_shapes_are_not_broadcast(f):
    with pytest.raises(ValueError, match=r"differ in shape: \(3, 1\) and \(3,\)"):
        f(np.ones((3, 1)), np.ones(3))
    with pytest.raises(ValueError, match="no samples"):
        f(np.empty((0, 2)), np.empty((0, 2)))


def test_hinge_loss_refuses_labels_0_and_1():
    with pytest.raises(ValueError, match="labels -1 and 1, found a 0"):
        nn.hinge_loss(np.ones(2), np.array([0, 1]))


@pytest.mark.parametrize("f", LOSSES)
def test_float32_stays_float32(f):
    a = np.full((2, 2), 0.5, np.float32)
    assert f(a, a).dtype == np.float32
