"""``out=`` and ``where=``: results written into arrays."""

import numpy as np
import pytest

import adjoint as ad
from tests.support import Sample, check_sample

X = np.array([0.3, 0.8, 1.4, -0.6])
M = np.array([[0.3, -0.8, 1.4], [0.9, 0.2, -0.5], [0.6, 0.1, 0.4]])


def check(f, *args):
    check_sample(Sample(f, args))


# ---- ufuncs --------------------------------------------------------------------------------------


def masked(x):
    y = x * x
    np.log(x, out=y, where=x > 0.5)
    return np.sum(y * x)


def masked_with_poles(x):
    """What is not selected has neither a value nor a derivative."""
    y = np.ones(4)
    np.sqrt(x - 0.3, where=[False, True, True, False], out=y)
    np.divide(x, x - 0.3, out=y, where=np.array([False, True, True, True]))
    return y.sum() * y[1]


def masked_broadcast(m):
    y = m * 2.0
    np.multiply(m, m[0], out=y, where=[[True], [False], [True]])
    np.add(y, 1.0, y, where=[True, False, True])
    return np.sum(y * m)


def where_that_is_rewritten(x):
    mask, y, total = x > 0.5, x.copy(), 0.0
    for bound in (0.0, 0.5, 1.0):
        np.greater(x, bound, out=mask)
        np.multiply(y, x, out=y, where=mask)
        total += np.where(mask, x, y).sum()
    return total


def out_is_operand(x):
    y = x.copy()
    np.multiply(y, y, out=y)
    np.add(y[1:], y[:-1], out=y[1:])
    return np.sum(y * x)


UNARY = [np.exp, np.sqrt, np.abs, np.tanh, np.log, np.square, np.negative, np.floor]


@pytest.mark.parametrize("f", UNARY, ids=lambda f: f.__name__)
@pytest.mark.parametrize("is_named", [False, True])
def test_output_that_carries_a_derivative_which_the_operand_does_not(f, is_named):
    w = np.array([0.4, 1.3, 2.1, 0.7])

    def overwritten(x):
        y = x * 2.0
        z = f(w, out=y) if is_named else f(w, y)
        z *= x
        return np.sum(y * x)

    check(overwritten, X)
    value, (x_bar,) = ad.withgradient(overwritten, X)
    assert value == overwritten(X)
    np.testing.assert_allclose(x_bar, 2 * f(w) * X, rtol=1e-14)


def out_of_argument(x):
    z = np.sin(x, out=x)
    z *= 2.0
    return np.sum(x * z)


def out_broadcasts(m):
    buffer = np.empty((2, 3))
    y = np.multiply(m[0], 2.0, buffer)
    return np.sum(y * m[:2]) + buffer[1, 0]


def out_of_integers(x):
    buffer = np.zeros(4, int)
    np.add([1, 2, 3, 4], 1, out=buffer)
    return np.sum(x * buffer)


def out_complex(x):
    z = np.zeros(4, complex)
    np.multiply(x, 1j + x, out=z)
    np.exp(z, out=z)
    np.absolute(z, out=z.real)
    return np.sum(z.real * x) + np.sum(z.imag)


def out_as_tuple(x):
    y = np.empty(4)
    np.exp(x, out=(y,))
    return np.sum(y * y)


def matrix_product(m):
    y = np.empty((3, 3))
    np.matmul(m, m, out=y)
    np.matmul(y, m, y)
    return np.sum(y)


def out_is_none(x):
    return np.sum(np.multiply(x, x, out=None, dtype=float))


@pytest.mark.parametrize(
    "f",
    [
        masked, where_that_is_rewritten, out_is_operand, out_of_argument,
        out_of_integers, out_complex, out_as_tuple, out_is_none, masked_with_poles,
    ],
)  # fmt: skip
def test_ufunc(f):
    check(f, X)


@pytest.mark.parametrize("f", [masked_broadcast, out_broadcasts, matrix_product])
def test_ufunc_of_matrix(f):
    check(f, M)


def test_in_single_precision():
    def f(x):
        buffer = np.zeros(4, np.float32)
        np.multiply(x, x, out=buffer)
        return float(buffer.sum())

    value, (x_bar,) = ad.withgradient(f, X)
    assert value == f(X)
    np.testing.assert_allclose(x_bar, 2 * X, rtol=1e-6)


# ---- other functions -----------------------------------------------------------------------------


def into(f, *shape):
    """What `f` writes, twice, so that what is overwritten matters."""

    def g(m):
        out = np.ones(shape)
        f(m, out)
        total = np.sum(out * np.arange(1.0, out.size + 1).reshape(shape))
        y = f(m * m, out)
        assert y is out
        return total * np.sum(np.cos(out))

    return g


WRITERS = {
    "sum": into(lambda m, out: np.sum(m, axis=0, out=out), 3),
    "sum by position": into(lambda m, out: np.sum(m, 1, None, out, True), 3, 1),
    "sum where": into(lambda m, out: np.sum(m, 0, out=out, where=[True, False, True]), 3),
    "sum of everything": into(lambda m, out: np.sum(m, out=out)),
    "method sum": into(lambda m, out: m.sum(0, out=out), 3),
    "method mean": into(lambda m, out: m.mean(1, None, out), 3),
    "mean": into(lambda m, out: np.mean(m, 0, out=out), 3),
    "std": into(lambda m, out: np.std(m, axis=1, ddof=1, out=out), 3),
    "prod": into(lambda m, out: np.prod(m, 0, initial=2.0, out=out), 3),
    "max": into(lambda m, out: np.max(m, 1, out), 3),
    "method min": into(lambda m, out: m.min(1, out), 3),
    "median": into(lambda m, out: np.median(m, 0, out=out), 3),
    "quantile": into(lambda m, out: np.quantile(m, 0.3, axis=0, out=out), 3),
    "cumsum": into(lambda m, out: np.cumsum(m, axis=1, out=out), 3, 3),
    "method cumprod": into(lambda m, out: m.cumprod(0, out=out), 3, 3),
    "clip": into(lambda m, out: np.clip(m, 0.15, 0.95, out=out), 3, 3),
    "method clip": into(lambda m, out: m.clip(0.15, m[2, 2] * 2, out), 3, 3),
    "clip where": into(lambda m, out: np.clip(m, 0.15, 0.95, where=M > 0.3, out=out), 3, 3),
    "method clip where": into(lambda m, out: m.clip(0.15, m.T, out, where=M > 0.3), 3, 3),
    "dot": into(lambda m, out: np.dot(m, m, out=out), 3, 3),
    "method dot": into(lambda m, out: m.dot(m.T, out), 3, 3),
    "outer": into(lambda m, out: np.outer(m[0], m[1], out=out), 3, 3),
    "einsum": into(lambda m, out: np.einsum("ij,kj->ik", m, m, out=out), 3, 3),
    "concatenate": into(lambda m, out: np.concatenate([m, m[:1]], axis=0, out=out), 4, 3),
    "stack": into(lambda m, out: np.stack([m[0], m[2]], out=out), 2, 3),
    "take": into(lambda m, out: np.take(m, [0, 2], axis=1, out=out), 3, 2),
    "method take": into(lambda m, out: m.take([0, 2], 0, out), 2, 3),
    "compress": into(lambda m, out: np.compress([1, 0, 1], m, 0, out), 2, 3),
    "choose": into(lambda m, out: np.choose([0, 2, 1], m, out=out), 3),
    "trace": into(lambda m, out: np.trace(m, out=out)),
    "nansum": into(lambda m, out: np.nansum(m, 0, out=out), 3),
    "multi_dot": into(lambda m, out: np.linalg.multi_dot([m, m, m], out=out), 3, 3),
    "add.reduce": into(lambda m, out: np.add.reduce(m, 1, None, out), 3),
    "maximum.reduce": into(lambda m, out: np.maximum.reduce(m, axis=0, out=out), 3),
    "add.accumulate": into(lambda m, out: np.add.accumulate(m, out=out), 3, 3),
    "multiply.outer": into(lambda m, out: np.multiply.outer(m[0], m[1], out=out), 3, 3),
    "add.reduceat": into(lambda m, out: np.add.reduceat(m, [0, 2], 0, None, out), 2, 3),
}


@pytest.mark.parametrize("f", WRITERS.values(), ids=WRITERS)
def test_function(f):
    check(f, M)


def test_rounded_into_a_buffer():
    """A step has no derivative; what it overwrote keeps its own."""

    def f(x):
        y = x * x
        before = y.sum()
        np.round(x, 1, out=y)
        y += x
        return before * y.sum()

    check(f, X + 0.02)


def test_drawn_into_a_buffer():
    def f(x):
        rng, y = np.random.default_rng(3), x * x
        before = y[0] * y[1]
        rng.random(out=y)
        z = y * x
        rng.standard_normal(out=y)
        return before + np.sum(z * y * x)

    check(f, X)


def test_index_into_a_buffer():
    def f(m):
        place, total = np.zeros(3, int), 0.0
        for k in range(3):
            np.argmax(m * (k - 1), axis=1, out=place)
            total = total * m[0, 0] + m[np.arange(3), place].sum()
        return total

    check(f, M)


# ---- refusals are NumPy's own --------------------------------------------------------------------


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.add(x, x, out=np.zeros(4, int)),
        lambda x: np.add(x, x, out=np.zeros(3)),
        lambda x: np.add(x, x, out=np.zeros((1, 1))),
        lambda x: np.add(x[None], x[None], out=np.zeros(4)),
        lambda x: np.add(x, x, out=np.zeros(4, int), where=x > 0),
        lambda x: np.add(x, x, out=[0.0] * 4),
        lambda x: np.sum(x, out=np.zeros(2)),
        lambda x: np.cumsum(x, out=np.zeros(3)),
        lambda x: np.dot(x, x, out=np.zeros((), np.float32)),
        lambda x: np.concatenate([x, x], out=np.zeros(7)),
        lambda x: np.multiply(x, 1j, out=np.zeros(4)),
    ],
)
def test_refused(f):
    with pytest.raises((TypeError, ValueError)) as expected:
        f(X)
    with pytest.raises(expected.type) as found:
        ad.pullback(f, X)
    assert str(found.value) == str(expected.value)
