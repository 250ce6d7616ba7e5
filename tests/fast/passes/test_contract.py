"""Sums of products of vectors in the reverse sweep are inner products."""

from __future__ import annotations

import operator

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.evaluate.types import Array, Symbol, number
from adjoint.fast.passes.contraction import contract
from adjoint.ir.single import Block, Call, Const, Value

N, M = Symbol("n"), Symbol("m")
DOUBLE, SINGLE, COMPLEX = (np.dtype(char) for char in "dfD")


def called(result, f, *operands):
    return Call(result, Const(f), operands)


def contracted(of_x, of_y, *more, totals=None):
    """What becomes of ``s = sum(x * y)``, with `more` operations that read the products ``p``."""
    x, y, p, s = map(Value, "xyps")
    types = {x: of_x, y: of_y, p: of_x, s: number(np.float64)}
    ops = [called(p, operator.mul, x, y), *(called(None, f, p) for f in more)]
    ops.append(called(s, np.sum, p))
    found = contract(Block((), tuple(ops), (s,)), {s} if totals is None else totals, types)
    return [op.callee.value for op in found.ops]


def test_products_are_not_computed():
    vector = Array(DOUBLE, (N,))
    assert contracted(vector, vector) == [np.dot]


@pytest.mark.parametrize(
    ("of_x", "of_y"),
    [
        (Array(DOUBLE, (N,)), Array(DOUBLE, (M,))),
        (Array(DOUBLE, (N,)), Array(SINGLE, (N,))),
        (Array(DOUBLE, (N,)), number(float)),
        (Array(DOUBLE, (N, M)), Array(DOUBLE, (N, M))),
        (Array(COMPLEX, (N,)), Array(COMPLEX, (N,))),
        (Array(np.dtype(np.int64), (N,)), Array(np.dtype(np.int64), (N,))),
        (Array(SINGLE, (N,)), Array(SINGLE, (N,))),
        (Array(np.dtype(np.float16), (N,)), Array(np.dtype(np.float16), (N,))),
    ],
)
def test_only_of_vectors_alike(of_x, of_y):
    assert contracted(of_x, of_y) == [operator.mul, np.sum]


def test_only_where_nothing_else_reads_the_products():
    vector = Array(DOUBLE, (N,))
    assert contracted(vector, vector, np.sin) == [operator.mul, np.sin, np.sum]


def test_only_what_the_reverse_sweep_summed():
    vector = Array(DOUBLE, (N,))
    assert contracted(vector, vector, totals=()) == [operator.mul, np.sum]


def test_factors_are_read_before_they_are_overwritten():
    """The sum may stand behind a write to one of the factors."""
    x, y, p, s = map(Value, "xyps")
    types = dict.fromkeys((x, y, p), Array(DOUBLE, (N,))) | {s: number(np.float64)}
    ops = (
        called(p, operator.mul, x, y),
        called(None, np.ndarray.fill, x, Const(0.0)),
        called(s, np.sum, p),
    )
    found = contract(Block((), ops, (s,)), {s}, types)
    assert [op.callee.value for op in found.ops] == [np.dot, np.ndarray.fill]


# ---- of whole functions --------------------------------------------------------------------------


def scaled(a, x):
    return np.sum(np.tanh(a * x))


def decaying(a, b, x):
    return np.sum(np.exp(-a * x) * x / b)


def in_a_loop(a, x):
    y = x
    for _ in range(3):
        y = np.sin(a * y) + x
    return np.sum(y)


def in_a_branch(a, x):
    y = a * x if a > 0 else x - a * x
    return np.sum(y**2)


def with_a_buffer(a, x):
    y = np.empty_like(x)
    for i in range(3):
        y[:] = x + i
        y *= a
        x = x + np.cos(y)
    return np.sum(x)


def greatest(a, x):
    """The greatest is compared with what is computed again: sums of the function's own stay."""
    y = 0.0
    for i in range(4):
        y = y + np.maximum(np.sum(a * x * x), 0.1 * i) * a
    return y


FUNCTIONS = [scaled, decaying, in_a_loop, in_a_branch, with_a_buffer, greatest]


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("step", [1, -2])
@pytest.mark.parametrize("f", FUNCTIONS)
def test_derivatives(f, step, dtype):
    rng = np.random.default_rng(3)
    x = rng.uniform(0.2, 1.0, 14).astype(dtype)[::step]
    numbers = [dtype_of(dtype)(v) for v in (0.7, 1.3)][: f.__code__.co_argcount - 1]
    fast = ad.gradient(f, *numbers, x)
    generic = ad.value_and_grad(f, argnums=None, tier="generic")(*numbers, x)[1]
    tolerance = 1e-12 if dtype == "f8" else 1e-4
    for one, other in zip(fast, generic, strict=True):
        assert type(one) is type(other)
        np.testing.assert_allclose(one, other, rtol=tolerance)
    if dtype == "f8":
        for i, v in enumerate(numbers):
            h = 1e-6
            shifted = [[*numbers[:i], v + d, *numbers[i + 1 :]] for d in (h, -h)]
            slope = (f(*shifted[0], x) - f(*shifted[1], x)) / (2 * h)
            np.testing.assert_allclose(fast[i], slope, rtol=1e-6)


def dtype_of(dtype):
    return float if dtype == "f8" else np.float32


@pytest.mark.parametrize("f", [scaled, decaying, in_a_loop, in_a_branch])
def test_source(f):
    numbers = (0.7, 1.3)[: f.__code__.co_argcount - 1]
    assert ".dot(" in ad.code(f, *numbers, np.linspace(0.1, 1, 5))


def test_long_vectors_of_single_precision_keep_their_digits():
    x = np.linspace(0.1, 0.11, 10**6, dtype=np.float32)
    a_bar, _ = ad.gradient(scaled, np.float32(0.7), x)
    exact = np.sum((1 - np.tanh(0.7 * x.astype(float)) ** 2) * x)
    assert abs(a_bar - exact) <= 2e-7 * exact


def test_nothing_and_infinity():
    assert ad.gradient(scaled, 0.7, np.empty(0))[0] == 0.0
    x = np.array([1.0, np.inf])
    with np.errstate(all="ignore"):
        fast = ad.gradient(scaled, 0.7, x)
        generic = ad.value_and_grad(scaled, argnums=None, tier="generic")(0.7, x)[1]
    np.testing.assert_equal(fast[0], generic[0])
