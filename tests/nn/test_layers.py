import numpy as np
import pytest

from adjoint import nn


def test_dense():
    layer = nn.Dense(3, 2, np.tanh, rng=np.random.default_rng(0))
    layer.b += 0.5
    x = np.arange(12.0).reshape(4, 3)
    np.testing.assert_array_equal(layer(x), np.tanh(x @ layer.W + layer.b))
    assert layer(x[0]).shape == (2,)
    assert layer(np.ones((5, 4, 3))).shape == (5, 4, 2)


def test_glorot_uniform():
    W = nn.Dense(200, 100, rng=np.random.default_rng(0)).W
    bound = np.sqrt(6 / 300)
    assert W.shape == (200, 100) and 0.99 * bound < np.abs(W).max() <= bound
    assert W.std() == pytest.approx(bound / np.sqrt(3), rel=0.02)


def test_reproducible_and_of_the_asked_dtype():
    a, b = (nn.Dense(3, 2, rng=np.random.default_rng(3), dtype=np.float32) for _ in range(2))
    assert (a.W == b.W).all() and a.W.dtype == a.b.dtype == np.float32
    assert a(np.ones((1, 3), np.float32)).dtype == np.float32


def test_chain():
    first, last = nn.Dense(2, 3), nn.Dense(3, 1)
    chain = nn.Chain(first, np.tanh, last)
    x = np.ones((4, 2))
    np.testing.assert_array_equal(chain(x), last(np.tanh(first(x))))
    assert len(chain) == 3 and chain[1] is np.tanh and list(chain)[2] is last
    assert nn.Chain()(x) is x


def test_repr():
    chain = nn.Chain(nn.Dense(2, 16, nn.relu), nn.softmax, nn.Dense(16, 2))
    assert repr(chain) == "Chain(Dense(2, 16, relu), softmax, Dense(16, 2))"


def test_bad_input():
    with pytest.raises(ValueError, match="at least 1, got 0 and 2"):
        nn.Dense(0, 2)
    with pytest.raises(TypeError, match="activation must be callable, got 'relu'"):
        nn.Dense(2, 2, "relu")
    with pytest.raises(TypeError, match="floating dtype, got int64"):
        nn.Dense(2, 2, dtype=np.int64)
    with pytest.raises(TypeError, match="layer must be callable, got 3"):
        nn.Chain(nn.Dense(2, 2), 3)
    with pytest.raises(ValueError, match=r"Dense\(2, 3\) takes 2 features .* shape \(4, 5\)"):
        nn.Chain(nn.Dense(2, 3))(np.ones((4, 5)))
    with pytest.raises(ValueError, match=r"shape \(\)"):
        nn.Dense(2, 3)(1.0)
