"""scikit-learn: validation of parameters and arrays by decorators, array namespaces, estimators."""

import numpy as np
from sklearn import (
    covariance,
    decomposition,
    gaussian_process,
    isotonic,
    linear_model,
    metrics,
    mixture,
    preprocessing,
)
from sklearn.gaussian_process import kernels

from tests.library.registry import case, reals, weighted, weights

A, B = reals(5, 3), reals(4, 3, seed=1)
Y, Z = reals(6), reals(6, seed=2)
P, Q = reals(6, low=0.1, high=0.9, seed=3), reals(6, low=0.5, high=2.0, seed=4)
DESIGN = reals(12, 3)
LABELS = np.array([0, 1, 1, 0, 1, 0])

# ---- metrics -------------------------------------------------------------------------------------

for name in (
    "mean_squared_error", "mean_absolute_error", "r2_score", "explained_variance_score",
    "root_mean_squared_error", "median_absolute_error", "mean_pinball_loss",
):  # fmt: skip
    case(f"sklearn.metrics.{name}", Y, Z)
case("sklearn.metrics.mean_squared_log_error", Q, P)
case("sklearn.metrics.mean_gamma_deviance", Q, P)
case("sklearn.metrics.mean_tweedie_deviance", Q, P, power=1.5)
for name in ("log_loss", "brier_score_loss"):
    case(f"sklearn.metrics.{name}", P, call=lambda p, f=getattr(metrics, name): f(LABELS, p))
for name in (
    "euclidean_distances", "cosine_similarity", "rbf_kernel", "polynomial_kernel",
    "sigmoid_kernel", "linear_kernel", "laplacian_kernel",
):  # fmt: skip
    case(f"sklearn.metrics.pairwise.{name}", A, B)
case(
    "sklearn.metrics.davies_bouldin_score",
    A,
    call=lambda a: metrics.davies_bouldin_score(a, LABELS[:5]),
)


# ---- preprocessing, covariance -------------------------------------------------------------------

for name in ("scale", "minmax_scale", "maxabs_scale", "robust_scale", "normalize"):
    case(f"sklearn.preprocessing.{name}", A)
case(
    "sklearn.preprocessing.StandardScaler",
    A,
    call=lambda a: preprocessing.StandardScaler().fit_transform(a),
)
case(
    "sklearn.preprocessing.PolynomialFeatures",
    A,
    call=lambda a: preprocessing.PolynomialFeatures(2).fit_transform(a),
)
case("sklearn.covariance.empirical_covariance", A)
case("sklearn.covariance.shrunk_covariance", A.T @ A, shrinkage=0.2)
case("sklearn.covariance.ledoit_wolf", A, call=lambda a: covariance.ledoit_wolf(a)[0])
case("sklearn.utils.extmath.softmax", A)

# ---- kernels: the package has their gradients in the logarithms of the parameters ----------------

for kernel in (
    kernels.RBF(1.3), kernels.Matern(1.1, nu=1.5), kernels.Matern(1.1, nu=2.5),
    kernels.RationalQuadratic(1.2, 0.7), kernels.ExpSineSquared(1.2, 0.8), kernels.DotProduct(0.7),
    kernels.ConstantKernel(1.7), kernels.WhiteKernel(0.3),
    kernels.RBF([1.3, 1.1, 0.9]) * kernels.DotProduct() + kernels.ConstantKernel(0.3),
):  # fmt: skip

    def _of_theta(theta, kernel=kernel):
        return weighted(kernel.clone_with_theta(theta)(A))

    def _gradient(theta, kernel=kernel):
        k, slopes = kernel.clone_with_theta(theta)(A, eval_gradient=True)
        return np.einsum("ijk,ij->k", slopes, weights(k))

    name = f"sklearn.gaussian_process.kernels.{type(kernel).__name__}"
    case(name, kernel.theta, call=_of_theta, derived=_gradient)
    case(name, A, B, call=lambda a, b, kernel=kernel: kernel(a, b))

# ---- estimators ----------------------------------------------------------------------------------

_mixture = mixture.GaussianMixture(2, random_state=0).fit(np.vstack([A, B]))
case("sklearn.mixture.GaussianMixture.score_samples", B, call=lambda b: _mixture.score_samples(b))
_pca = decomposition.PCA(2).fit(A)
case("sklearn.decomposition.PCA.transform", B, call=lambda b: _pca.transform(b))
_process = gaussian_process.GaussianProcessRegressor(kernels.RBF(1.3), optimizer=None, alpha=0.1)
_process.fit(A, Y[:5])
case(
    "sklearn.gaussian_process.GaussianProcessRegressor.predict",
    B,
    call=lambda b: _process.predict(b),
)
case(
    "sklearn.linear_model.orthogonal_mp",
    reals(12, seed=1),
    call=lambda y: linear_model.orthogonal_mp(DESIGN, y, n_nonzero_coefs=2),
)
case(
    "sklearn.linear_model.orthogonal_mp",
    DESIGN,
    reals(12, seed=1),
    call=lambda x, y: linear_model.orthogonal_mp(x, y, n_nonzero_coefs=2),
)
case(
    "sklearn.isotonic.isotonic_regression",
    reals(12, seed=1),
    call=lambda y: isotonic.isotonic_regression(y, y_min=-0.5),
)
