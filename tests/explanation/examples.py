"""Programs to explain."""

import numpy as np

import adjoint as ad
from adjoint.demo import moons
from adjoint.demo.cubic import Polynomial, noisy_cubic, polynomial_loss


def polynomial_fit():
    """Least squares through ``map(evalpoly)``."""
    xs, ys = noisy_cubic(100, np.random.default_rng(0))
    return polynomial_loss, (Polynomial(np.array([1.0, 0.5, -0.25, 0.125])), xs, ys)


def network_loss(model, X, Y):
    return ad.nn.logit_cross_entropy(model(X), Y)


def moons_network():
    """A perceptron on two moons."""
    X, labels = ad.nn.datasets.make_moons(60, noise=0.1, rng=np.random.default_rng(1))
    return network_loss, (moons.network(), X, ad.nn.onehot(labels, 2))


def power(x, n):
    if n == 0:
        return 1.0
    half = power(x, n // 2)
    return half * half * x if n % 2 else half * half


def recursion():
    return lambda x: power(x, 11), (1.25,)


class Tank:
    """Levels of water, changed in place."""

    def __init__(self, levels, rate):
        self.levels, self.rate = levels, rate

    def step(self, inflow):
        self.levels[0] += inflow
        for i in range(len(self.levels) - 1):
            moved = self.rate * (self.levels[i] - self.levels[i + 1])
            self.levels[i] -= moved
            self.levels[i + 1] += moved
        self.levels *= 0.9


def drained(levels, rate, inflow):
    tank = Tank(levels, rate)
    for _ in range(4):
        tank.step(inflow)
    return tank.levels[-1] ** 2


def in_place_writes():
    return drained, (np.array([1.0, 0.5, 0.25]), 0.3, 0.2)


def entropy(p):
    weights = p / np.sum(p)
    logs = np.log(weights)
    terms = weights * logs
    return -np.sum(terms)


def nan_from_log():
    return entropy, (np.array([0.5, 0.0, 0.25]),)


EXAMPLES = (polynomial_fit, moons_network, recursion, in_place_writes, nan_from_log)
