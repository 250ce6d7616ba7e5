"""Ten functions whose specialised code is kept as text: what a reader should be able to follow."""

import math
from dataclasses import dataclass

import numpy as np

import adjoint as ad


def normal_density(x, mean, width):
    z = (x - mean) / width
    return math.exp(-0.5 * z * z) / (width * math.sqrt(2.0 * math.pi))


def newton_root(a):
    x, step = a, 1.0
    while abs(step) > 1e-12:
        step = (x * x - a) / (2.0 * x)
        x = x - step
    return x


def pendulum(angle, length, steps):
    speed = 0.0
    for _ in range(steps):
        speed = speed - 0.01 * 9.81 / length * math.sin(angle)
        angle = angle + 0.01 * speed
    return angle


def piecewise(x, slope):
    if x > 1.0:
        return slope * x * x
    return slope * math.sqrt(x)


def cubic(x, weights):
    return ad.evalpoly(x, weights)


def least_squares(w, b, x, y):
    residual = x @ w + b - y
    return np.sum(residual**2) / len(y)


@dataclass
class Layer:
    W: np.ndarray
    b: np.ndarray

    def __call__(self, x):
        return np.tanh(x @ self.W + self.b)


def network(layers, x):
    for layer in layers:
        x = layer(x)
    return np.mean(x * x)


def recurrence(a, x):
    y = np.zeros(len(x))
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = a * y[i - 1] + x[i]
    return y[-1]


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def damped(parameters, t):
    def envelope(t):
        return parameters["height"] * math.exp(-parameters["rate"] * t)

    return envelope(t) * math.cos(t)


def _layers():
    return [Layer(np.full((2, 3), 0.1), np.zeros(3)), Layer(np.full((3, 2), -0.2), np.ones(2))]


REPRESENTATIVE = [
    (normal_density, (0.3, 0.1, 2.0)),
    (newton_root, (2.0,)),
    (pendulum, (0.4, 1.3, 20)),
    (piecewise, (0.7, 3.0)),
    (cubic, (0.5, np.array([1.0, -2.0, 0.5, 3.0]))),
    (least_squares, (np.ones(3), 0.2, np.arange(12.0).reshape(4, 3), np.ones(4))),
    (network, (_layers(), np.linspace(-1.0, 1.0, 8).reshape(4, 2))),
    (recurrence, (0.9, np.array([1.0, -0.5, 2.0, 0.3]))),
    (rosenbrock, (np.array([0.5, 1.5, -0.5, 0.8]),)),
    (damped, ({"height": 2.0, "rate": 0.3}, 1.1)),
]
