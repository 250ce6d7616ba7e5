import numpy as np
import pytest

from adjoint.nn.datasets import make_moons


def test_without_noise_the_points_lie_on_the_circles():
    X, labels = make_moons(101, noise=0.0, rng=np.random.default_rng(0))
    assert X.shape == (101, 2) and np.bincount(labels).tolist() == [51, 50]
    upper, lower = X[labels == 0], X[labels == 1]
    np.testing.assert_allclose(np.hypot(*upper.T), 1.0)
    np.testing.assert_allclose(np.hypot(*(lower - [1.0, 0.5]).T), 1.0)
    assert upper[:, 1].min() > -1e-12 and lower[:, 1].max() < 0.5 + 1e-12


def test_reproducible_noisy_and_shuffled():
    X, labels = make_moons(200, noise=0.1, rng=np.random.default_rng(1))
    Z, again = make_moons(200, noise=0.1, rng=np.random.default_rng(1))
    assert (X == Z).all() and (labels == again).all()
    assert np.std(np.hypot(*X[labels == 0].T)) == pytest.approx(0.1, rel=0.3)
    assert 10 < labels[:50].sum() < 40


def test_small_and_bad_numbers():
    assert make_moons(0)[0].shape == (0, 2)
    assert make_moons(1)[1].tolist() == [0]
    with pytest.raises(ValueError, match="n must not be negative"):
        make_moons(-1)
    with pytest.raises(ValueError, match="noise must not be negative"):
        make_moons(10, noise=-0.1)
