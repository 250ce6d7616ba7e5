"""Arrays of rank 0 from outside: as arguments, captured, written to."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.programs import store as tier
from tests.fast.agreeing import generic_tier
from tests.structures import difference

SCALE = np.array(3.0)


def captured(x):
    return np.sin(x) * SCALE


def summed(x):
    return x.sum() * x.mean() + x[()] ** 2


def joined(x):
    return np.stack([x, x * 2, x[...]]).sum() + x.reshape(1)[0]


def broadcast(x):
    return (np.broadcast_to(x, (3,)) * np.arange(3.0) * x).sum()


def added_to(x):
    x += 1.0
    return x * x


def assigned(x):
    x[()] = x * 2
    return x * 3


def copied(x):
    y = x.copy()
    y *= x
    return y


def repeated(x):
    total = 0.0
    for _ in range(3):
        x = x * x
        total = total + x
    return total


def returned(x):
    return x


ALL = [captured, summed, joined, broadcast, added_to, assigned, copied, repeated, returned]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("f", ALL)
def test_programs_of_arrays_of_rank_0(f, dtype):
    def given(value):
        return np.array(value, dtype)

    def derivatives(value):
        x, y = given(value), given(value)
        gradient = ad.gradient(f, x), x
        result, back = ad.pullback(f, y)
        forward = ad.pushforward(f, (given(value),), (given(1.0),))
        bars = back(given(1.0)), back(given(2.0))
        return gradient, result, bars, forward, ad.hvp(f, given(value), given(1.0))

    tier.forget()
    for value in (2.0, 0.5):
        found = derivatives(value)
        with generic_tier():
            assert not difference(found, derivatives(value))
        h = 1e-2
        slope = (float(f(given(value + h))) - float(f(given(value - h)))) / (2 * h)
        assert float(found[0][0][0]) == pytest.approx(slope, rel=1e-2)
    assert "fast tier" in str(ad.tier(f, given(2.0)))
