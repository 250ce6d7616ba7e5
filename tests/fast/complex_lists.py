"""Functions of long lists of complex numbers, or of lists whose length is not known."""

from __future__ import annotations

import cmath
import math

import numpy as np

from tests.fast.complexes import RNG, Z, at

lists = []
MANY = [complex(*RNG.normal(size=2)) for _ in range(20)]
REALS = RNG.normal(size=20).tolist()


@at(lists, Z, 30)
def trajectory(z, n):
    zs = []
    for _ in range(n):
        z = z * (0.9 + 0.1j) + 0.05
        zs.append(z)
    return sum(abs(w) ** 2 for w in zs) + zs[3].imag


@at(lists, MANY, 0.5)
def the_callers(zs, x):
    s = 0
    for z in zs:
        s += z * x
    return s * sum(zs) + sum(z.real for z in zs) + zs[0].imag


@at(lists, MANY)
def some_of_the_callers(zs):
    return zs[1] * zs[3].conjugate()


@at(lists, MANY, REALS)
def side_by_side(zs, xs):
    return sum(z * x for z, x in zip(zs, xs, strict=False)) * zs[2] + sum(xs) * zs[0]


@at(lists, MANY)
def as_an_array(zs):
    a = np.array(zs)
    return np.sum(np.abs(a) ** 2) + a[1].imag


@at(lists, np.array(MANY))
def of_an_array(u):
    squares, plain = [z * z for z in u], u.tolist()
    return squares[0] * sum(squares) + sum(z**2 for z in plain) + plain[-1]


@at(lists, Z, 25)
def a_real_start(z, n):
    zs = [1.0]
    for _ in range(n):
        zs.append(zs[-1] * z * 0.9 + 0.1)
    return zs[-1] * zs[0] + sum(zs)


@at(lists, 0.7, 25)
def real_and_complex_items(x, n):
    zs = [x, x * 1j]
    for k in range(n):
        a, b = zs[k] * 0.9j + x, zs[k + 1] * x
        zs.append(a if k % 2 else b)
    return abs(zs[-1]) + zs[1].imag + zs[2].real


@at(lists, Z, 25)
def taken_away(z, n):
    zs, t = [], 0
    for k in range(n):
        zs.append(z * k)
    while len(zs) > 3:
        t += zs.pop() * 1j
    return t * zs[1]


@at(lists, Z, 25)
def assigned(z, n):
    zs, ws = [0j] * n, [0.0] * n
    for k in range(n):
        zs[k] = z**2 * k
        ws[k] = zs[k] * 0.5
    zs[3] = 2.0
    for k in range(1, n):
        zs[k] = zs[k - 1] * 0.5 + zs[k]
    return zs[-1] * ws[-1] + sum(zs[2:9])


@at(lists, REALS, Z)
def a_copy_turns_complex(xs, z):
    copy = xs[:]
    for i in range(len(xs)):
        copy[i] = copy[i] * z
    return sum(copy)


@at(lists, 0.5, Z, 25)
def repeated_numbers_turn_complex(x, z, n):
    zs = [x] * n
    for i in range(n):
        zs[i] = zs[i] * z
    return sum(zs)


@at(lists, 0.5, 0.3, 25)
def made_of_parts(x, y, n):
    zs = []
    for i in range(n):
        zs.append(complex(x, y * i))
    return sum(z.real * z.imag for z in zs) + zs[3].real


@at(lists, MANY)
def fourier(zs):
    n, total = len(zs), 0.0
    for k in range(n):
        s = sum(zs[m] * cmath.exp(-2j * math.pi * k * m / n) for m in range(n))
        total += abs(s) ** 2 * k
    return total
