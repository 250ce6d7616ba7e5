"""`adjoint.rules.scipy.interpolate`: B-splines, FITPACK, radial functions; and the routines of
LAPACK that their code calls."""

import numpy as np
import pytest
from scipy import interpolate
from scipy.linalg import get_lapack_funcs
from scipy.sparse.linalg import spsolve

import adjoint as ad
from adjoint.errors import NoDerivativeError
from adjoint.rules.scipy.interpolate.bsplines import basis, places_in, spline
from tests.rules.harness import complexes, reals, table
from tests.support import check_reverse

KNOTS = np.array([0.0, 0.0, 0.0, 0.0, 0.6, 1.1, 2.0, 2.0, 2.0, 2.0])
EVEN = np.arange(10.0) / 4 - 0.5
C = reals(6, 2)
POINTS = np.array([0.1, 0.7, 1.5, 1.95, 0.65])
BEYOND = np.array([-0.4, 0.5, 2.3])


def bases(t, k, nu):
    return t, k, POINTS, places_in(t, k, POINTS), nu


def systems(dtype):
    """Of each routine, with a matrix and two right-hand sides."""
    draw = complexes if dtype in "FD" else reals
    a, b = draw(4, 4).astype(dtype) + 3 * np.eye(4, dtype=dtype), draw(4, 2).astype(dtype)
    gesv, sysv, gbsv = get_lapack_funcs(("gesv", "sysv", "gbsv"), dtype=dtype)
    banded = np.zeros((6, 4), dtype)
    banded[2:] = draw(4, 4, seed=3).astype(dtype)
    banded[4] += 4
    return {gesv: [(a, b)], sysv: [(a, b)], gbsv: [(2, 1, banded, b)]}


SYSTEMS = {f: calls for dtype in "fdFD" for f, calls in systems(np.dtype(dtype).char).items()}
CASES = {
    spline: [
        *((KNOTS, C, 3, POINTS, nu, True) for nu in range(5)),
        *((EVEN, reals(10 - k - 1, 1), k, POINTS, 0, True) for k in (1, 2, 4)),
        (KNOTS, C, 3, BEYOND, 1, True),
        (KNOTS, C, 3, POINTS[:0], 0, True),
    ],
    basis: [bases(KNOTS, 3, 0), bases(KNOTS, 3, 2), bases(EVEN, 2, 1), bases(EVEN, 1, 0)],
}
test_rule = table(CASES)


@pytest.mark.parametrize("f, args", [(f, args) for f, calls in SYSTEMS.items() for args in calls])
def test_systems(f, args):
    if f.typecode in "dD":
        check_reverse(lambda a, b: f(*args[:-2], a, b)[-2], *args[-2:])


def _check_in_double(single, double, *args):
    """The same derivatives as of the routine in double precision."""
    y, back = ad.pullback(single, *args)
    y_bar = complexes(*y.shape, seed=7)
    _, exact = ad.pullback(double, *(x.astype(np.promote_types(x.dtype, "d")) for x in args))
    for found, wanted in zip(back(y_bar)[1:], exact(y_bar)[1:], strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("f", SYSTEMS, ids=lambda f: f.__doc__.partition("\n")[0])
def test_solutions(f):
    """The factors, whose derivative is refused, left aside."""
    (args,) = SYSTEMS[f]
    *sizes, a, b = args

    def solution(a, b, f=f):
        return f(*sizes, a, b)[2].astype("D")

    if a.dtype.char in "fF":  # differences in single precision would say little
        name = f.__doc__.partition("(")[0].split("=")[-1].strip()[1:]
        double = get_lapack_funcs((name,), dtype=np.promote_types(a.dtype, "d"))[0]
        _check_in_double(solution, lambda a, b: solution(a, b, double), a, b)
    else:
        check_reverse(solution, a, b)
    with pytest.raises(NoDerivativeError, match="its factors"):
        ad.gradient(lambda a: np.sum(np.abs(f(*args[:-2], a, args[-1])[0])), args[-2])


# ---- interpolants --------------------------------------------------------------------------------

X, Y = np.array([0.0, 0.3, 0.7, 1.0, 1.6, 2.0, 2.2]), reals(7, seed=5)
Q = np.array([0.1, 0.9, 1.7])
make = interpolate.make_interp_spline
MADE = {
    **{f"degree {k}": (lambda x, y, q, k=k: make(x, y, k)(q)) for k in (1, 2, 3, 5)},
    "slope": lambda x, y, q: make(x, y).derivative()(q),
    "area": lambda x, y, q: make(x, y).integrate(q[0], q[2]),
    "natural": lambda x, y, q: make(x, y, bc_type="natural")(q),
    "ends": lambda x, y, q: make(x, y, bc_type=([(1, y[0])], [(2, 0.0)]))(q),
    "periodic": lambda x, y, q: make(x, np.append(y[:-1], y[0]), bc_type="periodic")(q + 1.0),
    "beyond": lambda x, y, q: make(x, y)(q + 2.0),
    "complex": lambda x, y, q: make(x, y + 1j * y**2)(q),
    "interp1d": lambda x, y, q: interpolate.interp1d(x, y, "cubic")(q),
    "least squares": lambda x, y, q: interpolate.make_lsq_spline(
        x, y, np.concatenate([[-0.1] * 4, q[1:2], [2.4] * 4]), w=1.0 + y**2
    )(q),
    "complex least squares": lambda x, y, q: interpolate.make_lsq_spline(
        x, y + 1j * y**2, np.concatenate([[-0.1] * 4, [1.1], [2.4] * 4])
    )(q),
    **{
        f"FITPACK, degree {k}": (
            lambda x, y, q, k=k: interpolate.splev(q, interpolate.splrep(x, y, k=k), der=k - 1)
        )
        for k in (1, 2, 3, 4)
    },
    "FITPACK, knots": lambda x, y, q: interpolate.splev(
        q, interpolate.splrep(x, y, 1.0 + y**2, t=q[1:2])
    ),
    "class": lambda x, y, q: interpolate.InterpolatedUnivariateSpline(x, y)(q, 1),
    "class, area": lambda x, y, q: interpolate.UnivariateSpline(x, y, s=0).integral(q[0], q[2]),
    "class, knots": lambda x, y, q: interpolate.LSQUnivariateSpline(x, y, q[1:2])(q),
    "class, polynomial": lambda x, y, q: interpolate.UnivariateSpline(x, y, 1.0 + y**2, s=1e6)(q),
    "class, all slopes": lambda x, y, q: interpolate.UnivariateSpline(x, y, s=0).derivatives(q[0]),
}  # fmt: skip


@pytest.mark.parametrize("name", MADE)
def test_interpolants(name):
    check_reverse(MADE[name], X, Y, Q, rtol=1e-5, atol=1e-7)


COEFFICIENTS = np.concatenate([reals(6), np.zeros(4)])


@pytest.mark.parametrize(
    "ext, points", [(0, BEYOND), (1, BEYOND), (2, 0.3 + 0.3 * POINTS), (3, BEYOND)]
)
def test_what_fitpack_does_beyond(ext, points):
    check_reverse(
        lambda t, c, x: interpolate.splev(x, (t, c, 3), ext=ext), EVEN, COEFFICIENTS, points
    )


def test_curves():
    def curve(c, x):
        return interpolate.splev(x, (KNOTS, [c, c * c], 3))

    check_reverse(curve, COEFFICIENTS, POINTS)


def test_integrals_of_fitpack():
    for ends in ((0.2, 1.3), (-0.7, 3.0), (1.3, 0.2)):
        check_reverse(
            lambda t, c, a, b: interpolate.splint(a, b, (t, c, 3)), EVEN, COEFFICIENTS, *ends
        )


REFUSED = {
    "smoothing": lambda y: interpolate.splrep(X, y, s=0.1)[1],
    "period": lambda y: interpolate.splrep(X, np.append(y[:-1], y[0]), per=1)[1],
    "residual": lambda y: interpolate.splrep(X, y, t=[1.1], full_output=1)[1],
    "class": lambda y: interpolate.UnivariateSpline(X, y, s=0.1)(Q),
    "surface": lambda y: interpolate.RectBivariateSpline(
        X, X, y[:, None] * y, s=0.1
    )(Q, Q),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_smoothing_is_refused(name):
    with pytest.raises(NoDerivativeError, match="in the data is needed"):
        ad.gradient(lambda y: np.sum(REFUSED[name](y)), Y)


# ---- surfaces ------------------------------------------------------------------------------------

G, H = np.array([0.0, 0.3, 0.7, 1.2, 1.5]), np.array([0.0, 0.5, 1.0, 2.0, 2.2, 2.5])
VALUES, PLACES = reals(5, 6), reals(4, 2, low=0.05, high=1.4)
SURFACES = {
    "points": lambda g, h, v, q: interpolate.RectBivariateSpline(g, h, v)(
        q[:, 0], q[:, 1], grid=False
    ),
    "slopes": lambda g, h, v, q: interpolate.RectBivariateSpline(g, h, v, kx=2, ky=4).ev(
        q[:, 0], q[:, 1], 1, 2
    ),
    "grid": lambda g, h, v, q: interpolate.RectBivariateSpline(g, h, v)(
        np.sort(q[:, 0]), np.sort(q[:2, 1]), 1
    ),
    "interpn": lambda g, h, v, q: interpolate.interpn((g, h), v, q, method="splinef2d"),
    "radial": lambda g, h, v, q: interpolate.RBFInterpolator(
        np.stack([h, v[0]], 1), v[1], smoothing=0.1
    )(q),
}


@pytest.mark.parametrize("name", SURFACES)
def test_surfaces(name):
    check_reverse(SURFACES[name], G, H, VALUES, PLACES, rtol=1e-5, atol=1e-7)


def test_bisplev():
    def value(c, x, y):
        return interpolate.bisplev(x, y, [KNOTS, EVEN, c, 3, 3], 1, 0)

    check_reverse(value, reals(36), 0.7, 1.1)


@pytest.mark.parametrize(
    "kernel",
    """linear thin_plate_spline cubic quintic multiquadric inverse_multiquadric inverse_quadratic
    gaussian""".split(),
)
def test_radial_functions(kernel):
    def value(places, heights, epsilon, q):
        scaled = "multi" in kernel or kernel in ("inverse_quadratic", "gaussian")
        options = {"epsilon": epsilon} if scaled else {}
        return interpolate.RBFInterpolator(places, heights, kernel=kernel, **options)(q)

    check_reverse(value, reals(9, 2), reals(9, 1), 1.3, PLACES, rtol=1e-4, atol=1e-6)


def test_neighbours():
    places = reals(12, 2)
    check_reverse(
        lambda v, q: interpolate.RBFInterpolator(places, v, neighbors=6)(q), reals(12), PLACES
    )


FITS = {
    "InterpolatedUnivariateSpline": lambda v: interpolate.InterpolatedUnivariateSpline(X9, v)(1.3),
    "make_lsq_spline": lambda v: interpolate.make_lsq_spline(X9, v, LSQ_KNOTS, k=3)(1.3),
    "RectBivariateSpline": lambda v: interpolate.RectBivariateSpline(X9, X9, np.outer(v, v))(1, 2),
    "interpn": lambda v: interpolate.interpn(
        (X9, X9), np.outer(v, v), np.array([[1.3, 2.2]]), method="splinef2d"
    ),
}
X9 = np.linspace(0.0, 4.0, 9)
LSQ_KNOTS = np.r_[[0.0] * 4, 2.0, [4.0] * 4]


@pytest.mark.parametrize("name", FITS)
def test_fits_in_forward_mode(name):
    """What stands beside the coefficients, such as the residual, is refused where it is used."""
    f = lambda v: np.sum(FITS[name](v))  # noqa: E731
    v, v_dot, h = np.sin(X9), np.cos(3 * X9), 1e-4
    y, y_dot = ad.pushforward(f, (v,), (v_dot,))
    assert y == f(v)
    np.testing.assert_allclose(y_dot, (f(v + h * v_dot) - f(v - h * v_dot)) / (2 * h), rtol=1e-7)
    np.testing.assert_allclose(ad.gradient(f, v)[0] @ v_dot, y_dot, rtol=1e-11)


def test_the_residual_of_a_fit_is_refused_in_forward_mode():
    def f(v):
        return interpolate.UnivariateSpline(X9, v, s=0).get_residual()

    with pytest.raises(NoDerivativeError):
        ad.pushforward(f, (np.sin(X9),), (np.cos(X9),))


@pytest.mark.parametrize("method", ["cubic", "quintic"])
@pytest.mark.parametrize("last", [(), (2,)])
def test_splines_of_grids_in_the_grid(method, last):
    """Also where the splines that are zero at the points move with these."""
    grid, other = np.array([0.0, 0.1, 0.35, 0.5, 0.6, 0.82, 1.0]), np.linspace(0.0, 3.0, 7)
    values = np.sin(5 * grid[:, None] + other) + np.zeros((*last, 1, 1))
    points = np.array([[0.11, 0.3], [0.5, 2.0], [0.77, 1.0]])

    def f(grid, values, points):
        table = np.moveaxis(values, (-2, -1), (0, 1))
        return interpolate.RegularGridInterpolator((grid, other), table, method, solver=spsolve)(
            points
        )

    check_reverse(f, grid, values, points)
    y, y_dot = ad.pushforward(f, (grid, values, points), (np.cos(9 * grid), None, None))
    _, back = ad.pullback(f, grid, values, points)
    assert np.array_equal(y, f(grid, values, points))
    np.testing.assert_allclose(back(y)[1] @ np.cos(9 * grid), np.sum(y * y_dot), rtol=1e-10)
