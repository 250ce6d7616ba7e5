"""NumPy functions that are Python themselves, so that their own source can be differentiated."""

import numpy as np

from tests.corpus.registry import case

X = np.array([0.3, 0.8, 1.4, -0.6])
Y = np.array([1.3, 0.2, 0.4, 0.9])
M = np.array([[0.3, -0.8, 1.4], [0.9, 0.2, -0.5], [0.7, 0.4, 1.2]])
integrate = np.trapezoid if hasattr(np, "trapezoid") else np.trapz  # the name before NumPy 2.0  # noqa: NPY201


@case(M)
def covariance(m):
    return np.sum(np.cov(m) * M)


@case(X)
def weighted_histogram(x):
    return np.histogram(x, 3, weights=x * x)[0] @ np.array([1.0, 2.0, 4.0])


@case(X, Y)
def class_of_dtypes(x, y):
    return np.sum(np.multiply(x, y, dtype=np.dtypes.Float64DType) * x)


@case(X, Y)
def covariance_of_two(x, y):
    return np.cov(x, y, ddof=0)[0, 1]


@case(M)
def correlation(m):
    return np.corrcoef(m)[0, 1] * np.corrcoef(m, rowvar=False)[1, 2]


@case(Y, np.array([0.0, 0.5, 1.2, 1.9]))
def trapezoid(y, x):
    return integrate(y, x) * integrate(y, dx=0.5)


@case(X, Y)
def weighted_average(x, w):
    return np.average(x, weights=w) * np.average(x)


@case(np.array([2.0, -1.0, 0.5]), 0.7)
def polyval(p, x):
    return np.polyval(p, x) + np.polyval(p, np.array([x, 2 * x])).sum()


@case(np.array([[0.3, 0.8, 1.4], [0.1, 0.2, 0.3]]), np.array([0.5, -0.6, 0.7]))
def cross_product(a, b):
    return np.sum(np.cross(a, b) * a[::-1])


@case(X)
def vandermonde(x):
    return np.sum(np.vander(x, 3) * np.arange(3.0))


@case(X)
def median_and_quantile(x):
    return np.median(x) * np.quantile(x, 0.3) + np.percentile(x, 80.0)


@case(np.array([0.3, 2.0, 1.4]))
def ignoring_nan(x):
    return np.nansum(x) * np.nanmean(x) + np.nanmax(x)


@case(X, Y)
def convolution(x, y):
    return np.sum(np.convolve(x, y) ** 2) + np.correlate(x, y)[0]


@case(M)
def rotation_and_flips(m):
    return np.sum(np.rot90(m) * np.fliplr(m)) + np.sum(np.flipud(m) * m)


@case(np.array([0.2, 1.1, 1.7]), np.array([0.5, -0.3, 0.9]))
def interpolation(xp, fp):
    return np.interp(1.3, xp, fp) * np.interp(0.5, xp, fp)


@case(X)
def unwrapped_and_sinc(x):
    return np.sum(np.sinc(x) * np.unwrap(x * 5))


@case(X)
def ediff_and_nan_to_num(x):
    return (
        np.ediff1d(x)[1] * np.nan_to_num(x)[2]
        + np.insert(x, 1, x[0] * 2)[1]
        + np.append(x, Y).prod()
    )


@case(X)
def deleted_and_trimmed(x):
    return np.sum(np.delete(x, 1) ** 2) + np.trim_zeros(np.array([0.0, 1.0, 0.0]))[0] * x[0]


@case(M, M + 1)
def block(a, b):
    return (
        np.sum(np.block([[a, b], [b, a]]) ** 2)
        + np.column_stack([a[0], b[0]])[1, 1] * np.dstack([a, b])[0, 1, 1]
    )


@case(X, Y)
def meshgrid(x, y):
    a, b = np.meshgrid(x, y)
    return np.sum(np.sin(a * b))


@case(M)
def close_and_equal(m):
    scale = 2.0 if np.allclose(m, m) and np.array_equal(m, m) else 0.0
    return m.sum() * scale * m[0, 0]
