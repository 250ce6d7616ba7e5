"""`scipy.optimize`: roots, minima, fits and assignments, in what their functions depend on."""

from __future__ import annotations

import numpy as np
from scipy import optimize

from tests.census.entries import Section, public, via

START, BOUNDS = [0.3, 0.4], [(-1.0, 3.0), (-1.0, 4.0)]
X, W = np.array([0.7, 1.9]), np.array([1.0, -0.7])
POINTS = np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 1.0]])
SIDES, SQUARE = np.array([1.0, 2.5, 3.0]), np.array([[1.0, 2.1], [3.0, 1.2]])
LOWEST = {"rtol": 1e-2, "atol": 2e-3}
"""Differences of where a minimum is found have few digits."""


def bowl(z, a, b):
    return (z[0] - a) ** 2 + b * (z[1] - a * z[0]) ** 2 + 0.1 * z[0] ** 4


def on_a_line(z, a):
    return (z - a) ** 2 + 0.1 * z**4


def cubic(x, a):
    return x**3 + x - a


def gentle(x, a):
    return 0.4 * np.cos(x) + 0.2 * a - x


def root(name, *args, **options):
    """A root of a function of one variable."""
    find = getattr(optimize, name)
    return via(lambda a: find(cubic, *args, args=(a,), **options), 1.3, rtol=1e-5, atol=1e-7)


def roots(name):
    """A root of a system of equations."""
    find = getattr(optimize, name)
    return via(lambda a: find(lambda x: gentle(x, a), [0.5, 0.6]), X, rtol=1e-3, atol=1e-4)


def minimum(name, *args, pick=lambda found: found, **options):
    """Where the bowl is lowest."""
    find = getattr(optimize, name)
    return via(lambda a, b: pick(find(bowl, *args, args=(a, b), **options)), 1.3, 0.7, **LOWEST)


def lowest(name, **options):
    find = getattr(optimize, name)
    return via(lambda a: find(on_a_line, args=(a,), **options), 1.3, **LOWEST)


def place(found):
    return found.x


def first(found):
    return found[0]


def residuals(z, a, b):
    return np.array([z[0] - a, b * (z[1] - a * z[0]), 0.3 * z[0] ** 2])


EXAMPLES = {
    "anderson": roots("anderson"),
    "approx_fprime": via(lambda a: optimize.approx_fprime(X, bowl, 1e-6, a, 0.7), 1.3, rtol=1e-4),
    "basinhopping": via(
        lambda a: optimize.basinhopping(
            bowl, START, niter=2, rng=0, minimizer_kwargs={"args": (a, 0.7)}
        ).x, 1.3, **LOWEST,
    ),
    "bisect": root("bisect", 0.0, 5.0, xtol=1e-14, rtol=1e-14),
    "bracket": lowest("bracket", xa=-1.0, xb=0.0),
    "brent": lowest("brent", brack=(-1.0, 0.0, 3.0), tol=1e-10),
    "brenth": root("brenth", 0.0, 5.0, xtol=1e-14, rtol=1e-14),
    "brentq": root("brentq", 0.0, 5.0, xtol=1e-14, rtol=1e-14),
    "broyden1": roots("broyden1"),
    "broyden2": roots("broyden2"),
    "check_grad": via(
        lambda a: optimize.check_grad(lambda z: bowl(z, a, 0.7), lambda z: z * a, X), 1.3, rtol=1e-3
    ),
    "curve_fit": via(
        lambda y: optimize.curve_fit(lambda x, a: a * x + a * a, np.arange(3.0), y)[0], SIDES
    ),
    "diagbroyden": roots("diagbroyden"),
    "differential_evolution": minimum(
        "differential_evolution", BOUNDS, pick=place, rng=0, popsize=5
    ),
    "dual_annealing": minimum("dual_annealing", BOUNDS, pick=place, rng=0, maxiter=10),
    "excitingmixing": roots("excitingmixing"),
    "fixed_point": via(lambda a: optimize.fixed_point(lambda x: (x + a / x) / 2, 1.5), 1.3),
    "fmin": minimum("fmin", START, xtol=1e-10, ftol=1e-15, disp=0),
    "fmin_bfgs": minimum("fmin_bfgs", START, disp=0),
    "fmin_cg": minimum("fmin_cg", START, disp=0),
    "fmin_l_bfgs_b": minimum("fmin_l_bfgs_b", START, pick=first, approx_grad=True),
    "fmin_ncg": via(
        lambda a: optimize.fmin_ncg(
            lambda z: np.sum((z - a) ** 2), START, lambda z: 2 * (z - a), disp=0
        ), X, **LOWEST,
    ),
    "fmin_powell": minimum("fmin_powell", START, disp=0, xtol=1e-10),
    "fmin_slsqp": minimum("fmin_slsqp", START, disp=0),
    "fmin_tnc": minimum("fmin_tnc", START, pick=first, approx_grad=True, disp=0),
    "fminbound": lowest("fminbound", x1=-2.0, x2=3.0, xtol=1e-10),
    "fsolve": roots("fsolve"),
    "golden": lowest("golden", brack=(-1.0, 0.0, 3.0), tol=1e-12),
    "isotonic_regression": via(lambda y: optimize.isotonic_regression(y).x, SIDES[::-1] + 0.0),
    "least_squares": via(
        lambda a, b: optimize.least_squares(residuals, START, args=(a, b)).x, 1.3, 0.7, **LOWEST
    ),
    "leastsq": via(
        lambda a, b: optimize.leastsq(residuals, START, (a, b))[0], 1.3, 0.7, **LOWEST
    ),
    "line_search": via(
        lambda a: optimize.line_search(
            lambda z: np.sum((z - a) ** 4), lambda z: 4 * (z - a) ** 3, X, W
        )[0], np.array([1.3, 0.4]), **LOWEST,
    ),
    "linear_sum_assignment": via(
        lambda c: c[optimize.linear_sum_assignment(c)].sum(), SQUARE
    ),
    "linearmixing": roots("linearmixing"),
    "linprog": via(lambda b: optimize.linprog([1.0, 2.0], [[-1.0, -1.0]], b).fun, np.array([-1.0])),
    "lsq_linear": via(lambda A, b: optimize.lsq_linear(A, b).x, POINTS, SIDES),
    "milp": via(lambda c: optimize.milp(c, bounds=optimize.Bounds(1.0, 3.0)).fun, X),
    "minimize": minimum("minimize", START, pick=place),
    "minimize_scalar": via(
        lambda a: optimize.minimize_scalar(on_a_line, args=(a,), tol=1e-10).x, 1.3, **LOWEST
    ),
    "newton": root("newton", 1.5),
    "newton_krylov": roots("newton_krylov"),
    "nnls": via(lambda A, b: optimize.nnls(A, b)[0], POINTS, np.array([2.5, 1.6, 1.0])),
    "quadratic_assignment": via(lambda a: optimize.quadratic_assignment(a, SQUARE).fun, SQUARE),
    "ridder": root("ridder", 0.0, 5.0, xtol=1e-14, rtol=1e-14),
    "root": via(lambda a: optimize.root(lambda x: cubic(x, a), [1.0, 1.1]).x, X),
    "root_scalar": via(
        lambda a: optimize.root_scalar(cubic, (a,), bracket=(0.0, 5.0), xtol=1e-14).root, 1.3
    ),
    "rosen": via(optimize.rosen, X),
    "rosen_der": via(optimize.rosen_der, X),
    "rosen_hess": via(optimize.rosen_hess, X),
    "rosen_hess_prod": via(optimize.rosen_hess_prod, X, W),
    "shgo": minimum("shgo", BOUNDS, pick=place),
    "toms748": root("toms748", 0.0, 5.0, xtol=1e-14, rtol=1e-14),
}  # fmt: skip

PARTS = """
    BFGS Bounds BroydenFirst HessianUpdateStrategy InverseJacobian KrylovJacobian
    LbfgsInvHessProduct LinearConstraint NonlinearConstraint OptimizeResult RootResults SR1
    linprog_verbose_callback show_options
"""
"""What functions are given, or give."""

ELSEWHERE = "brute direct fmin_cobyla"
"""They stop at points of grids, which differences do not see move: see tests/rules/scipy."""

SECTIONS = [
    Section("scipy.optimize", public(optimize, leaving_out=f"{PARTS} {ELSEWHERE}"), EXAMPLES)
]
