"""Programs of complex numbers that are specialised, and where to call them."""

from __future__ import annotations

import cmath
import math

import numpy as np

from tests.fast.complexes import U, X, Z, at

programs, corners = [], []


# ---- programs ------------------------------------------------------------------------------------


@at(programs, 0.1 + 0.2j, -0.4 + 0.1j)
def mandelbrot(z, c):
    n = 0
    while abs(z) < 2.0 and n < 12:
        z = z * z + c
        n += 1
    return abs(z) * n


@at(programs, 1.3 + 0.4j, -0.5 + 1.0j)
def newton(z, c):
    for _ in range(6):
        z = z - (z**3 + c * z - 1) / (3 * z**2 + c)
    return z


@at(programs, 0.3, 2.0, 0.4, np.linspace(0.0, 1.0, 9))
def oscillator(damping, w, phase, t):
    z = np.exp((-damping + 1j * w) * t + 1j * phase)
    return np.sum((z.real - np.cos(t)) ** 2) + np.mean(np.abs(z) ** 2)


@at(programs, 1.0 + 0.5j, 0.7, 0.2)
def runge_kutta(z, w, damping):
    def slope(z, t):
        return (1j * w - damping) * z + 0.1 * abs(z) ** 2 * z + cmath.exp(1j * t)

    t, h = 0.0, 0.1
    for _ in range(12):
        k1 = slope(z, t)
        k2 = slope(z + h / 2 * k1, t + h / 2)
        k3 = slope(z + h / 2 * k2, t + h / 2)
        k4 = slope(z + h * k3, t + h)
        z, t = z + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), t + h
    return z.real**2 + z.imag


@at(programs, U)
def fourier_loop(u):
    n, total = len(u), 0.0
    for k in range(n):
        s = 0j
        for m in range(n):
            s += u[m] * cmath.exp(-2j * cmath.pi * k * m / n)
        total += abs(s) ** 2 * (k + 1)
    return total


@at(programs, X)
def fourier_matrix(x):
    k = np.arange(4)
    waves = np.exp(-2j * np.pi * np.outer(k, k) / 4)
    return np.sum(np.abs(waves @ x) ** 2 * k)


@at(programs, 0.4, 1.1)
def quantum(a, b):
    turn = np.array([[math.cos(a), -1j * math.sin(a)], [-1j * math.sin(a), math.cos(a)]])
    shift = np.array([[cmath.exp(-1j * b), 0], [0, cmath.exp(1j * b)]])
    state = turn @ shift @ turn @ np.array([1.0 + 0j, 0.0])
    return np.abs(state[1]) ** 2


@at(programs, [0.5, -1.0, 2.0], Z)
def horner(coefficients, z):
    y = 0
    for c in coefficients:
        y = y * z + c
    return y


@at(programs, U, X)
def least_squares(u, x):
    residual = u * x - np.conj(u) - 1j
    return np.real(np.vdot(residual, residual))


class Filter:
    def __init__(self, pole, gain):
        self.pole, self.gain = pole, gain

    def __call__(self, z):
        return self.gain / (z - self.pole)

    @property
    def peak(self):
        return abs(self(1j))


@at(programs, Z, 0.8, 2.0)
def objects(pole, gain, w):
    chain = [Filter(pole, gain), Filter(pole.conjugate(), gain)]
    y = cmath.exp(1j * w)
    for one in chain:
        y = one(y) + one.peak
    return y


@at(programs, U)
def over_elements(u):
    total = 1.0
    for z in u:
        total = total * z + 0.5
    return sum(z * z for z in u[:3]) + total


# ---- what is easily wrong ------------------------------------------------------------------------

UPPER = np.array([[2 + 1j, 0.3], [0.1j, 1.5]])
SINGLE = U.astype(np.complex64)


@at(corners, Z, X)
def real_exponents(z, x):
    return z**x + 2.0 ** (z * x) + x**2 * z


@at(corners, U, X)
def exponents_of_arrays(u, x):
    return u**x + u ** (x + 1j) + np.power(2.0, u)


@at(corners, X)
def arrays_of_a_dtype(x):
    y = np.zeros(4, dtype=complex)
    y[0] = x[0]
    y[1] = 1j * x[2]
    w = np.array([x[0], x[1], 0.5, x[3]], dtype=complex)
    return np.sum(y * w * 1j) + np.sum(np.full(4, 1j) * x) + np.sum(x.astype(complex) * y)


@at(corners, U)
def views_of_parts(u):
    r, i = u.real, u.imag
    return r[0] * i[1] + r[::-1] @ i + (u.real * 2).sum()


@at(corners, U, 0.5)
def a_real_sum_in_a_loop(u, x):
    t = 0.0
    for z in u:
        t += abs(z) ** 2 * x
        t += (z * x).imag
    return t


@at(corners, U, 0.5)
def real_first_complex_then(u, x):
    s, n = x, 0
    while abs(s) < 5 and n < 4:
        s = s * u[n % 3] + x if n % 2 else s * x + 1
        n += 1
    return s


@at(corners, 0.5, 2.0)
def without_a_value_at_first(x, y):
    if x < y:
        z = x * 1j
    for _ in range(2):
        z = z * y
    return z


@at(corners, Z, 0.3)
def shared_by_closures(z, x):
    c = z

    def up(k):
        nonlocal c
        c = c * k + x

    up(1j)
    up(z.real)
    up(2)
    return c


@at(corners, [Z, 2 * Z], {"a": 0.5, "b": Z})
def in_lists(pair, d):
    made = [a * b for a, b in zip(pair, [1j, d["a"]], strict=True)]
    made.append(d["b"])
    made[0] += 1
    return sum(made) * made[-1] + sum(made[:1], 0.5)


@at(corners, Z)
def series(z):
    return sum(z**k / math.factorial(k) for k in range(6))


@at(corners, UPPER, np.array([1 + 1j, 2.0]))
def equations(a, b):
    return np.linalg.solve(a, b) + np.linalg.inv(a) @ b * np.linalg.det(a)


@at(corners, UPPER)
def norms(a):
    return np.linalg.norm(a) + np.trace(a @ a.conj().T).real


@at(corners, U, U * 2j)
def functions_with_rules(u, w):
    y = np.inner(u, w) + np.tensordot(u, w, 1) + np.sum(np.kron(u, w)) + np.var(u) + np.std(w)
    return y + np.cumsum(u)[1] * np.prod(w) + np.einsum("i,i->", u, u.real)


@at(corners, 0.5, 1.5)
def roots_of_a_quadratic(b, c):
    d = cmath.sqrt(b * b - 4 * c)
    first, second = (-b + d) / 2, (-b - d) / 2
    return abs(first) * second.imag + (first * second).real


@at(corners, 3, 1.5 + 1j)
def integers(n, z):
    return z * n + n * 1j + z**n + n**z


@at(corners, U)
def an_early_return(u):
    for z in u:
        if z.real < 0:
            return z * z
    return u[0]


@at(corners, SINGLE, X.astype(np.float32), np.complex64(1 + 2j), Z)
def precisions(u, x, z, w):
    return z * u + z.real * u.imag + np.abs(u) * 2j + u[0] * z + x * w + np.sum(x) * w


@at(corners, U, Z)
def scaled_in_place(u, z):
    y = u * 2.0
    y *= 1j
    y /= 1 + 1j
    y += z
    y -= z * u
    for i in range(3):
        y[i] = u[i] * 1j
        y[i] += u[2 - i].real
    return y * y


@at(corners, U, X)
def conjugate_products(u, x):
    return np.vdot(u, x) * 1j + np.vdot(x, u) + np.vdot(x, x) + np.vdot(u, u)


@at(corners, 2.0)
def powers_beyond_the_cut(x):
    return (-x + 0j) ** 0.5 + (-2 + 0j) ** x + (0j + x) ** 1.5
