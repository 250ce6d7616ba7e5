"""Items of lists of arrays, at places that depend on numbers, and arrays beside such lists."""

import numpy as np
import pytest

from tests.fast.test_rows_of_arrays import N, X, covered, same, step


def in_turn(x):
    ws, y = [x, x[::-1], np.sin(x)], x
    for i in range(N):
        y = np.tanh(y * ws[i % 3] + 0.1)
    return np.sum(y * y)


def in_a_tuple(x):
    ws, y = (x, x[::-1], np.sin(x)), x
    for i in range(N):
        y = np.tanh(y * ws[i % 3] + 0.1)
    return np.sum(y * y)


def beside_numbers(x):
    ws, y = {0: (x, 1.0), 1: (x * x, 2.0)}, x
    for i in range(N):
        w, s = ws[i % 2]
        y = np.tanh(y * w * s + 0.1)
    return np.sum(y * y)


def replaced(x):
    ws, y = [x * 1.0, x[::-1] * 1.0, np.sin(x)], x
    for i in range(N):
        ws[i % 3] = np.tanh(ws[i % 3] * ws[i % 2] + y)
        y = y + 0.01 * ws[i % 3]
    return np.sum(y * y) + np.sum(ws[1] ** 2)


def over_times(x):
    ts, ys = np.linspace(0, 1, N), [x]
    for t in ts:
        ys.append(ys[-1] + 0.01 * np.sin(t * ys[-1]))
    return np.sum(np.array(ys)[1:] * ts[:, None]) + np.sum(np.diff(np.array(ys), axis=0) ** 2)


def beside_a_list_of_numbers(x):
    ys, energies, y = [], [], x
    for _ in range(N):
        k = np.sin(y)
        y = y + 0.005 * (k + np.sin(y + 0.01 * k))
        ys.append(y)
        energies.append(np.sum(y * y))
    return np.sum(np.array(ys)[:, 0] * np.array(energies)) + max(energies) + np.std(np.array(ys))


def with_a_matrix(x):
    a = np.zeros((len(x), len(x)))
    for i in range(len(x)):
        a[i, i] = 1.0 + x[i] ** 2
    ys = [x]
    for _ in range(N):
        ys.append(np.linalg.solve(a, ys[-1]) + 0.1)
    return np.sum(np.array(ys) ** 2)


def differences(x):
    ys = [x]
    for _ in range(N):
        y = ys[-1]
        dy = np.zeros_like(y)
        dy[1:-1] = y[2:] - 2 * y[1:-1] + y[:-2]
        ys.append(y + 0.1 * dy)
    return np.sum(np.array(ys)[::10] ** 2)


PLACES = (
    in_turn,
    in_a_tuple,
    beside_numbers,
    replaced,
    over_times,
    beside_a_list_of_numbers,
    with_a_matrix,
    differences,
)


@pytest.mark.parametrize("f", PLACES, ids=lambda f: f.__name__)
def test_places(f):
    covered(f, X)
    assert same(f, np.append(X, 0.3))


def test_writes_to_items():
    def inside(x):
        ws, y = [x * 1.0, x[::-1] * 1.0, np.sin(x)], x
        for i in range(N):
            ws[i % 3][0] = y[1]
            y = np.tanh(y * ws[i % 3] + 0.1)
        return np.sum(y * y)

    def afterwards(x):
        ws, y = [x * 1.0, x[::-1] * 1.0, np.sin(x)], x
        for i in range(N):
            y = np.tanh(y * ws[i % 3] + 0.1)
        ws[0][0] = 3.0
        return np.sum(y * y) + np.sum(ws[0])

    for f in (inside, afterwards):
        assert not same(f, X)


def test_a_sum_with_a_start():
    def f(x):
        ys = [x]
        for _ in range(N):
            ys.append(step(ys[-1]))
        return np.sum(sum(ys, x * 2.0) ** 2)

    covered(f, X)
