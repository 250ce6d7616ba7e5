"""Rules of the leaves of `BSpline`, `make_interp_spline` and `make_lsq_spline`.

Splines have derivatives in their knots as well, because the knots of an interpolant depend on the
positions. Where a derivative jumps at a knot, the rules return the one from the right.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import interpolate
from scipy.sparse.linalg import spsolve

from adjoint.rulekit.refusal import NoDerivative
from adjoint.rulekit.registry import non_differentiable, plain, substitute
from adjoint.rules.scipy.equivalents import refusing, result_like, with_derivative_of
from adjoint.rules.scipy.interpolate.deboor import Local, places_of
from adjoint.rules.scipy.interpolate.splines import spline, values_of_basis
from adjoint.rules.scipy.linalg.matrix_rule import Call, matrix_rule
from adjoint.rules.scipy.sparse.solving import valued

_leaves: Any = getattr(interpolate, "_dierckx", None)
_older: Any = None if _leaves is not None else getattr(interpolate, "_bspl", None)
_fitting: Any = getattr(interpolate, "_bsplines", None)

NEAR = 1e-6, 1e-9
PERIODIC = NoDerivative("the positions", "has no rule of a spline that is periodic")
SEARCHED = NoDerivative("its arguments", "is not known of a smoothness found by search: give `lam`")
BESIDE = NoDerivative("its arguments", "is that of something beside the coefficients")


# ---- the basis -----------------------------------------------------------------------------------


@result_like(lambda t, k, x, places, nu: np.empty((len(x), k + 1)))
def basis(t: Any, k: int, x: Any, places: Any, nu: int) -> Any:
    """Return the k + 1 nonzero B-splines at each point, or their derivatives."""
    return values_of_basis(t, k, x, places, nu)


def _local(t: Any, k: int, x: Any, places: Any, nu: int) -> Local:
    unit = np.broadcast_to(np.eye(k + 1), (len(x), k + 1, k + 1))
    return Local(t, k, x, places, unit, nu)


@matrix_rule(basis, "t x")
def _(call: Call) -> Any:
    local = _local(call.t, int(call.k), call.x, call.places, int(call.nu))

    def basis_back(y_bar: Any) -> Any:
        t_bar, x_bar, _ = local.pull(y_bar)
        return t_bar, x_bar

    return basis_back, lambda t_dot, x_dot: local.push(t_dot, x_dot, None)


@result_like(lambda t, k, x: np.empty(len(x), int))
@non_differentiable
def places_in(t: Any, k: int, x: Any) -> Any:
    """Return the interval of each point."""
    return places_of(t, k, len(t) - k - 1, x)


# ---- the leaves ----------------------------------------------------------------------------------

if _leaves is not None:
    non_differentiable(_leaves.find_interval)

    @substitute(_leaves.evaluate_spline)
    def evaluate_spline(t, c, k, xp, nu, extrapolate):
        return spline(t, c, k, xp, nu, extrapolate)

    @non_differentiable
    def one_row(t: Any, k: int, x: Any, place: int, nu: int) -> Any:
        return np.array(_leaves.evaluate_all_bspl(t, k, float(x), place, nu))

    @substitute(_leaves.evaluate_all_bspl)
    def evaluate_all_bspl(t, k, xval, m, nu=0):
        carrier = basis(t, k, np.reshape(xval, 1), np.array([m]), nu)[0]
        return with_derivative_of(
            one_row(t, k, xval, m, nu), carrier, _leaves.evaluate_all_bspl, *NEAR
        )

    @result_like(lambda x, t, k, shape, offset: np.empty(shape))
    @non_differentiable
    def collocation(x: Any, t: Any, k: int, shape: Any, offset: int) -> Any:
        ab = np.zeros(shape)
        _leaves._coloc(x, t, k, ab, offset)
        return ab

    @substitute(_leaves._coloc)
    def _coloc(x, t, k, ab, offset=0):
        """Write the collocation matrix, row by row, into `ab`, whose columns are its diagonals."""
        columns = places_in(t, k, x)[:, None] + np.arange(-k, 1)
        at = columns, 2 * k + offset + np.arange(len(x))[:, None] - columns
        y, carrier = collocation(x, t, k, ab.shape, offset)[at], basis(t, k, x, columns[:, -1], 0)
        ab[at] = with_derivative_of(y, carrier, _leaves._coloc, *NEAR)


if _older is not None:

    @substitute(_older.evaluate_spline)
    def evaluate_spline_into(t, c, k, xp, nu, extrapolate, out):
        out[...] = spline(t, c, k, xp, nu, extrapolate)

    @non_differentiable
    def older_collocation(x: Any, t: Any, k: int, shape: Any, offset: int) -> Any:
        ab = np.zeros(shape, order="F")
        _older._colloc(x, t, k, ab, offset)
        return ab

    @substitute(_older._colloc)
    def _colloc(x, t, k, ab, offset=0):
        columns = places_in(t, k, x)[:, None] + np.arange(-k, 1)
        rows = 2 * k + offset + np.arange(len(x))[:, None] - columns
        whole = older_collocation(x, t, k, ab.shape, offset)
        if np.max(rows) >= len(ab):  # a periodic spline, whose rows wrap around
            ab[...] = refusing(ab + whole, _older._colloc, PERIODIC, x, t)
            return
        at = rows, columns
        y = whole[at]
        ab[at] = with_derivative_of(y, basis(t, k, x, columns[:, -1], 0), _older._colloc, *NEAR)


_lsq: Any = getattr(_fitting, "_lsq_solve_qr", None)
if _lsq is not None and _leaves is not None:
    run_lsq = plain(_lsq)

    @substitute(_lsq)
    def _lsq_solve_qr(x, y, t, k, w, periodic=False):
        """Substitute the solver of `make_lsq_spline`; the coefficients are its third result."""
        found = run_lsq(x, y, t, k, w, periodic) if periodic else run_lsq(x, y, t, k, w)
        results = [refusing(part, _lsq, BESIDE, x, y, t, w) for part in found]
        if not periodic:
            results[2] = with_derivative_of(found[2], fitted(x, y, t, k, w), _lsq, *NEAR)
        return tuple(results)


_best: Any = getattr(_fitting, "_compute_optimal_gcv_parameter", None)
if _best is not None:
    best = plain(_best)

    @substitute(_best)
    def _compute_optimal_gcv_parameter(X, wE, y, w):
        """Refuse the derivative of a minimum that is found by search."""
        found = best(X, wE, y, w)
        return refusing(found, interpolate.make_smoothing_spline, SEARCHED, X, wE, y, w)


# ---- least squares -------------------------------------------------------------------------------


def design(t: Any, k: Any, x: Any, nu: Any = 0) -> Any:
    """Return the values of all B-splines, one row per point."""
    columns = places_in(t, k, x)[:, None] + np.arange(-k, 1)
    matrix = np.zeros((len(x), len(t) - k - 1))
    matrix[np.arange(len(x))[:, None], columns] = basis(t, k, x, columns[:, -1], nu)
    return matrix


def fitted(x: Any, y: Any, t: Any, k: Any, w: Any) -> Any:
    """Return the coefficients of the least-squares spline for rows `y` and weights `w`."""
    return np.linalg.lstsq(w[:, None] * design(t, k, x), w[:, None] * y, rcond=None)[0]


def knots_of(x: Any, k: Any, first: Any, last: Any) -> Any:
    """Return the knots of FITPACK's interpolants, with repeated ends. Inner knots are positions for
    an odd degree, and midpoints of positions for an even one."""
    before, inner = k // 2, len(x) - k - 1
    inside = x[before + 1 : before + 1 + inner]
    if k % 2 == 0:
        inside = (inside + x[before : before + inner]) / 2
    return np.concatenate([np.full(k + 1, first), inside, np.full(k + 1, last)])


# ---- several variables ---------------------------------------------------------------------------


def products(xi: Any, t: Any, len_t: Any, k: Any, nu: Any, strides: Any) -> Any:
    """Return the nonzero products of B-splines at each point, and their indices. Indices are those
    of coefficients in a flat array with the given `strides`."""
    m = len(xi)
    places, values = np.zeros((m, 1), int), np.ones((m, 1))
    for d in range(xi.shape[1]):
        degree, knots, x = int(k[d]), t[d, : int(len_t[d])], xi[:, d]
        columns = places_in(knots, degree, x)[:, None] + np.arange(-degree, 1)
        factors = basis(knots, degree, x, columns[:, -1], int(nu[d]))
        steps = columns * int(strides[d])
        places = np.reshape(places[:, :, None] + steps[:, None, :], (m, -1))
        values = np.reshape(values[:, :, None] * factors[:, None, :], (m, -1))
    return places, values


if hasattr(_leaves, "evaluate_ndbspline"):

    @non_differentiable
    def plain_products(*args: Any) -> Any:
        return np.asarray(_leaves.evaluate_ndbspline(*args))

    @substitute(_leaves.evaluate_ndbspline)
    def evaluate_ndbspline(xi, t, len_t, k, nu, extrapolate, c1r, num_c_tr, strides_c1, indices):
        """Evaluate a tensor product spline; `c1r` is the flat array of its coefficients."""
        y = plain_products(xi, t, len_t, k, nu, extrapolate, c1r, num_c_tr, strides_c1, indices)
        places, values = products(xi, t, len_t, k, nu, strides_c1)
        local = c1r[places[:, :, None] + np.arange(num_c_tr)]
        carrier = np.where(np.isnan(y), y, np.sum(values[:, :, None] * local, axis=1))
        return with_derivative_of(y, carrier, _leaves.evaluate_ndbspline, *NEAR)


if hasattr(_leaves, "_coloc_nd"):
    plain_coloc_nd = plain(_leaves._coloc_nd)

    @substitute(_leaves._coloc_nd)
    def _coloc_nd(xvals, t, len_t, k, indices_k1d, cstrides):
        data, indices, indptr = plain_coloc_nd(xvals, t, len_t, k, indices_k1d, cstrides)
        _, values = products(xvals, t, len_t, k, np.zeros(xvals.shape[1]), cstrides)
        carrier = np.reshape(values, -1)
        return with_derivative_of(data, carrier, _leaves._coloc_nd, *NEAR), indices, indptr


_nd: Any = getattr(interpolate, "_ndbspline", None)

if hasattr(_nd, "make_ndbspl") and hasattr(_nd, "_not_a_knot"):
    plain_make_ndbspl = plain(_nd.make_ndbspl)

    @substitute(_nd.make_ndbspl)
    def make_ndbspl(points, values, k=3, **options):
        """Solve SciPy's equations with a matrix that stores zeros, which may have derivatives."""
        found = plain_make_ndbspl(points, values, k, **options)
        knots = tuple(
            [
                _nd._not_a_knot(np.asarray(x, dtype=float), degree)
                for x, degree in zip(points, found.k)  # noqa: B905 (it is lowered)
            ]
        )
        sites = np.stack([np.ravel(x) for x in np.meshgrid(*points, indexing="ij")], axis=-1)
        matrix = interpolate.NdBSpline.design_matrix(sites, knots, found.k)
        exact = spsolve(matrix.tocsc(), np.reshape(values, (len(sites), -1)))
        c = valued(found.c, np.reshape(exact, np.shape(found.c)))
        return interpolate.NdBSpline(knots, c, found.k)
