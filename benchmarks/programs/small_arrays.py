"""Programs on small arrays, for NumPy's and for autograd's ``np`` alike."""

import numpy as np

_rng = np.random.default_rng(3)
SPINS = _rng.normal(size=(40, 3))
SERIES = _rng.normal(size=(30, 2))
POINTS = _rng.normal(size=(20, 3))
LABELS = _rng.integers(0, 3, size=20)
ONE_HOT = np.eye(3)[LABELS]


def rosenbrock(x):
    """Of ten variables, by slices."""
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def rosenbrock_by_elements(x):
    """The same, element by element."""
    total = 0.0
    for i in range(len(x) - 1):
        total = total + 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
    return total


def precession(field):
    """A vector that turns about a field: forty steps of arrays of three."""
    spin = np.array([1.0, 0.0, 0.0])
    for kick in SPINS:
        across = np.array(
            [
                spin[1] * field[2] - spin[2] * field[1],
                spin[2] * field[0] - spin[0] * field[2],
                spin[0] * field[1] - spin[1] * field[0],
            ]
        )
        spin = spin + 0.01 * across + 0.001 * kick
        spin = spin / np.sqrt(np.sum(spin * spin))
    return spin[0]


def softmax_regression(weights):
    scores = np.dot(POINTS, weights)
    scores = scores - np.max(scores, axis=1, keepdims=True)
    return -np.mean(
        np.sum(ONE_HOT * (scores - np.log(np.sum(np.exp(scores), axis=1, keepdims=True))), axis=1)
    )


def recurrent_network(weights):
    """Thirty steps with a state of four."""
    state = np.zeros(4)
    for x in SERIES:
        state = np.tanh(np.dot(weights[:, :4], state) + np.dot(weights[:, 4:6], x) + weights[:, 6])
    return np.sum(state**2)


def gaussian_mixture(means):
    """Minus the log-likelihood of twenty points."""
    total = 0.0
    for point in POINTS:
        distances = np.sum((point - means) ** 2, axis=1)
        total = total - np.log(np.sum(np.exp(-0.5 * distances)))
    return total


def springs(positions):
    """The energy of five masses, each tied to each."""
    energy = 0.0
    for i in range(len(positions)):
        for j in range(i):
            length = np.sqrt(np.sum((positions[i] - positions[j]) ** 2))
            energy = energy + 0.5 * (length - 1.0) ** 2
    return energy


def _moons(n):
    angles = np.pi * _rng.random(n)
    upper = np.stack([np.cos(angles), np.sin(angles)], 1)
    lower = np.stack([1.0 - np.cos(angles), 0.5 - np.sin(angles)], 1)
    labels = _rng.integers(0, 2, size=n)
    return np.where(labels[:, None] == 0, upper, lower) + 0.1 * _rng.normal(size=(n, 2)), labels


MOONS, SIDES = _moons(200)
SIGNS = 2.0 * SIDES - 1.0


def moons_mlp(layers):
    """The loss of an MLP 2-16-16-2 on 200 moons: cross entropy of the logits."""
    x = MOONS
    for weights, bias in layers[:-1]:
        x = np.tanh(np.dot(x, weights) + bias)
    weights, bias = layers[-1]
    logits = np.dot(x, weights) + bias
    margin = (logits[:, 1] - logits[:, 0]) * SIGNS
    return np.mean(np.log(1.0 + np.exp(-margin)))
