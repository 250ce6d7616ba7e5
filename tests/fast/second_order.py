"""A check of all programs of a function: first and second derivatives, forwards and backwards."""

from __future__ import annotations

from typing import Any

import numpy as np

import adjoint as ad
from adjoint.fast.programs import store
from tests.fast.agreeing import generic_tier


def programs() -> list[Any]:
    """Return the programs in the store; fail if a call had none, or one failed."""
    kept = [*store._kept.values()]
    refused = [one.reason for known in kept for one in known.refused.values()]
    assert not refused, refused
    entries = [entry for known in kept for entry in known.entries]
    failed = [entry.failures.last for entry in entries if entry.failures.last]
    assert not failed, failed
    assert not any("TangentsOfRule" in entry.source for entry in entries)
    return entries


def check_programs(f: Any, x: Any, tolerance: float = 1e-6, *, opaque: bool = False) -> None:
    """Require that gradient, pushforward and Hessian-vector product of a function of one array run
    in programs, and agree with the generic tier and with differences.

    Parameters
    ----------
    tolerance
        That of the second derivative, relatively.
    opaque
        Whether the program may leave calls to the generic tier.
    """
    store.forget()
    v = np.cos(np.arange(float(x.size))).reshape(x.shape).astype(x.dtype)
    g, slope, product = ad.gradient(f, x)[0], ad.pushforward(f, (x,), (v,))[1], ad.hvp(f, x, v)
    entries = programs()
    assert len(entries) >= 3
    assert opaque or not any(entry.opaque for entry in entries)
    rounding = 1e-10 if x.dtype == np.float64 else 1e-4
    with generic_tier():
        expected = ad.gradient(f, x)[0]
    assert g.dtype == expected.dtype == x.dtype
    scale = np.abs(expected).max() + 1e-300
    np.testing.assert_allclose(g, expected, rtol=rounding, atol=rounding * scale)
    np.testing.assert_allclose(slope, np.sum(g * v), rtol=1e2 * rounding, atol=rounding * scale)
    if x.dtype != np.float64:
        return
    h = 1e-5
    ends = [ad.gradient(f, x + sign * h * v)[0] for sign in (1, -1)]
    values = [f(x + sign * h * v) for sign in (1, -1)]
    differences = (values[0] - values[1]) / (2 * h)
    np.testing.assert_allclose(slope, differences, rtol=1e-6, atol=1e-6 * scale)
    second = (ends[0] - ends[1]) / (2 * h)
    atol = tolerance * np.abs(second).max()
    np.testing.assert_allclose(product, second, rtol=tolerance, atol=atol)
