"""NumPy ufuncs and broadcasting."""

import math

import numpy as np

from tests.corpus.registry import case

X = np.array([0.3, 0.8, 1.4])
M = np.array([[0.3, -0.8, 1.4], [0.9, 0.2, -0.5]])


@case(X)
@case(M)
@case(np.array(0.7))
def array_operators(x):
    return np.sum(x * x + 2.0 * x - x / (x * x + 3.0) - (-x) ** 3)


@case(X)
def array_result(x):
    return np.sin(x) * np.exp(-x)


@case(M, X)
def broadcasting_rows(m, v):
    return m * v + v


@case(M, np.array([[0.5], [1.5]]), 2.0)
def broadcasting_columns(m, c, s):
    return np.sum(np.tanh(m * c + s) * c)


@case(X, np.array([0.4, 0.6]))
def outer_by_newaxis(a, b):
    return np.sum(np.sin(a[:, None] * b[None, :]))


@case(X)
def ufuncs_of_one(x):
    a = np.sin(x) * np.cos(x) + np.tan(x) * np.arctan(x)
    b = np.exp(x) * np.log(x) + np.sqrt(x) * np.cbrt(x) - np.square(x)
    c = np.sinh(x) / np.cosh(x) + np.expm1(x) * np.log1p(x) * np.reciprocal(x)
    return (a + b - c).sum()


@case(X, np.array([1.3, 0.4, 0.9]))
def ufuncs_of_two(x, y):
    a = np.power(x, y) + np.hypot(x, y) * np.arctan2(x, y)
    b = np.maximum(x, y) * np.minimum(x, 1.0) + np.logaddexp(x, y)
    return np.sum(a * b + np.fmax(x, y) - np.copysign(x, -y))


@case(M)
def nonsmooth(x):
    return np.sum(np.abs(x) * x + np.maximum(x, 0) + np.sign(x) * x + np.clip(x, -0.6, 0.6) ** 2)


@case(M, 0.4)
def where(x, y):
    return np.sum(np.where(x > 0, x * x, y * x)) + np.where(x > y, x, 2.0).sum()


@case(np.array([0.0, 4.0, 9.0]))
def where_hides_infinite_derivative(x):
    with np.errstate(invalid="ignore"):
        return np.sum(np.where(x > 1, np.sqrt(x), x * 2.0))


@case(X)
def select_and_piecewise_by_mask(x):
    mask = (x > 0.5) & ~(x > 1.0)
    return np.sum(np.select([x < 0.5, mask], [x * 2, x**2], default=x**3)) + np.sum(mask * x)


@case(X, 0.7)
def scalar_and_array(x, s):
    return np.sum(s * x) + (s - x).prod() + math.sin(s) * x[0]


@case(X.astype(np.float32))
def single_precision(x):
    return np.sum(np.sin(x) * x)


@case(X.astype(np.float32), np.array([0.5, 0.25, 2.0]))
def mixed_precision(x, y):
    return np.sum(x * y + x)


@case(X + 1j * X[::-1])
def complex_array(z):
    return np.sum(np.real(z * z) + np.imag(np.exp(z)) + np.abs(z))


@case(X)
def complex_inside(x):
    z = np.exp(1j * x) * (1 + 0.5j)
    return np.sum(z.real * z.imag + np.angle(z) ** 2)


@case(X, 1.2)
def complex_result(x, s):
    return x * np.exp(1j * s)


@case(np.arange(3), 1.5)
@case(np.array([2, 5, 7]), 1.5)
def integer_array_argument(n, x):
    return np.sum(n * x + n**2)


@case(X)
def integer_and_boolean_arrays_inside(x):
    k = np.arange(3)
    return np.sum(x**k * (k % 2 == 0) + x * (k // 2) + k)


@case(X)
def methods_of_arrays(x):
    return (
        x.clip(0.5, 1.0).sum()
        + x.copy().dot(x)
        + (x.real * x.conj()).max()
        + x.round().sum() * x[0]
    )


@case(X)
def ufunc_keywords(x):
    y = np.multiply(x, x, dtype=np.float64)
    return np.sum(np.sqrt(y, where=x > 0.5, out=np.ones(3)))


@case(X, X + 1)
def ufunc_methods(x, y):
    return (
        np.add.reduce(x * y)
        + np.multiply.outer(x, y).sum()
        + np.multiply.reduce(x)
        + np.add.accumulate(x)[1]
    )


@case(0.7)
def numpy_on_python_floats(x):
    return np.sin(x) * np.float64(x) + float(np.exp(x)) + np.sqrt(x).item()


@case([0.3, 0.8])
def numpy_on_lists(xs):
    return np.sum(xs) * np.dot(xs, [1.0, 2.0]) + np.array(xs)[0] * np.mean([xs[1], 3.0])


@case(X)
def matrix_product_operator(x):
    a = np.outer(x, x)
    return x @ a @ x + (a @ a)[0, 1]


@case(X)
def array_truth(x):
    if (x > 0).all() and np.any(x > 1) and x.size:
        return x.sum() * len(x)
    return 0.0


@case(M)
def conversions(x):
    y = x.astype(np.float64) * np.asarray(x, dtype=np.longdouble).astype(float)
    return np.sum(y) + np.float64(x[0, 0]) * x.astype(complex)[1, 1].real + np.asarray(x)[0, 1]
