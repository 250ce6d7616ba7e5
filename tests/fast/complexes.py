"""Functions of complex numbers and arrays, that are specialised, and where to call them."""

from __future__ import annotations

import cmath

import numpy as np

I = 1j  # noqa: E741
WEIGHTS = np.array([0.3 + 0.2j, -0.5j, 1.0 + 0j])
Z, W = 0.6 + 0.3j, -0.4 + 0.9j
RNG = np.random.default_rng(3)
U = RNG.normal(size=4) + 1j * RNG.normal(size=4)
V = RNG.normal(size=4) + 1j * RNG.normal(size=4)
A = RNG.normal(size=(3, 4)) + 1j * RNG.normal(size=(3, 4))
X = RNG.normal(size=4)

numbers, arrays = [], []


def at(where, *args):
    """Call the decorated function there."""

    def add(f):
        where.append((f, args))
        return f

    return add


# ---- numbers -------------------------------------------------------------------------------------


@at(numbers, Z, W)
def arithmetic(z, w):
    return (z + w) * z - w / z + 2 * z - w * 0.5 + (1 - z) / (2.0 + w) + 1 / z


@at(numbers, 0.6, W)
def real_and_complex(x, w):
    return x * w + w / x - x / w + (x - w) * (w + 2) + x**2 * w


@at(numbers, 0.4, -1.3)
def from_its_parts(a, b):
    z = complex(a, b)
    return z * z + complex(b) / complex(1.0, a) + complex(a, 2)


@at(numbers, Z, W)
def complex_of_complex(z, w):
    return complex(z, w) * complex(z) + complex(0.5, w)


@at(numbers, Z)
def parts(z):
    return z.real * z.imag + 3.0 * z.real - z.imag**2


@at(numbers, Z)
def numpys_parts(z):
    return np.real(z) * np.imag(z * z) + np.real(2.0) * z.real


@at(numbers, 0.7)
def parts_of_a_real_number(x):
    return x.real * x + x.imag + np.imag(x) + x.conjugate()


@at(numbers, Z, W)
def conjugates(z, w):
    return z.conjugate() * w + np.conj(w) * z + (z * w).conjugate() * I.conjugate()


@at(numbers, Z)
def modulus(z):
    return abs(z) ** 2 + np.abs(z) * abs(z * z - 1)


@at(numbers, 0j)
def modulus_at_zero(z):
    return abs(z) + abs(z * 2 + 1)


@at(numbers, Z, W)
def powers(z, w):
    return z**2 + z**3 + w**-1 + z**0.5 + z**w + 2.0**z + pow(w, 2) + z**1j


@at(numbers, 0.3, 1.7)
def powers_of_real_numbers(x, y):
    return y ** (1j * x) + y ** complex(x, y)


@at(numbers, Z)
def by_cmath(z):
    y = cmath.exp(z) + cmath.log(z) + cmath.sqrt(z) + cmath.sin(z) * cmath.cos(z) + cmath.tan(z)
    y += cmath.sinh(z) + cmath.cosh(z) * cmath.tanh(z) + cmath.asin(z) + cmath.acos(z)
    return y + cmath.atan(z) + cmath.asinh(z) + cmath.acosh(z) + cmath.atanh(z) + cmath.log10(z)


@at(numbers, 0.7, 2.5)
def cmath_of_real_numbers(x, y):
    return cmath.exp(x) * cmath.sqrt(-y) + cmath.log(-x) + cmath.log(x, y) + cmath.phase(x)


@at(numbers, Z, 1.2, 0.4)
def polar(z, r, t):
    size, angle = cmath.polar(z)
    return cmath.rect(r, t) * size + angle * cmath.phase(z * cmath.rect(r * r, angle))


@at(numbers, Z)
def by_numpy(z):
    y = np.exp(z) + np.log(z) + np.sqrt(z) + np.sin(z) * np.cos(z) + np.tan(z) + np.tanh(z)
    return y + np.square(z) - np.sinh(z) / np.cosh(z) + np.arctan(z) + np.angle(z)


@at(numbers, Z, W)
def comparisons(z, w):
    if z == w or z * 2 != z + z:
        return z * w
    return (z - w) ** 2 if z else w


@at(numbers, Z, 0.5)
def constants(z, x):
    return (2 - 3j) * z + I * x + z * -1j + cmath.pi * z + (-0.0 - 2j) * x + complex(1, -1) * z


@at(numbers, Z)
def is_complex(z):
    y = z * 2 if np.iscomplexobj(z) else z
    return y if np.isrealobj(z.real) and isinstance(z, complex) and not isinstance(z, float) else z


@at(numbers, np.complex128(Z), np.complex128(W), 1.5)
def numpys_numbers(z, w, x):
    return z * w.conj() + abs(z) * w.imag + x * z / w.conjugate() + z**2 + w.real


@at(numbers, np.complex64(Z), 1.5)
def single_precision(z, x):
    return z * z * x + abs(z) + z.imag


@at(numbers, 0.5, 0.25)
def real_or_complex(x, y):
    z = x * y if x < y else x + 1j * y
    for _ in range(2):
        z = z * z + x
    return abs(z) + z.real * x


@at(numbers, 0.2, 0.25)
def real_this_time(x, y):
    z = x * y if x < y else x + 1j * y
    for _ in range(2):
        z = z * z * y + x
    return abs(z) * z.real + z.imag + (z * z.conjugate()).real


@at(numbers, Z, 0.3)
def captured(z, x):
    scale = z * x

    def inner(w, by=1j):
        return w * scale + by * z

    return inner(z) + inner(x, by=scale)


@at(numbers, {"z": Z, "x": 0.5}, [W, 2.0], (Z, (W, 0.1)))
def structures(d, pair, nested):
    z = d["z"] * pair[0] + nested[1][0] * pair[1]
    return z * nested[0].conjugate() + d["x"] * nested[1][1]


# ---- arrays --------------------------------------------------------------------------------------


@at(arrays, U, V)
def elementwise(u, v):
    return u * v + u / v - 2j * u + (u - v) * np.conj(v) + v**2 + 1 / u


@at(arrays, U, X, 0.7)
def real_and_complex_arrays(u, x, s):
    return u * x + x / u + s * u - x * 1j * s + (u + s) * x**2


@at(arrays, U)
def parts_of_an_array(u):
    return u.real * u.imag + np.real(u * u) - np.imag(u) ** 2 + u.conj().imag + u.conjugate().real


@at(arrays, U, V)
def sizes(u, v):
    return np.abs(u) ** 2 + abs(v) * np.angle(u * v) + np.absolute(u - v)


@at(arrays, np.array([0j, 1j, 0.5 + 0j]))
def sizes_at_zero(u):
    return np.abs(u) + np.abs(2 * u)


@at(arrays, U)
def functions(u):
    y = np.exp(u) + np.log(u) + np.sqrt(u) + np.sin(u) + np.cos(u) * np.tan(u) + np.tanh(u)
    return y + np.sinh(u) * np.cosh(u) + u**3 + u**0.5 + np.square(u) + np.reciprocal(u) - (-u)


@at(arrays, 0.5, X)
def waves(w, t):
    return np.exp(1j * w * t) * np.exp(-0.1 * t) + np.cos(w * t) * 1j


@at(arrays, A, U, X)
def products(a, u, x):
    y = a @ u
    return np.vdot(y, y) + np.dot(u, u) + u @ x + (np.conj(a).T @ y) @ x + np.sum(np.outer(u, x))


@at(arrays, A, U)
def matrices(a, u):
    gram = a @ a.conj().T
    return np.trace(gram @ gram) + np.sum(np.matmul(a, u)) + np.einsum("ij,j->", a, u)


@at(arrays, A, X)
def a_complex_matrix_and_a_real_vector(a, x):
    return np.abs(a @ x) ** 2


@at(arrays, A.real.copy(), U, U[:3].copy())
def a_real_matrix_and_complex_vectors(m, u, v):
    return np.sum(np.abs(m @ u) ** 2) + np.sum((v @ m).imag)


@at(arrays, A)
def reductions(a):
    columns = a.sum(axis=0) * np.mean(a, axis=0)
    return np.sum(columns) + a.mean() * np.prod(a[0]) + np.sum(a, axis=1, keepdims=True).sum()


@at(arrays, A, U, 0.5j)
def broadcasting(a, u, z):
    return a * u + z * a - a[:, 0][:, None] / z


@at(arrays, A, X)
def broadcast_real(a, x):
    return a * x + np.ones(3)[:, None] * a - a.sum() * x


@at(arrays, U, V, X)
def choices(u, v, x):
    y = np.where(x > 0, u, v * 2) + np.where(x < 0.5, x, u)
    return np.concatenate([y, v[::-1]]) * np.stack([u, v]).sum()


@at(arrays, U, 0.5, Z)
def items(u, x, z):
    y = np.array([z, z * u[0], x * z])
    return y[1:] * u[-1] + u[0].conj() * u[1].real + np.sum(y * WEIGHTS)


@at(arrays, U, 0.5)
def writes(u, x):
    y = u * 1.0
    y[0] = x
    y[1] += 2j * x
    y[1:] = u[1:] * x
    y *= 1 - 1j
    y /= 2j
    y -= u
    return np.abs(y) ** 2


@at(arrays, U, X)
def spectrum(u, x):
    y = np.abs(np.fft.fft(u)) ** 2 + np.fft.ifft(x * u).real + np.fft.fft(x).imag
    return y + np.fft.ifft(np.fft.fft(u, norm="ortho") * np.fft.fft(x)).real


@at(arrays, A, X)
def transforms_of_matrices(a, x):
    half = np.fft.rfft(x)
    return (
        np.fft.fft2(a) * np.fft.fft(a, axis=0) + np.sum(np.abs(half) ** 2) * np.fft.irfft(half)[1]
    )


@at(arrays, U.astype(np.complex64), X.astype(np.float32))
def single_precision_arrays(u, x):
    return u * x * 2 + 1j * x + np.abs(u) * u.real


@at(arrays, U)
def several(u):
    return u * u, np.sum(np.abs(u) ** 2), u[0]
