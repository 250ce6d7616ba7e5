"""What is written in Python in SciPy: optimisation, integration, interpolation, signals."""

import numpy as np
import scipy.integrate as integrate
import scipy.interpolate as interpolate
import scipy.optimize as optimize
import scipy.signal as signal
from scipy import special
from scipy.spatial import distance

from tests.library.registry import case, reals

X = reals(5)
P = reals(6, low=0.5, high=2.0)
PLACES = np.linspace(0.0, 1.0, 5) ** 2
A, B = reals(4, 3), reals(4, 3, seed=1)
KNOTS = np.array([0.0, 1.0, 2.0, 4.0])

# ---- optimize ------------------------------------------------------------------------------------

case("scipy.optimize.rosen", X, derived=optimize.rosen_der)
case("scipy.optimize.rosen_der", X)
case("scipy.optimize.rosen_hess_prod", X, X[::-1].copy())
case(
    "scipy.optimize.newton",
    3.0,
    call=lambda a: optimize.newton(lambda v: v**3 - a, 1.0),
    derived=lambda a: a ** (-2 / 3) / 3,
)
case(
    "scipy.optimize.fixed_point",
    0.9,
    call=lambda a: optimize.fixed_point(lambda v: np.cos(v * a), 0.7),
)


def assigned(costs):
    """The rows and the columns are whole numbers, which do not move."""
    rows, columns = optimize.linear_sum_assignment(costs)
    return costs[rows, columns].sum() + (rows * 1.5 + columns) @ costs[:, 0]


case("scipy.optimize.linear_sum_assignment", A @ A.T, call=assigned)

# ---- integrate -----------------------------------------------------------------------------------

case("scipy.integrate.simpson", X, PLACES)
case("scipy.integrate.trapezoid", X, PLACES)
case("scipy.integrate.cumulative_trapezoid", X, PLACES, initial=0)
case("scipy.integrate.cumulative_simpson", X, x=PLACES)
case("scipy.integrate.romb", X)
case(
    "scipy.integrate.fixed_quad",
    0.7,
    1.5,
    call=lambda a, b: integrate.fixed_quad(lambda v: np.exp(-v * v * a), 0.0, b, n=4)[0],
)
case(
    "scipy.integrate.quad_vec",
    3.0,
    call=lambda a: integrate.quad_vec(lambda v: np.exp(-a * v), 0.0, 1.0)[0],
    derived=lambda a: (np.exp(-a) * (a + 1.0) - 1.0) / a**2,
)
case(
    "scipy.integrate.solve_ivp",
    1.3,
    call=lambda k: (
        integrate.solve_ivp(
            lambda t, y: -k * y, (0, 1), [1.0], t_eval=[1.0], rtol=1e-10, atol=1e-12
        ).y
    ),
)

# ---- interpolate ---------------------------------------------------------------------------------

case(
    "scipy.interpolate.BarycentricInterpolator",
    A[:, 0],
    call=lambda y: interpolate.BarycentricInterpolator(KNOTS, y)(P),
)
case(
    "scipy.interpolate.KroghInterpolator",
    A[:, 0],
    call=lambda y: interpolate.KroghInterpolator(KNOTS, y).derivative(P),
)
case("scipy.interpolate.interp1d", A[:, 0], call=lambda y: interpolate.interp1d(KNOTS, y)(P))

# ---- signal --------------------------------------------------------------------------------------

case("scipy.signal.windows.gaussian", 1.3, call=lambda s: signal.windows.gaussian(7, s))
case("scipy.signal.windows.tukey", 0.37, call=lambda a: signal.windows.tukey(7, a))
case("scipy.signal.windows.general_cosine", P, call=lambda a: signal.windows.general_cosine(7, a))
case("scipy.signal.chirp", P, 1.1, t1=1.0, f1=3.0)
case("scipy.signal.sawtooth", P, width=0.7)
case("scipy.signal.convolve", X, P, method="direct")
case("scipy.signal.detrend", X, type="constant")
case("scipy.signal.zpk2tf", P[:3], X[:3], call=lambda z, p: signal.zpk2tf(z, p, 1.0))

# ---- special, spatial, linalg --------------------------------------------------------------------

for name in ("logsumexp", "softmax", "log_softmax"):
    case(f"scipy.special.{name}", A, axis=1)
case("scipy.special.multigammaln", 4.2, call=lambda a: special.multigammaln(a, 3))
for name in (
    "euclidean", "sqeuclidean", "cosine", "correlation", "cityblock", "canberra", "braycurtis",
    "chebyshev",
):  # fmt: skip
    case(f"scipy.spatial.distance.{name}", A[0], B[0])
case("scipy.spatial.distance.jensenshannon", np.abs(A[0]), np.abs(B[0]))
case("scipy.spatial.distance.mahalanobis", A[0], B[0], np.eye(3) + 0.3)
case("scipy.spatial.distance.cdist", A, B, call=lambda a, b: distance.cdist(a, b, "sqeuclidean"))
for name in ("toeplitz", "circulant", "companion", "fiedler"):
    case(f"scipy.linalg.{name}", X)
case("scipy.cluster.vq.whiten", A)
case("scipy.ndimage.center_of_mass", A**2)
