"""Scalar programs as people write them, for NumPy's and for autograd's ``np`` alike."""

import numpy as np


def lotka_volterra(x):
    """Four predator-prey parameters, Runge-Kutta of fourth order, 200 steps."""
    a, b, c, d = x, 0.4, 0.1, 0.4

    def field(u, v):
        return a * u - b * u * v, c * u * v - d * v

    u, v, h = 10.0, 5.0, 0.05
    for _ in range(200):
        u1, v1 = field(u, v)
        u2, v2 = field(u + 0.5 * h * u1, v + 0.5 * h * v1)
        u3, v3 = field(u + 0.5 * h * u2, v + 0.5 * h * v2)
        u4, v4 = field(u + h * u3, v + h * v3)
        u = u + h / 6.0 * (u1 + 2.0 * u2 + 2.0 * u3 + u4)
        v = v + h / 6.0 * (v1 + 2.0 * v2 + 2.0 * v3 + v4)
    return u * v


def newton_roots(x):
    """The cubic root of 50 numbers by Newton's method, each until it no longer moves."""
    total = 0.0
    for k in range(1, 51):
        target = x * k
        root, step = target, 1.0
        while abs(step) > 1e-12:
            step = (root * root * root - target) / (3.0 * root * root)
            root = root - step
        total = total + root
    return total


COEFFICIENTS = [(-1.0) ** k / (k + 1.0) for k in range(500)]


def horner(x):
    """A polynomial of degree 499."""
    y = 0.0
    for c in COEFFICIENTS:
        y = y * x + c
    return y


def logistic_map(r):
    y = 0.3
    for _ in range(1000):
        y = r * y * (1.0 - y)
    return y


def pendulum(length):
    """Semi-implicit Euler: a call of NumPy on a number in every step."""
    angle, speed = 1.0, 0.0
    for _ in range(500):
        speed = speed - 0.01 * 9.81 / length * np.sin(angle)
        angle = angle + 0.01 * speed
    return angle


def collatz_like(x):
    """Branches that the number itself decides."""
    total = x
    for k in range(500):
        if total > 4.0:
            total = total / 2.0
        elif k % 3 == 0:
            total = total * x + 1.0
        else:
            total = total + x
    return total


def moving_average(x):
    """A list that is appended to and read."""
    history = [x, 0.5 * x]
    for _ in range(500):
        history.append(0.6 * history[-1] + 0.3 * history[-2] + 0.1)
    total = 0.0
    for value in history:
        total = total + value
    return total
