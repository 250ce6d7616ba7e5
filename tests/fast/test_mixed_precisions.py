"""Tangents and second derivatives of programs that mix precisions, and integers with floats."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.programs.tangents import along_of
from tests.fast.agreeing import generic_tier

RNG = np.random.default_rng(3)
A, B = RNG.normal(size=4), 0.5 + RNG.random(4)
M = RNG.normal(size=(3, 4))
LOW, SMALL = A.astype(np.float32), M.astype(np.float32)
K = np.arange(1, 5)


def scaled(a, b):
    return np.sum(a * b * a)


def powers(a, b):
    return np.sum(np.abs(a) ** b + np.hypot(a, b) - np.arctan2(b, a) / 3.0)


def number_beside(a, t):
    u = t * t
    return np.sum(np.tanh(a * u) * u) * u


def divided_number(a, t):
    return np.sum((t * t) / (a * a + t) - t)


def product(m, a):
    return np.sum(np.tanh(m @ a) ** 2)


def cast_down(m, a):
    y = (m @ a).astype(np.float32)
    return np.sum(y * y * np.float64(0.1)) + np.sum(a)


def wider(a):
    y = a.astype(np.float64)
    return np.sum(np.exp(y) * a)


def selected(a, b):
    return np.sum(np.where(a > 0.0, a * b, b * b) * np.maximum(a, b))


def assembled(a, b):
    y = np.zeros(len(a))
    for i in range(len(a)):
        y[i] = a[i] * b[i] * b[i]
    y[1:] += a[1:] * a[:-1]
    return np.sum(y * np.concatenate([a[2:], b[:2]]))


def recurrence(a, b):
    s = 0.1
    for x, y in zip(a, b, strict=True):
        s = s * x + y * y * s
        if s > 1.0:
            s = s * np.float32(0.3)
    return s * s


def means(m, b):
    y = (m * b - np.mean(m, axis=0)) / np.std(b)
    return np.sum(y**2) + np.max(y)


def counted(k, a):
    return np.sum(k * a * a) / np.sum(k)


def weighted(n, x):
    return n * n * x * x + n


def spectrum(a, b):
    z = a * (b + 1j * b * b)
    return np.sum(np.abs(z) ** 2) + np.sum(z.real * z.imag)


CASES: list[tuple[Any, tuple[Any, ...]]] = [
    *((f, args) for f in (scaled, powers, selected, assembled, recurrence)
      for args in ((LOW, B), (A, B.astype(np.float32)), (LOW, B.astype(np.float32)))),
    *((f, (a, t)) for f in (number_beside, divided_number)
      for a, t in ((LOW, 0.7), (LOW, np.float64(0.7)), (A, np.float32(0.7)))),
    (product, (SMALL, A)), (product, (M, LOW)),
    (cast_down, (M, A)), (cast_down, (SMALL, A)), (wider, (LOW,)),
    (means, (SMALL, B)), (counted, (K, A)), (counted, (K, LOW)), (counted, (K.astype(float), LOW)),
    (weighted, (3, 0.7)), (weighted, (3, np.float32(0.7))), (weighted, (np.int64(3), 0.7)),
    (spectrum, (LOW.astype(np.complex64), B)), (spectrum, (A + 1j * B, B.astype(np.float32))),
    (weighted, (np.int32(3), np.float16(0.7))),
]  # fmt: skip


def dot_of(x: Any, rng: np.random.Generator) -> Any:
    if not isinstance(x, np.ndarray):
        return float(rng.normal())
    dot = rng.normal(size=x.shape) + (1j * rng.normal(size=x.shape) if x.dtype.kind == "c" else 0)
    return dot.astype(x.dtype if x.dtype.kind in "fc" else np.float64)


def flat(x: Any) -> list[Any]:
    return [y for part in x for y in flat(part)] if isinstance(x, list | tuple) else [x]


def close(found: Any, expected: Any) -> None:
    for x, y in zip(flat(found), flat(expected), strict=True):
        tolerance = {"e": 1e-2, "f": 2e-4, "F": 2e-4}.get(np.asarray(y).dtype.char, 1e-5)
        np.testing.assert_allclose(x, y, rtol=tolerance, atol=1e-5)
        if isinstance(y, np.ndarray):
            assert x.dtype == y.dtype


def wide(x: Any) -> Any:
    return (
        np.result_type(x, np.float64).type(x)
        if np.ndim(x) == 0
        else x.astype(np.result_type(x.dtype, np.float64))
    )


@pytest.mark.parametrize("f, args", CASES)
def test_tangents_have_the_precision_of_their_values(f, args):
    every, rng = (*range(len(args)),), np.random.default_rng(1)
    dots = tuple(dot_of(x, rng) for x in args)
    pushed, moved = (along_of(kind, f, args, {}, every) for kind in ("pushforward", "hvp"))
    assert pushed is not None and moved is not None
    found = pushed(dots), moved(dots)
    slope = ad.grad(f, every)
    with generic_tier():
        close(found[0], ad.pushforward(f, args, dots))
        (y, expected) = ad.pushforward(slope, args, dots)
        close(found[1], (y, expected))
        exact, h = [wide(x) for x in args], 1e-3
        ends = [slope(*(x + s * d for x, d in zip(exact, dots, strict=True))) for s in (h, -h)]
    for a, b, y_dot in zip(*ends, found[1][1], strict=True):
        np.testing.assert_allclose(y_dot, (a - b) / (2 * h), rtol=2e-3, atol=2e-4)
