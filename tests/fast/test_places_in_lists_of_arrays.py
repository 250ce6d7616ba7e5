"""Items of lists of arrays, at places that depend on numbers, and arrays beside such lists."""

import math

import numpy as np
import pytest

import adjoint as ad
from tests.fast.second_order import check_programs
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


# ---- lists of lists and of objects ---------------------------------------------------------------


def determinant(m):
    rows = [list(row) for row in m]
    n = len(rows)
    for k in range(n):
        p = max(range(k, n), key=lambda i: abs(rows[i][k]))
        if p != k:
            rows[k], rows[p] = rows[p], rows[k]
        for i in range(k + 1, n):
            factor = rows[i][k] / rows[k][k]
            for j in range(k, n):
                rows[i][j] -= factor * rows[k][j]
    return math.prod([rows[i][i] for i in range(n)])


def one_list_twice(m):
    rows = [list(row) for row in m]
    p = max(range(len(rows)), key=lambda i: abs(rows[i][0]))
    rows[p] = rows[0]
    rows[0][0] = rows[0][1] * 3.0
    rows[1][1] += rows[0][0]
    rows[p][0] *= rows[p][0]
    return sum([sum(row) * (k + 1) for k, row in enumerate(rows)])


class Part:
    def __init__(self, x):
        self.x = x


def objects_that_change_places(m):
    parts = [Part(row[0] * row[1]) for row in m]
    k = int(m[0][0] > 0.5) - 1
    parts[k] = Part(m[0][0] ** 2)
    first = parts[0]
    parts[k - 1], parts[0] = parts[0], parts[k]
    first.x *= 1.5
    parts[-1].x += parts[0].x * m[1][1]
    return sum([part.x * (i + 1) for i, part in enumerate(parts)])


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("f", [determinant, one_list_twice, objects_that_change_places])
def test_what_is_stored_at_places_that_depend_on_numbers(f, n):
    for seed in range(3):
        m = np.random.default_rng(seed).normal(size=(n, n))
        check_programs(f, m)
        assert ad.withgradient(f, m).value == pytest.approx(f(m), rel=1e-13)


def test_a_place_out_of_range():
    def f(m):
        rows = [[m[0]], [m[1]]]
        rows[int(m[0])] = [m[1] * 2]
        return rows[0][0] * rows[1][0]

    for first in (1.0, -1.0, -2.0):
        m = np.array([first, 3.0])
        assert ad.withgradient(f, m).value == f(m)
    for first in (2.0, -3.0):
        with pytest.raises(IndexError, match="list assignment index out of range"):
            ad.gradient(f, np.array([first, 3.0]))
