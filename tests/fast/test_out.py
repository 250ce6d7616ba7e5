"""An array to write to that is given by position is one all the same."""

import numpy as np
import pytest

import adjoint as ad


def ufunc(x, b):
    np.add(x, x, b)


def keyword(x, b):
    np.multiply(x, x, out=b)


def running(x, b):
    np.cumsum(x, 0, None, b)


def clipped(x, b):
    np.clip(x, 0, 1, b)


def method(x, b):
    x.dot(np.eye(3), b)


def product(x, b):
    np.dot(np.eye(3), x, b)


@pytest.mark.parametrize("write", [ufunc, keyword, running, clipped, method, product])
def test_what_is_written_is_differentiated(write):
    def f(x):
        b = np.zeros(3)
        write(x, b)
        return np.sum(b * x)

    x = np.array([0.1, 0.2, 0.3])
    generic = ad.grad(f, tier="generic")(x)
    np.testing.assert_allclose(ad.grad(f)(x), generic, rtol=1e-12)
    ad.testing.check_gradient(f, x)


def test_options_that_write_to_the_operand():
    def f(x):
        b = 2.0 * x
        c = np.nan_to_num(b, copy=False)
        d = np.nan_to_num(c, False)
        return np.sum(b * c * d)

    x = np.array([1.0, 2.0])
    np.testing.assert_allclose(ad.grad(f)(x), 24.0 * x**2)
    assert ad.tier(f, x).tier == "generic"


def _takes_integers(taken):
    try:
        return taken(np.zeros(3), np.arange(3)) == 5
    except TypeError:
        return False


def test_arrays_of_another_dtype():
    """NumPy decides for each function which dtypes it writes to, and in which one it computes."""

    def dot(x, b):
        np.dot(np.eye(3), x, out=b)
        return np.sum(b * x)

    def taken(x, b):
        np.take(b, [0, 1, 2], out=x)
        return np.sum(x * x)

    x = np.array([0.1, 0.2, 0.3])
    for tier in ("fast", None, "generic"):
        with pytest.raises((ValueError, ad.AdjointError)):
            ad.grad(dot, tier=tier)(x, np.zeros(3, np.float32))
        if _takes_integers(taken):  # from NumPy 2.5 on
            assert not ad.grad(taken, tier=tier)(x.copy(), np.arange(3)).any()
            continue
        with pytest.raises((TypeError, ad.AdjointError)):
            ad.grad(taken, tier=tier)(x, np.arange(3))
    assert ad.tier(dot, x, np.zeros(3)).tier == "fast"
