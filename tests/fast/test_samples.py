"""Functions of sampled data in programs: frequencies, the trapezoidal rule, phases, products."""

import math

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.programs import store
from tests.fast.agreement import agrees

X = np.linspace(0.1, 0.9, 12)
trapezoid = getattr(np, "trapezoid", None) or getattr(np, "trapz")  # noqa: B009

PROGRAMS = {
    "rfftfreq": lambda x: np.sum(np.fft.rfftfreq(len(x), d=0.5) * np.abs(np.fft.rfft(x)) ** 2),
    "fftfreq": lambda x: np.sum(np.fft.fftfreq(len(x), 1 / len(x)) * np.abs(np.fft.fft(x)) ** 2),
    "spacing": lambda x: np.sum(np.fft.fftfreq(5, x[0]) ** 2) + np.fft.rfftfreq(4, x[1])[1],
    "trapezoid": lambda x: trapezoid(x**3),
    "width": lambda x: trapezoid(x**3, dx=x[1]) ** 2,
    "along the first axis": lambda x: np.sum(trapezoid(np.outer(x, x**2), dx=0.1, axis=0) ** 2),
    "places": lambda x: trapezoid(x**2, np.cumsum(x)) ** 2,
    "places of rows": lambda x: np.sum(trapezoid(np.outer(x, x), np.outer(x, x**2)) ** 2),
    "places of columns": lambda x: np.sum(trapezoid(np.outer(x, x), np.cumsum(x), axis=0) ** 2),
    "a list": lambda x: trapezoid([x[0], x[1] * x[2], 1.0], dx=0.5) ** 2,
    "unwrap": lambda x: np.sum(np.unwrap(x * 40) ** 2),
    "unwrap of rows": lambda x: np.sum(np.unwrap(np.outer(x, x * 90), axis=0, period=5.0) ** 2),
    "diagonal": lambda x: np.sum(np.outer(x, x).diagonal() ** 2),
    "another diagonal": lambda x: np.sum(np.outer(x, x).diagonal(2) ** 2),
    "a diagonal below": lambda x: np.outer(x, x).diagonal(offset=-1)[0],
    "product": lambda x: math.prod([x[0], x[1], x[2] * 2, 3]),
    "product of elements": lambda x: math.prod(x[1:5] + 0.5) * math.prod(x.shape),
    "product of a generator": lambda x: math.prod((v + 0.5) * v for v in x),
    "product with a start": lambda x: math.prod([v + 0.5 for v in x if v > 0.3], start=x[0]),
    "product of nothing": lambda x: math.prod([]) * x[0] + math.prod(()) * x[1],
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    f = PROGRAMS[name]
    agrees(f, X)
    for x in (X, X[:7] * 1.1):
        store.forget()
        y, (g,) = ad.withgradient(f, x)
        product = ad.hvp(f, x, x)
        assert [len(known.refused) for known in store._kept.values()] == [0, 0]
        assert not ad.tier(f, x).opaque
        np.testing.assert_allclose(y, f(x), rtol=1e-14)
        expected = ad.grad(f, tier="generic")(x)
        np.testing.assert_allclose(g, expected, rtol=1e-9, atol=1e-12 * np.abs(expected).max())
        h = 1e-5
        ends = [ad.gradient(f, x + sign * h * x)[0] for sign in (1, -1)]
        scale = np.abs(g).max()
        np.testing.assert_allclose(
            product, (ends[0] - ends[1]) / (2 * h), rtol=1e-4, atol=1e-5 * scale
        )


OTHERS = {
    "several widths": lambda x: trapezoid(x**2, dx=np.arange(1.0, len(x))),
    "complex values": lambda x: trapezoid(x * (1 + 2j), dx=0.1).real,
    "single precision": lambda x: np.sum(np.unwrap((x * 9).astype(np.float32)).astype(float)),
    "integers": lambda x: trapezoid(np.arange(5), x[:5]),
}


@pytest.mark.parametrize("name", OTHERS)
def test_as_in_the_generic_tier(name):
    f = OTHERS[name]
    for x in (X, X[::-1].copy()):
        np.testing.assert_allclose(
            ad.gradient(f, x)[0], ad.grad(f, tier="generic")(x), rtol=1e-6, atol=1e-12
        )
