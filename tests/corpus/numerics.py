"""Whole small algorithms."""

import cmath
import math
from dataclasses import dataclass

import numpy as np

from tests.corpus.registry import case

X = np.array([0.3, 0.8, 1.4, -0.6])


@case(0.5, -0.2, 0.7)
def runge_kutta(q, p, omega):
    def slope(state):
        return state[1], -omega * math.sin(state[0])

    def moved(state, k, h):
        return tuple(s + h * d for s, d in zip(state, k, strict=True))

    state, h = (q, p), 0.1
    for _ in range(5):
        k1 = slope(state)
        k2 = slope(moved(state, k1, h / 2))
        k3 = slope(moved(state, k2, h / 2))
        k4 = slope(moved(state, k3, h))
        rates = [(a + 2 * b + 2 * c + d) / 6 for a, b, c, d in zip(k1, k2, k3, k4, strict=True)]
        state = moved(state, rates, h)
    return state[0] * state[1]


@case(np.array([0.5, -0.2]), 0.7)
def runge_kutta_of_arrays(state, omega):
    def slope(s):
        return np.array([s[1], -omega * np.sin(s[0])])

    h = 0.1
    for _ in range(5):
        k1 = slope(state)
        k2 = slope(state + h / 2 * k1)
        k3 = slope(state + h / 2 * k2)
        k4 = slope(state + h * k3)
        state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return state.sum()


@case(2.7)
def newton_square_root(a):
    x = a
    while abs(x * x - a) > 1e-10:
        x = 0.5 * (x + a / x)
    return x


@case(0.6, 2.0)
def fixed_point(x, k):
    y = 0.0
    for _ in range(60):
        y = math.cos(x * y) / k
    return y


@case(0.8)
def series_until_small(x):
    term, total, n = 1.0, 0.0, 0
    while abs(term) > 1e-12:
        total += term
        n += 1
        term = term * x / n
    return total


@case(1.2, [0.5, -0.3, 0.8, 0.1])
def horner(x, coefficients):
    result = 0.0
    for c in reversed(coefficients):
        result = result * x + c
    return result


@case(np.array([0.1, 0.5, 1.1]), 0.4, 0.3)
def kernel_density(samples, x, width):
    total = 0.0
    for s in samples:
        z = (x - s) / width
        total += math.exp(-0.5 * z * z)
    return total / (len(samples) * width * math.sqrt(2 * math.pi))


@case(np.array([0.0, 0.5, 1.0, 0.3, 0.1, 0.0]), 0.2)
def heat_equation_in_place(u, k):
    for _ in range(4):
        u[1:-1] += k * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u * np.arange(6.0))


@case(np.array([0.2, 0.5, 1.0, 0.3, 0.1]), 0.2)
def heat_equation_by_elements(u, k):
    new = np.empty_like(u)
    for _ in range(3):
        new[0], new[-1] = u[0], u[-1]
        for i in range(1, len(u) - 1):
            new[i] = u[i] + k * (u[i - 1] - 2 * u[i] + u[i + 1])
        u, new = new.copy(), u
    return np.sum(u**2)


@case([0.3, 0.8, 1.4, -0.6, 0.2], 3, fixed=1)
def moving_average(xs, n):
    averages = []
    window = []
    for x in xs:
        window.append(x)
        if len(window) > n:
            window.pop(0)
        averages.append(sum(window) / len(window))
    return sum(a * a for a in averages)


@case(X, X[:2])
def convolution_by_loops(signal, kernel):
    out = np.zeros(len(signal) + len(kernel) - 1)
    for i, s in enumerate(signal):
        for j, k in enumerate(kernel):
            out[i + j] += s * k
    return np.sum(out**3)


@case(np.array([[0.3, 0.8], [1.4, -0.6]]), np.array([[0.5, 0.1], [0.2, 0.7]]))
def matrix_product_by_loops(a, b):
    c = np.zeros((2, 2))
    for i in range(2):
        for j in range(2):
            for k in range(2):
                c[i, j] += a[i, k] * b[k, j]
    return np.sum(c * c)


@case(np.array([[0.3, 0.8], [1.4, -0.6], [0.1, 0.4]]), np.array([[0.5, 0.1], [0.2, 0.7]]))
def attention(x, w):
    q, k, v = x @ w, x @ w.T, x
    scores = q @ k.T / math.sqrt(2.0)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return np.sum((weights @ v) ** 2)


@case(X)
@case(X * 300)
def logsumexp(x):
    top = x.max()
    return top + np.log(np.sum(np.exp(x - top)))


@case(np.array([[0.3, 0.8], [0.6, 0.1]]), np.array([[0.5, 0.1], [0.2, 0.7], [0.4, 0.9]]))
def viterbi(transition, emission):
    scores = [emission[0][k] for k in range(2)]
    pointers = []
    for t in range(1, 3):
        new, choice = [], []
        for j in range(2):
            options = [scores[i] + transition[i][j] for i in range(2)]
            best = max(range(2), key=options.__getitem__)
            choice.append(best)
            new.append(options[best] + emission[t][j])
        scores = new
        pointers.append(choice)
    return max(scores) * 2 + scores[pointers[-1][0]]


@case(np.array([[0.3, 0.8], [0.6, 0.1]]), np.array([[0.5, 0.1], [0.2, 0.7], [0.4, 0.9]]))
def forward_algorithm(transition, emission):
    alpha = emission[0]
    for e in emission[1:]:
        alpha = np.log(np.exp(alpha[:, None] + transition).sum(axis=0)) + e
    return np.log(np.exp(alpha).sum())


@case([0.3, 0.8, 1.4], [0.5, 0.9])
def edit_distance_table(a, b):
    table = {(0, 0): 0.0}
    for i in range(len(a) + 1):
        for j in range(len(b) + 1):
            if i == j == 0:
                continue
            options = []
            if i:
                options.append(table[i - 1, j] + a[i - 1])
            if j:
                options.append(table[i, j - 1] + b[j - 1])
            if i and j:
                options.append(table[i - 1, j - 1] + abs(a[i - 1] - b[j - 1]))
            table[i, j] = min(options)
    return table[len(a), len(b)]


@case([1.0, 2.5, 0.7, 1.6])
def longest_increasing_weight(w):
    best = [0.0] * len(w)
    for i in range(len(w)):
        best[i] = w[i]
        for j in range(i):
            if w[j] < w[i] and best[j] + w[i] > best[i]:
                best[i] = best[j] + w[i]
    return max(best) * best[0]


@dataclass
class Body:
    mass: float
    position: np.ndarray
    velocity: np.ndarray


@case(
    [
        Body(1.0, np.array([0.0, 0.1]), np.array([0.1, 0.0])),
        Body(0.5, np.array([1.0, 0.2]), np.array([0.0, -0.3])),
    ]
)
def two_bodies(bodies):
    for _ in range(3):
        for body in bodies:
            force = np.zeros(2)
            for other in bodies:
                if other is not body:
                    d = other.position - body.position
                    force += other.mass * d / np.sum(d * d) ** 1.5
            body.velocity += 0.01 * force
        for body in bodies:
            body.position = body.position + 0.01 * body.velocity
    return sum(body.mass * np.sum(body.velocity**2) for body in bodies)


@case(
    np.array([0.4, -0.3, 0.8]), np.array([[0.5, 0.2, 0.1], [0.7, 0.9, 0.3]]), np.array([0.5, 1.0])
)
def gradient_descent_unrolled(w, xs, ys):
    w = w.copy()
    for _ in range(3):
        for x, y in zip(xs, ys, strict=True):
            error = x @ w - y
            w -= 0.1 * error * x
    return np.sum(w * w)


@case(
    {
        "w": [np.array([[0.3, -0.4], [0.1, 0.6]]), np.array([[0.5], [0.2]])],
        "b": [np.array([0.1, 0.2]), np.array([0.3])],
    },
    np.array([[0.5, 1.0], [1.5, -0.3]]),
)
def multilayer_perceptron(model, x):
    for k, (w, b) in enumerate(zip(model["w"], model["b"], strict=True)):
        x = x @ w + b
        if k < len(model["w"]) - 1:
            x = np.tanh(x)
    return np.mean((x - 1.0) ** 2)


@case(np.array([0.4, -0.3]), np.array([0.2, 0.9]), np.array([0.5, 1.0, -0.2]))
def recurrent_network(w, u, xs):
    h = np.zeros(2)
    outputs = []
    for x in xs:
        h = np.tanh(w * h + u * x)
        outputs.append(h)
    return np.stack(outputs).sum() + outputs[0] @ outputs[2]


@case(0.7, 0.3)
def bisection_then_newton(a, b):
    low, high = 0.0, 4.0
    for _ in range(3):
        middle = (low + high) / 2
        if middle**3 - a * middle - b > 0:
            high = middle
        else:
            low = middle
    x = (low + high) / 2
    for _ in range(20):
        x = x - (x**3 - a * x - b) / (3 * x * x - a)
    return x


@case(0.9, 0.2)
def simpson(a, k):
    def f(t):
        return math.exp(-k * t * t)

    n = 6
    h = a / n
    return h / 3 * sum(f(i * h) * (1 if i in (0, n) else 4 if i % 2 else 2) for i in range(n + 1))


@case(0.5, 1.2)
def adaptive_integration(a, b):
    def f(t):
        return math.sin(t) * t

    def integrate(left, right, depth):
        middle = (left + right) / 2
        coarse = (right - left) * f(middle)
        fine = (right - left) / 2 * (f((left + middle) / 2) + f((middle + right) / 2))
        if depth == 0 or abs(coarse - fine) < 1e-4:
            return fine
        return integrate(left, middle, depth - 1) + integrate(middle, right, depth - 1)

    return integrate(a, b, 4)


@case(np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]]))
def cholesky_in_place(m):
    a = m.copy()
    n = len(a)
    for j in range(n):
        a[j, j] = math.sqrt(a[j, j] - np.sum(a[j, :j] ** 2))
        for i in range(j + 1, n):
            a[i, j] = (a[i, j] - np.sum(a[i, :j] * a[j, :j])) / a[j, j]
        a[j, j + 1 :] = 0.0
    return np.sum(a)


@case([0.3, 0.8, 1.4, 0.6])
def running_mean_and_variance(xs):
    mean = m2 = 0.0
    for n, x in enumerate(xs, 1):
        delta = x - mean
        mean += delta / n
        m2 += delta * (x - mean)
    return mean * m2 / (len(xs) - 1)


@case(np.array([0.5, 0.1, 0.9, 0.4]))
def fourier_by_recursion(x):
    def transform(v):
        if len(v) == 1:
            return v
        even, odd = transform(v[::2]), transform(v[1::2])
        twiddle = np.exp(-2j * np.pi * np.arange(len(odd)) / len(v)) * odd
        return np.concatenate([even + twiddle, even - twiddle])

    spectrum = transform(x)
    return np.sum(np.abs(spectrum) ** 2 * np.arange(4.0))


@case(0.3, 1.1, 0.4)
def kepler_equation(eccentricity, anomaly, tolerance):
    e = anomaly
    for _ in range(50):
        step = (e - eccentricity * math.sin(e) - anomaly) / (1 - eccentricity * math.cos(e))
        e -= step
        if abs(step) < 1e-13:
            break
    return math.cos(e) - eccentricity + 0.0 * tolerance


@case([0.2, 0.5, 0.3])
def entropy(p):
    total = sum(p)
    return -sum(v / total * math.log(v / total) for v in p if v > 0)


@case(0.8)
def moduli_of_complex_numbers_that_reals_make(x):
    total = abs(x + 0.7j) ** 2 + abs(x * 1j + 0.4) * x + cmath.phase(x + 0.7j) * x
    total = total + np.log(abs(x + 0.7j)) + max(abs(x - 0.2j), 0.1) ** 3
    total = total + abs(sum([x + 0.7j, 2.0 * x])) ** 2 + cmath.polar(x + 0.7j)[0]
    return total + abs(cmath.exp(x * 1j) + x) ** 2 + np.abs(np.array([x, x * x]) + 0.3j).prod()
