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


def bumps_by_hand(a: Any, b: Any, x: Any) -> Any:
    """The gradient of `bumps`, with six buffers that are used again and again."""
    u, e, s, c, g = (np.empty_like(x) for _ in range(5))
    np.multiply(x, a, out=u)
    u += b
    np.tanh(u, out=u)
    np.multiply(x, x, out=e)
    np.negative(e, out=e)
    np.exp(e, out=e)
    np.sin(x, out=s)
    np.multiply(u, e, out=g)
    np.multiply(s, s, out=c)
    c += g
    c.sum()
    np.cos(x, out=c)
    s *= c
    s *= 2.0
    g *= x
    g *= 2.0
    s -= g
    u *= u
    np.subtract(1.0, u, out=u)
    u *= e
    b_bar = u.sum()
    a_bar = u.dot(x)
    u *= a
    s += u
    return a_bar, b_bar, s
