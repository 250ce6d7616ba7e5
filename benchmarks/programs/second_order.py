"""Programs for forward mode and second derivatives, of one argument each."""

from typing import Any

import numpy as np


def network(layers: Any, x: Any, y: Any) -> Any:
    """The squared error of a network with tanh between its layers."""
    for weights, biases in layers[:-1]:
        x = np.tanh(x @ weights + biases)
    weights, biases = layers[-1]
    return np.mean((x @ weights + biases - y) ** 2)


def network_of_input(x: Any, layers: Any) -> Any:
    """The number that a network gives for an input."""
    for weights, biases in layers[:-1]:
        x = np.tanh(x @ weights + biases)
    weights, biases = layers[-1]
    return (x @ weights + biases)[0]


def network_of_row(x: Any, layers: Any) -> Any:
    """The numbers that a network gives for an input, or for each row of inputs."""
    for weights, biases in layers:
        x = np.tanh(x @ weights + biases)
    return x


def field(u: Any, v: Any, a: Any) -> Any:
    """Predators and prey."""
    return a * u - 0.4 * u * v, 0.1 * u * v - 0.4 * v


def runge_kutta(a: Any) -> Any:
    """One thousand steps of fourth order, with numbers."""
    u, v, h = 10.0, 5.0, 0.01
    for _ in range(1000):
        u1, v1 = field(u, v, a)
        u2, v2 = field(u + 0.5 * h * u1, v + 0.5 * h * v1, a)
        u3, v3 = field(u + 0.5 * h * u2, v + 0.5 * h * v2, a)
        u4, v4 = field(u + h * u3, v + h * v3, a)
        u = u + h / 6.0 * (u1 + 2.0 * u2 + 2.0 * u3 + u4)
        v = v + h / 6.0 * (v1 + 2.0 * v2 + 2.0 * v3 + v4)
    return u * v


def stencil(start: Any) -> Any:
    """Sweeps over a rod that heat makes stiffer, each element written in its place."""
    u = start.copy()
    for _ in range(10):
        for i in range(1, len(u) - 1):
            u[i] = u[i] + 0.2 * (u[i - 1] - 2.0 * u[i] + u[i + 1]) / (1.0 + u[i] * u[i])
    return np.sum(u * u)


def normal_distribution(x: Any) -> Any:
    """By Abramowitz & Stegun, Handbook of Mathematical Functions, 26.2.17."""
    size = np.abs(x)
    t = 1.0 / (1.0 + 0.2316419 * size)
    series = 1.781477937 + t * (-1.821255978 + t * 1.330274429)
    series = t * (0.319381530 + t * (-0.356563782 + t * series))
    tail = np.exp(-0.5 * size * size) / np.sqrt(2.0 * np.pi) * series
    return np.where(x > 0.0, 1.0 - tail, tail)


def black_scholes(x: Any, strike: Any, years: Any, rate: Any) -> Any:
    """The prices of call options together; the rows of `x` are prices today and volatilities."""
    spot, volatility = x
    spread = volatility * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + 0.5 * volatility**2) * years) / spread
    d2 = d1 - spread
    discounted = strike * np.exp(-rate * years)
    return np.sum(spot * normal_distribution(d1) - discounted * normal_distribution(d2))


def rosenbrock(x: Any) -> Any:
    """The banana-shaped valley in any number of dimensions."""
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)
