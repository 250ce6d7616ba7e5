"""Arrays of rank 0 that a function has captured or reads as a constant."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.programs import store as tier
from tests.fast.agreeing import generic_tier
from tests.structures import difference


def scaled(x, c):
    return np.sum(np.sin(x) * c)


def reshaped(x, c):
    return np.sum(x * c.reshape(1)) + x[0] * c[()] ** 2


def stacked(x, c):
    return np.sum(np.stack([c, c * 2, c[...]]) * x)


def broadcast(x, c):
    return (np.broadcast_to(c, (3,)) * x * c.sum()).sum()


def accumulated(x, c):
    total = c.copy()
    for i in range(3):
        total = total + x[i] * c
    return total * c


def copied(x, c):
    y = c.copy()
    y *= c
    return np.sum(x) ** 2 * y


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize("f", [scaled, reshaped, stacked, broadcast, accumulated, copied])
def test_programs_that_read_arrays_of_rank_0(f, dtype):
    x, direction = np.array([0.5, 1.5, -1.0]), np.array([1.0, -2.0, 0.5])
    constants = {"c": np.array(2, dtype)}

    def of(x):
        return f(x, constants["c"])

    def derivatives():
        result, back = ad.pullback(of, x)
        bars = back(1.0)[1], back(2.0)[1]
        forward = ad.pushforward(of, (x,), (direction,))
        return ad.gradient(of, x), result, bars, forward, ad.hvp(of, x, direction)

    tier.forget()
    for value in (2, 5):
        constants["c"][()] = value
        found = derivatives()
        with generic_tier():
            assert not difference(found, derivatives())
        h = 1e-6
        slope = (of(x + h * direction) - of(x - h * direction)) / (2 * h)
        assert found[0][0] @ direction == pytest.approx(slope, rel=1e-6)
    if dtype != np.int64:
        assert "fast tier" in str(ad.tier(of, x))


def masked(x):
    """A mask of rank 0 selects all or nothing, as SciPy's ``apply_where`` asks for one."""
    a = np.asarray(np.sum(x**2))
    big = a > 1.0
    y = np.full_like(a, 0.5)
    y[big] = np.exp(a[big])
    y[~big] = a[~big] ** 3
    return y[()] * 2 + np.sum(x[np.sum(x) > 0.0] ** 3)


@pytest.mark.parametrize("scale", [1.0, 0.1, -1.0])
def test_masks_of_rank_0(scale):
    tier.forget()
    x, direction = np.array([0.7, 0.8]) * scale, np.array([1.0, -0.5])
    found = ad.gradient(masked, x), ad.hvp(masked, x, direction)
    assert ad.tier(masked, x).tier == "fast"
    with generic_tier():
        assert not difference(found, (ad.gradient(masked, x), ad.hvp(masked, x, direction)))
    h = 1e-6
    slope = (masked(x + h * direction) - masked(x - h * direction)) / (2 * h)
    assert found[0][0] @ direction == pytest.approx(slope, rel=1e-6)


def test_arguments_of_rank_0_are_for_the_generic_tier():
    report = ad.tier(lambda x: x * x, np.array(2.0))
    assert report.reason == "an array without elements, or of rank 0"
