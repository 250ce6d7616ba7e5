"""Views of arrays that are written to, and read after writes."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.programs import store
from tests.structures import difference


def normalised_rows(a):
    b = a.copy()
    for i in range(b.shape[0]):
        row = b[i]
        row /= row.sum()
    return (b**3).sum()


def rows_of_an_iteration(a):
    b = a * 1.5
    for k, row in enumerate(b):
        row *= 2 + k
        row[1:] = row[:-1] * row[0]
    return (b**3).sum()


def transposed(a):
    b = a.copy()
    b.T[0] = a[:, 1] ** 2
    columns = np.swapaxes(b, 0, 1)
    columns -= columns * columns
    return np.sin(b).sum() * columns.mean()


def flattened(a):
    b = a * 2
    b.reshape(-1)[5] += a[0, 0] ** 2
    v = b.ravel()
    v[2:] = v[2:] ** 2
    return (b**3).sum() + v[3]


def copied_by_reshape(a):
    b = a @ a.T
    v = b.T.reshape(-1)
    v[1] = 5 * a[0, 0]
    return (b**3).sum() * v.sum()


def halves(a):
    v = a.ravel() * 1.0
    left, right = v[:6], v[6:]
    left += right
    right *= left
    return (v**3).sum() + (left * right).sum()


def view_of_a_view(a):
    b = a * 1.0
    v = b[0]
    w = v[1:]
    w[0] = v[0] ** 2
    v *= 2
    return (w**2).sum() * b.sum()


def callees(a):
    b = a * 1.0

    def scale(v):
        v[0] = v[1] * v[2]
        return v[1:]

    for i in range(3):
        scale(b[i])[1] *= 2
    rest = scale(b[:, 0])
    return (b**3).sum() * rest.sum()


def in_a_list(a):
    b = a * 1.0
    rows = [b[i] for i in range(3)]
    rows[0] += rows[1] ** 2
    rows[2][1] = rows[0][2]
    return sum((row**2).sum() for row in rows) + b[0, 0]


def in_a_while_loop(a):
    b = a * 1.0
    v = b[0]
    i = 0
    while i < 3:
        v[i + 1] = v[i] * b[1, i]
        i += 1
    return (b**2).sum() + v[3]


def in_branches(a):
    b = a * 1.0
    v = b[0]
    if b[0, 0] > 1:
        v[1] = b[1, 1] ** 2
    else:
        v *= 2
    return (v**3).sum() + b.sum()


def read_after_writes_in_a_loop(a):
    b = a * 1.0
    first, s = b[0], 0.0
    for i in range(3):
        s += first[i] * b[i, 1]
        b[0, i] = s * first[3]
    return s + (first**2).sum()


def eliminated(a):
    b = a @ a.T
    for k in range(2):
        pivot = b[k]
        for i in range(k + 1, 3):
            row = b[i]
            row -= pivot * (row[k] / pivot[k])
    return np.log(np.abs(np.diag(b))).sum()


def results_of_functions(a):
    b = a * 1.0
    np.multiply(b[0], b[1], out=b[2])
    np.fill_diagonal(b[:, 1:], b[0, :3] ** 2)
    np.add.at(b[1], [0, 0], b[2, 2])
    left, right = np.split(b, 2, axis=1)
    left *= right
    return (b**3).sum()


def parts_of_complex_numbers(a):
    z = a + 1j * a**2
    z.real = z.imag * a
    re = np.real(z)
    re[1] = z.T.imag[:, 0] ** 2
    for k in range(3):
        z.imag[k] += 1.5 * re[k, 0]
        z[k] *= z[k - 1]
    return np.sum(z * z).imag + re.sum()


def put(a):
    b = a * 1.0
    b.put([1, 5], b[0, 2:] ** 2)
    np.put(b[1:], [2], b[0, 1] * 3)
    return (b**3).sum()


def given(a):
    last = a[-1]
    a[0][1:] *= last[1]
    a.T[2] += a[1, 1]
    last *= 2
    return (a**2).sum() * last.mean()


A = np.random.default_rng(0).normal(size=(3, 4)) + 2
DOT = np.random.default_rng(1).normal(size=(3, 4))


def derivatives(f):
    y, back = ad.pullback(f, A.copy())
    a = A.copy()
    return (
        ad.withgradient(f, a),
        a,
        (y, back(1.0)[-1], back(2.0)[-1]),
        ad.pushforward(f, (A.copy(),), (DOT,)),
        ad.hvp(f, A.copy(), DOT),
    )


COVERED = [
    normalised_rows,
    rows_of_an_iteration,
    transposed,
    flattened,
    halves,
    view_of_a_view,
    callees,
    in_a_list,
    in_a_while_loop,
    in_branches,
    read_after_writes_in_a_loop,
    eliminated,
    results_of_functions,
    parts_of_complex_numbers,
    put,
    given,
]


@pytest.mark.parametrize("f", [*COVERED, copied_by_reshape])
def test_derivatives_agree(f):
    found = derivatives(f)
    store.is_enabled[0] = False
    try:
        expected = derivatives(f)
    finally:
        store.is_enabled[0] = True
    assert not difference(found, expected, rtol=1e-10)
    h = 1e-6
    slope = (f(A + h * DOT) - f(A - h * DOT)) / (2 * h)
    assert abs(slope - np.vdot(found[0][1][0], DOT)) <= 1e-5 * max(1.0, abs(slope))


@pytest.mark.parametrize("f", COVERED)
def test_programs(f):
    assert ad.tier(f, A.copy()).tier == "fast"


def test_a_view_is_read_where_it_is():
    def last_but_one(a):
        v = a.ravel() * 1.0
        for i in range(1, len(v)):
            w = v[1:]
            w[i - 1] = np.sin(v[i - 1]) * w[i - 1]
        return v[-1]

    code = ad.code(last_but_one, A.copy())
    assert "zeros_like(w)" not in code  # its cotangent is a part of that of `v`


def replaced_by_itself(x, w):
    x[2] = x[2]
    return np.sum(x * x) + np.sum(w)


def own_slice(x):
    x[:2] = x[:2]
    return x[0]


def test_a_part_assigned_to_itself_is_a_write():
    x = np.arange(1.0, 10.0).reshape(3, 3)
    _, w_bar = ad.gradient(replaced_by_itself, x, x.T[0])
    assert list(w_bar) == [1, 1, 0]  # the last one has been overwritten
    fixed = np.ones(3)
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        ad.gradient(own_slice, fixed)
