"""Programs of the fast tier, for NumPy's, autograd's and torch's numbers alike."""

from typing import Any

import numpy as np

STEPS = 10_000


def lotka_volterra(x: Any, y: Any, a: Any, b: Any) -> Any:
    """Predators and prey, Runge-Kutta of fourth order."""

    def field(x: Any, y: Any) -> Any:
        return a * x - b * x * y, b * x * y - y

    h = 0.001
    for _ in range(STEPS):
        x1, y1 = field(x, y)
        x2, y2 = field(x + 0.5 * h * x1, y + 0.5 * h * y1)
        x3, y3 = field(x + 0.5 * h * x2, y + 0.5 * h * y2)
        x4, y4 = field(x + h * x3, y + h * y3)
        x = x + h / 6.0 * (x1 + 2.0 * x2 + 2.0 * x3 + x4)
        y = y + h / 6.0 * (y1 + 2.0 * y2 + 2.0 * y3 + y4)
    return x * y


def halvings(x: Any) -> Any:
    """As many steps as the number itself decides."""
    y, n = x, 0
    while y > 1e-3:
        y = y * (1.0 - 0.001 * y) - 0.0001 * x
        n += 1
    return y * x


def one_line(x: Any) -> Any:
    """What a call of a cached gradient costs beyond it."""
    return x * x + 3.0 * x


def bumps(a: Any, b: Any, x: Any) -> Any:
    """Elementwise functions of a long array."""
    return np.sum(np.tanh(a * x + b) * np.exp(-(x**2)) + np.sin(x) ** 2)


def recurrence(a: Any, x: Any) -> Any:
    """An array that is filled in place, each element from the one before it."""
    y = np.zeros(len(x))
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = a * y[i - 1] + x[i]
    return y[-1]
