"""``numpy.gradient`` along coordinates, evenly spaced ones among them."""

import numpy as np
import pytest

import adjoint as ad
from tests.support import Sample, check_sample

rng = np.random.default_rng(7)
EVEN, ODD = np.arange(4.0), np.array([0.0, 0.3, 1.1, 1.5])
Y, M = rng.normal(size=4), rng.normal(size=(4, 3))

CALLS = [
    *(((Y, t), {}) for t in (EVEN, ODD, EVEN[::-1])),
    ((Y + 1j * Y[::-1], EVEN), {}),
    ((Y[:2], EVEN[:2]), {}),
    ((M, EVEN, EVEN[:3]), {}),
    ((M, EVEN, 0.5), {}),
    ((M, EVEN), {"axis": 0}),
    ((M, EVEN[:3]), {"axis": -1, "edge_order": 2}),
    ((M, EVEN), {"axis": (0,)}),
    ((M, EVEN, ODD[:3]), {"axis": (0, 1), "edge_order": 2}),
    ((M.T, EVEN, EVEN[:3]), {"axis": (-1, 0)}),
]


@pytest.mark.parametrize("k", range(len(CALLS)))
def test_coordinates(k):
    args, options = CALLS[k]

    def f(*args):
        found = np.gradient(*args, **options)
        parts = found if isinstance(found, list | tuple) else [found]
        return sum(np.sum(np.real(part) ** 3 + np.imag(part) * 1.5) for part in parts)

    check_sample(Sample(f, args))


@pytest.mark.parametrize("edge_order", [1, 2])
@pytest.mark.parametrize("t", [EVEN, ODD])
def test_a_function_of_both(t, edge_order):
    def f(y, t):
        slopes = np.gradient(y * y, t, edge_order=edge_order)
        return np.sum(np.sin(slopes) * t) + slopes[1] * slopes[3]

    check_sample(Sample(f, (Y, t)))


@pytest.mark.parametrize(
    "f",
    [
        lambda t: np.gradient(t, t)[1] * np.gradient(t * t, t)[2],
        lambda t: np.sum(np.gradient(np.array([1, 3, 2, 5]), t) ** 3),
        lambda t: np.sum(np.gradient([1.0, 3.0, 2.0, 5.0], t) ** 3),
        lambda t: np.sum(np.gradient(t * t, [t[0], t[1], t[2], t[3]]) ** 3),
        lambda t: np.sum(np.gradient([t[1], t[0] ** 2, t[3], t[2]], t[1]) ** 3),
        lambda t: np.sum(np.gradient([t, t * t], 0.5, list(t))[1] ** 3),
    ],
)
def test_other_kinds_of_operands(f):
    check_sample(Sample(f, (EVEN + 1.0,)))


def test_second_derivatives_in_coordinates():
    def f(t):
        return np.sum(np.gradient(Y, t) ** 3)

    step, found = 1e-6, ad.hessian(f, EVEN)
    rows = [(ad.grad(f)(EVEN + e) - ad.grad(f)(EVEN - e)) / (2 * step) for e in step * np.eye(4)]
    np.testing.assert_allclose(found, rows, rtol=1e-6, atol=1e-7)


def test_the_value_is_numpys():
    for y in (Y, M):
        steps = (EVEN / 3, EVEN[:3] / 7)[: y.ndim]
        made, _ = ad.pullback(lambda y, *steps: np.gradient(y, *steps), y, *steps)
        np.testing.assert_array_equal(made, np.gradient(y, *steps))
        assert type(made) is type(np.gradient(y, *steps))


def test_the_message_is_numpys():
    with pytest.raises(ValueError, match="when 1d, distances must match"):
        ad.grad(lambda y: np.gradient(y, EVEN[:3]).sum())(Y)
