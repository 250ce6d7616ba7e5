"""What is not a number in a part of an input concerns only what depends on it.

See `adjoint.cotangents.structural_zeros`. The functions read the second row of a matrix whose first
row is not finite; their gradient there is that of the same function of a matrix that is finite.
"""

import math

import numpy as np
import pytest

import adjoint as ad
from adjoint.cotangents.structural_zeros import pulled
from adjoint.rulekit.registry import rrule

NAN, INF = np.nan, np.inf
HOLED = np.array([[NAN, 2.0], [3.0, 4.0]])


def rows(v):
    """Matrices of which the second one is of the second row."""
    return np.stack([v, np.diag(v[1])])


OF_ROW = {
    "matmul": lambda v: (v @ v.T)[1, 1],
    "matmul by a constant": lambda v: (v @ np.array([[1.0, 2.0], [3.0, 4.0]]))[1, 1],
    "a constant by a matrix": lambda v: (HOLED @ np.array([[1.0], [1.0]]) @ v[1:])[1, 1],
    "a constant by a vector": lambda v: (HOLED @ v[1])[1],
    "a vector by a constant": lambda v: (v[1] @ HOLED)[1],
    "dot": lambda v: np.dot(v, v.T)[1, 1],
    "method dot": lambda v: v.dot(v.T)[1, 1],
    "inner": lambda v: np.inner(v, v)[1, 1],
    "vdot": lambda v: np.stack([np.vdot(v[0], v[0]), np.vdot(v[1], v[1])])[1],
    "inner of vectors": lambda v: np.stack([v[0].dot(v[0]), v[1].dot(v[1])])[1],
    "tensordot": lambda v: np.tensordot(v, v, ((1,), (1,)))[1, 1],
    "kron": lambda v: np.kron(v, v)[-1, -1],
    "cross": lambda v: np.cross(np.c_[v, v[:, 0]], np.c_[v[:, 0], v])[1].sum(),
    "einsum": lambda v: np.einsum("ij,kj->ik", v, v)[1, 1],
    "einsum of rows": lambda v: np.einsum("ij,ij->i", v, v)[1],
    "cov": lambda v: np.cov(v)[1, 1],
    "corrcoef": lambda v: np.corrcoef(np.c_[v, v[:, 0] ** 2])[1, 1],
    "average": lambda v: np.average(v, axis=1, weights=v)[1],
    "hypot": lambda v: np.hypot(v[:, 0], v[:, 1])[1],
    "arctan2": lambda v: np.arctan2(v[:, 0], v[:, 1])[1],
    "prod": lambda v: np.prod(v, axis=1)[1],
    "cumprod": lambda v: np.cumprod(v, axis=1)[1].sum(),
    "std": lambda v: np.std(v, axis=1)[1],
    "var": lambda v: np.var(v, axis=1)[1],
    "sample std": lambda v: v.std(1, ddof=1)[1],
    "power": lambda v: (v**v)[1, 1],
    **{
        name: lambda v, f=getattr(np, name): f(v)[1, 1]
        for name in "sin cos tanh sinh arctan exp expm1 square sqrt cbrt log1p arcsinh".split()
    },
    "a layer": lambda v: np.sum(np.tanh(v @ np.array([[1.0, 0.2], [0.5, 0.1]]))[1] ** 2),
    "polyval": lambda v: np.polyval(v[1], v)[1, 1],
    "inv": lambda v: np.linalg.inv(rows(v))[1, 0, 0],
    "det": lambda v: np.linalg.det(rows(v))[1],
    "solve": lambda v: np.linalg.solve(rows(v), np.stack([v, v[1:] * v[1:].T]))[1, 1, 0],
    "matrix_power": lambda v: np.linalg.matrix_power(rows(v), 2)[1, 0, 0],
}
for order in (None, 1, 2, 3, 0.5, INF, -INF):
    OF_ROW[f"norm {order}"] = lambda v, order=order: np.linalg.norm(v, order, axis=1)[1]
if hasattr(np, "trapezoid"):
    OF_ROW["trapezoid"] = lambda v: np.trapezoid(v, v, axis=1)[1]
    OF_ROW["vecdot"] = lambda v: np.linalg.vecdot(v, v)[1]


def _check(f, x):
    holed, whole = np.array([[x, 2.0], [3.0, 4.0]]), np.array([[7.3, 2.0], [3.0, 4.0]])
    with np.errstate(all="ignore"):
        found, expected = ad.gradient(f, holed)[0], ad.gradient(f, whole)[0]
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        assert np.all(expected[0] == 0)
        moved = [ad.pushforward(f, (holed,), (unit,))[1] for unit in np.eye(4).reshape(4, 2, 2)]
    np.testing.assert_allclose(np.reshape(moved, (2, 2)), expected, rtol=1e-12, atol=1e-15)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("x", [NAN, INF])
@pytest.mark.parametrize("name", OF_ROW)
def test_what_is_read_is_not_concerned(name, x):
    if name in ("inv", "det", "solve") and np.isinf(x):
        pytest.skip("LAPACK reads infinities otherwise on each machine")
    _check(OF_ROW[name], x)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("x", [NAN, INF])
def test_functions_of_scipy(x):
    special = pytest.importorskip("scipy.special")
    distance = pytest.importorskip("scipy.spatial.distance")
    _check(lambda v: special.logsumexp(v, axis=1)[1], x)
    _check(lambda v: special.softmax(v, axis=1)[1, 0], x)
    _check(lambda v: special.log_softmax(v, axis=1)[1, 0], x)
    _check(lambda v: distance.cdist(v, 2 + v[1:])[1, 0], x)


def test_what_depends_on_it_is_concerned():
    with np.errstate(all="ignore"):
        of_first = lambda v: np.outer(v[0], v[1])[1, 1]  # noqa: E731
        np.testing.assert_array_equal(ad.gradient(of_first, HOLED)[0], [[0, 4], [0, 2]])
        of_column = ad.gradient(lambda v: (v @ v)[1, 1], HOLED)[0]
        np.testing.assert_array_equal(of_column, [[0, 3], [2, 8]])
        of_all = ad.gradient(lambda v: (v @ v).sum(), HOLED)[0]
        assert np.isnan(of_all[0, 0])
        np.testing.assert_array_equal(
            ad.gradient(lambda x: np.cumprod(x)[1], np.array([1.0, 2.0, INF]))[0], [2, 1, 0]
        )
        np.testing.assert_array_equal(
            ad.gradient(lambda x: np.convolve(x, x[::-1])[0], np.array([3.0, NAN, 2.0]))[0],
            [2, 0, 3],
        )


def test_products_that_are_infinite_stay_so():
    big = np.array([[INF, 2.0], [3.0, 4.0]])
    with np.errstate(invalid="ignore"):  # some kernels multiply more than they need
        bar = ad.gradient(lambda v: (v @ np.array([[INF, 1.0], [1.0, 1.0]]))[0].sum(), big)[0]
    np.testing.assert_array_equal(bar, [[INF, 2.0], [0, 0]])


BACKS = [
    (np.matmul, (HOLED, HOLED), np.array([[0.0, 0.0], [0.0, 1.0]])),
    (np.matmul, (HOLED + 1j, HOLED), np.array([[0.0, 0.0], [0.0, 1j]])),
    (np.multiply, (HOLED, HOLED[:1]), np.array([[0.0, 0.0], [0.0, 1.0]])),
    (np.tensordot, (HOLED, HOLED, 1), np.array([[0.0, 0.0], [0.0, 1.0]])),
    (np.linalg.svd, (np.eye(2),), (None, np.array([0.0, 1.0]), None)),
]


@pytest.mark.parametrize("f, args, y_bar", BACKS)
def test_forms_stay(f, args, y_bar):
    back = rrule(f, *args)[1]
    first, second = back(y_bar), pulled(back, y_bar)
    for bar, other in zip(first, second, strict=True):
        assert type(bar) is type(other)
        if bar is not None and not isinstance(bar, int):
            assert (np.shape(bar), np.asarray(bar).dtype) == (np.shape(other), other.dtype)
            known = np.isfinite(bar)
            np.testing.assert_array_equal(bar[known], other[known])


# ---- what reductions leave out -------------------------------------------------------------------

THERE = np.array([False, True, True])
LEAVING_OUT = {
    **{
        name: lambda x, f=getattr(np, name): f(np.sqrt(x))
        for name in "nansum nanmean nanprod nanvar nanstd nanmax nanmin nanmedian".split()
    },
    "nanquantile": lambda x: np.nanquantile(np.sqrt(x), 0.3),
    "nanpercentile": lambda x: np.nanpercentile(np.sqrt(x), 30),
    "fmax": lambda x: np.fmax.reduce(np.sqrt(x)),
    **{
        f"{name} where": lambda x, f=getattr(np, name): f(np.sqrt(x), where=THERE)
        for name in "sum mean prod var std".split()
    },
    "max where": lambda x: np.max(np.sqrt(x), where=THERE, initial=-9.0),
    "multiply.reduce where": lambda x: np.multiply.reduce(np.sqrt(x), where=THERE),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", LEAVING_OUT)
def test_what_is_left_out(name):
    """The square root of −1 is left out, with its derivative."""
    f, x = LEAVING_OUT[name], np.array([-1.0, 4.0, 9.0])
    h = 1e-4 * np.eye(3)
    with np.errstate(all="ignore"):
        expected = [(8 * (f(x + e) - f(x - e)) - f(x + 2 * e) + f(x - 2 * e)) / 12e-4 for e in h]
        np.testing.assert_allclose(ad.gradient(f, x)[0], expected, rtol=1e-9, atol=1e-12)
        found = [ad.pushforward(f, (x,), (e,))[1] for e in np.eye(3)]
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


SATURATED = [
    lambda x: 1 / np.cosh(x),
    lambda x: np.exp(-np.cosh(x)),
    lambda x: np.tanh(np.exp(x)),
]


@pytest.mark.parametrize("f", SATURATED)
def test_functions_that_have_come_to_their_limit(f):
    with np.errstate(all="ignore"):
        assert ad.gradient(f, 800.0) == (0.0,)
        assert ad.pushforward(f, (800.0,), (1.0,))[1] == 0.0
        assert ad.pushforward(f, (np.array([800.0]),), (np.ones(1),))[1] == 0.0


def test_a_slope_of_zero_at_a_pole_is_not_known():
    with np.errstate(all="ignore"):
        assert np.isnan(ad.pushforward(lambda x: np.sqrt(x) ** 2, (0.0,), (1.0,))[1])


SELECTED = {
    "maximum": lambda x: np.maximum(-np.divide(x, 0.0), 1.25 * x),
    "minimum": lambda x: np.minimum(np.divide(x, 0.0), 1.25 * x),
    "fmax": lambda x: np.fmax(np.divide(x, 0.0) * 0.0, 1.25 * x),
    "fmin": lambda x: np.fmin(np.divide(x, 0.0) * 0.0, 1.25 * x),
    "fmax of arrays": lambda x: np.fmax(np.array([np.nan * x, x]), 0.625 * x).sum() - 0.375 * x,
    "clip": lambda x: np.clip(np.divide(x, 0.0), 0.0, 1.25 * x),
    "clip from below": lambda x: np.clip(1.25 * x, -np.divide(x, 0.0), 9.0),
}


@pytest.mark.parametrize("name", SELECTED)
@pytest.mark.filterwarnings("ignore")
def test_what_is_not_selected_has_no_part_in_a_tangent(name):
    f = SELECTED[name]
    assert ad.derivative(f)(0.7) == pytest.approx(1.25)
    assert ad.gradient(f, 0.7)[0] == pytest.approx(1.25)


@pytest.mark.parametrize(
    ("f", "args", "slopes"),
    [
        (math.lgamma, (-math.inf,), (math.nan,)),
        (math.lgamma, (math.inf,), (math.inf,)),
        (math.fmod, (2.0, 5e-324), (1.0, -math.inf)),
        (math.remainder, (2.0, 5e-324), (1.0, -math.inf)),
        (math.fmod, (2.0, math.inf), (1.0, 0.0)),
    ],
)
def test_slopes_that_are_not_finite(f, args, slopes):
    """Where the function has a value, its derivative is one too."""
    assert ad.withgradient(f, *args) == (f(*args), pytest.approx(slopes, nan_ok=True))
    tangents = [1.0] + [0.0] * (len(args) - 1)
    assert ad.pushforward(f, args, tangents)[1] == pytest.approx(slopes[0], nan_ok=True)


def test_conversions_keep_entries_apart_in_second_derivatives():
    def f(x):
        y = (x * np.array([1.0, NAN, 2.0])).astype(float)
        return y[0] ** 3 + y[2] ** 2

    found = ad.hvp(f, np.array([0.5, 0.7, 1.5]), np.array([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(found, [3.0, 0.0, 24.0])
