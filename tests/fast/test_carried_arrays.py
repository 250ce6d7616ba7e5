"""Arrays that a loop carries or a branch chooses, and that are written to."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

import adjoint as ad
from adjoint.fast.programs import store
from adjoint.runtime.results import with_zeros
from tests.structures import difference


def wave(u0, c, n):
    a = u0.copy()
    b = u0 * 1.0
    d = np.zeros_like(u0)
    for _ in range(n):
        d[1:-1] = 2 * b[1:-1] - a[1:-1] + c * (b[2:] - 2 * b[1:-1] + b[:-2])
        a, b, d = b, d, a
    return (b**2).sum()


def with_while(u0, c, n):
    a = u0.copy()
    b = a.copy()
    d = np.empty(len(u0))
    d[:] = 0
    i = 0
    while i < n:
        d[1:-1] = 2 * b[1:-1] - a[1:-1] + c * (b[2:] - 2 * b[1:-1] + b[:-2])
        d[0] = d[1]
        t = a
        a = b
        b = d
        d = t
        i += 1
    return (b**2).sum() + d.sum() * a[1]


def one_array_twice(u0, c, n):
    a = u0.copy()
    b = a
    d = np.zeros_like(u0)
    for _ in range(n):
        d[1:-1] = 2 * b[1:-1] - a[1:-1] * c
        a, b, d = b, d, a
    return (b**2).sum()


def read_by_another_name(u0, c, n):
    a = u0.copy()
    first = a
    b = u0.copy()
    d = np.zeros_like(u0)
    for _ in range(n):
        d[1:-1] = 2 * b[1:-1] - a[1:-1] * c
        a, b, d = b, d, a
    return (b**2).sum() + first.sum()


def an_argument(u0, c, n):
    a = u0
    b = u0.copy()
    for _ in range(n):
        b[1:-1] = a[1:-1] * c * b[2:]
        a, b = b, a
    return (b**2).sum()


def a_view_of_one(u0, c, n):
    a = u0 * 2
    b = u0.copy()
    v = a[1:]
    for _ in range(n):
        b[1:-1] = a[1:-1] * c * b[2:]
        a, b = b, a
    return (b**2).sum() + v.sum()


def another_length(u0, c, n):
    a = u0 * 2
    b = u0.copy()
    v = a[1:]
    for _ in range(n):
        b[1:-1] = a[1:-1] * c * b[2:]
        b, v = a, b
    return (b**2).sum() + v.sum()


def in_a_loop(u0, c, n):
    t = 0.0
    for k in range(3):
        a = u0 * k
        b = u0.copy()
        for _ in range(n):
            b[1:-1] = a[1:-1] * c * b[2:]
            a, b = b, a
        t = t + (b**2).sum()
    return t


def in_branches(u0, c, n):
    a = u0 * 2
    b = u0.copy()
    for i in range(n):
        if u0[i] > 1.5:
            b[1:-1] = a[1:-1] * c * b[2:]
        else:
            b[0] = c
        a, b = b, a
    return (b**2).sum()


def element_by_element(u0, c, n):
    a = u0 * 2
    b = u0.copy()
    for i in range(n):
        for j in range(len(a) - 1):
            b[j] = a[j] * c * b[j + 1]
        a, b = b, a
    return (b**2).sum() + a[1]


def bound_anew(u0, c, n):
    v = u0.copy()
    w = np.zeros_like(u0)
    for i in range(n):
        v += w * c
        v = v * u0[i] - c
        v[i] = w[1] + v[0] ** 2
        if v[1] > 0.5:
            w = np.where(v > 0, v, u0)
        w[2:] *= 0.5
    return (v**2).sum() + w.sum()


def changed_by_a_function(u0, c, n):
    def smooth(v):
        y = np.empty_like(v)
        y[1:-1] = c * (v[2:] + v[:-2])
        y[0], y[-1] = v[0] ** 2, v[-1]
        return y

    v = u0.copy()
    for _ in range(n):
        v = smooth(v)
        v[0] *= 0.5
    return (v**2).sum()


def chosen(u0, c, n):
    v = u0 * 2 if n > 1 else np.zeros_like(u0)
    w = u0.copy() if u0[0] > 0.9 else c * u0
    w[0] = v[1] ** 2
    v[1:] *= w[:-1]
    if u0[1] > 1.5:
        v = w * w
    elif c > 5:
        v = u0[:1] * np.ones(5)
    v += w
    return (v**2).sum() + w.sum()


def exchanged_in_a_branch(u0, c, n):
    v, w = u0 * c, u0.copy()
    for i in range(n):
        if v[i] < w[i]:
            v, w = w, v
        v[i] *= w[i] * 0.3
        w = w + 0.1
    return (v**2).sum() + w.sum()


def kept_best(u0, c, n):
    best, least = np.ones_like(u0), 1e9
    for i in range(n):
        other = best * c
        other[i] = u0[i]
        size = (other**2).sum()
        if size < least:
            best, least = other, size
            best[0] += 0.1
    best[-1] *= 3.0
    return (best**3).sum()


def kept_rows(u0, c, n):
    rows = [u0 * 2, u0.copy()]
    for i in range(n):
        rows[0][i] += rows[1][0] * c
        rows = [rows[1], rows[0] * 0.5]
    return (rows[0] * rows[1]).sum()


def kept_in_an_object(u0, c, n):
    state = {"v": u0.copy(), "w": np.zeros_like(u0)}
    for i in range(n):
        state["w"][1:] = state["v"][:-1] * u0[i]
        state["v"], state["w"] = state["w"], state["v"]
        state["w"] = state["w"] * c
    return (state["v"] ** 2).sum() + state["w"].sum()


def made_by_a_rule_in_each_iteration(u0, c, n):
    s = 0.0
    for _ in range(n):
        v, w, z = np.cumsum(u0), np.cumsum(u0), np.clip(u0, 0.6, 2.0)
        s = s + v.sum() * z[1]
        v[0] = c * u0[1] + s * 0.01
        z[1:] = v[:-1]
        s = s + (v * v).sum() * w[0] + (z**2).sum()
    return s


def chosen_and_read_by_another_name(u0, c, n):
    a = u0.copy()
    v = a if n > 1 or u0[0] > 0.9 else u0 * 2
    v[0] = c * u0[1]
    return (v**2).sum() + a.sum()


def chosen_twice(u0, c, n):
    a, b = u0.copy(), u0 * 2
    v = a if u0[0] > 0.9 else b
    w = a if u0[1] > 0.9 else b
    v[0] = c * u0[1]
    return (v * w).sum()


def chosen_argument(u0, c, n):
    v = u0 if u0[0] > 0.9 else u0 * 2
    v[0] = c * v[1]
    return (v**2).sum()


def read_in_a_later_iteration(u0, c, n):
    kept = u0.copy()
    v = u0 * c
    t = 0.0
    for i in range(n):
        t = t + kept[0] * v[1]
        if i == 1:
            v = kept
        v[0] += c * u0[i]
    return t


def written_by_its_older_name(u0, c, n):
    a = u0.copy()
    v = u0 * c
    for i in range(n):
        a[i] = v[0]
        if i == 1:
            v = a
    return (v**2).sum()


U = np.array([1.0, 2.0, 0.5, 3.0, 1.7])


def derivatives(f, n):
    y, back = ad.pullback(f, U.copy(), 0.3, n)
    bars = [
        [with_zeros(x, bar) for x, bar in zip((U, 0.3, n), back(s)[1:], strict=True)]
        for s in (1.0, 2.0)
    ]
    return (
        ad.withgradient(f, U.copy(), 0.3, n),
        (y, bars),
        ad.pushforward(f, (U.copy(), 0.3, n), (np.ones(5), 1.0, None)),
        ad.hvp(lambda u: f(u, 0.3, n), U.copy(), np.ones(5)),
    )


COVERED = [
    wave,
    with_while,
    in_a_loop,
    in_branches,
    element_by_element,
    bound_anew,
    changed_by_a_function,
    chosen,
    exchanged_in_a_branch,
    kept_best,
    kept_rows,
    kept_in_an_object,
    made_by_a_rule_in_each_iteration,
]
SHOWN = [
    one_array_twice,
    read_by_another_name,
    an_argument,
    a_view_of_one,
    another_length,
    chosen_and_read_by_another_name,
    chosen_twice,
    chosen_argument,
    read_in_a_later_iteration,
    written_by_its_older_name,
]


@pytest.mark.parametrize("n", [0, 1, 4])
@pytest.mark.parametrize("f", [*COVERED, *SHOWN])
def test_derivatives_agree(f, n):
    found = derivatives(f, n)
    store.is_enabled[0] = False
    try:
        expected = derivatives(f, n)
    finally:
        store.is_enabled[0] = True
    assert not difference(found, expected, rtol=1e-10)
    h = 1e-6
    ones = np.ones(5)
    slope = (f(U + h * ones, 0.3 + h, n) - f(U - h * ones, 0.3 - h, n)) / (2 * h)
    assert abs(slope - found[2][1]) <= 1e-6 * max(1.0, abs(slope))


@pytest.mark.parametrize("f", COVERED)
def test_programs(f):
    assert ad.tier(f, U.copy(), 0.3, 4).tier == "fast"


@pytest.mark.parametrize("f", SHOWN)
def test_writes_that_show_elsewhere_are_generic(f):
    assert ad.tier(f, U.copy(), 0.3, 4).tier == "generic"


RESULTS = {
    "solve": lambda u, m: np.linalg.solve(m, u),
    "append": lambda u, m: np.append(u, 1.0),
    "astype": lambda u, m: u.astype(float),
    "roll": lambda u, m: np.roll(u, 1),
    "svd": lambda u, m: np.linalg.svd(m + np.outer(u, u))[1],
    "diag": lambda u, m: np.diag(u),
    "list": lambda u, m: np.array([t * t for t in u]),
    "gaussian_filter": lambda u, m: (
        gaussian_filter(u, 1.0) if u[0] > 0.5 else gaussian_filter(u, 1.0) * 2
    ),
    "interp": lambda u, m: np.interp(u, 0.3 + np.arange(5.0), m[0]),
}
ALIASES = {
    "real": lambda u, m: np.real(u),
    "einsum": lambda u, m: np.einsum("ij->ji", m),
    "astype": lambda u, m: u.astype(float, copy=False),
    "nan_to_num": lambda u, m: np.nan_to_num(u, copy=False),
}


def written_result(make):
    def f(u, m):
        v = make(u, m)
        t = v.sum()
        v[..., 1] = t * u[0]
        return (v * v).sum() + u[1] * m[1, 1]

    return f


def written_in_a_loop(make):
    def f(u, m):
        t = 0.0
        for i in range(3):
            v = make(u * (1.0 + 0.1 * t), m) if i != 1 else make(u, m)
            v[..., 0] *= u[i] + t
            t = t + 0.1 * v.sum()
        return t

    return f


@pytest.mark.parametrize("wrapped", [written_result, written_in_a_loop])
@pytest.mark.parametrize("make", [*RESULTS.values(), *ALIASES.values()])
def test_writes_to_results_of_functions(make, wrapped):
    f = wrapped(make)
    m = np.diag(U) + 0.2 * np.outer(U, np.cos(U))
    step = np.linspace(0.5, 1.5, 5)

    def derivatives():
        u, n = U.copy(), m.copy()
        y, back = ad.pullback(f, u, n)
        bars = [
            [with_zeros(x, bar) for x, bar in zip((u, n), back(s)[1:], strict=True)]
            for s in (1.0, 2.0)
        ]
        tangent = ad.pushforward(f, (U.copy(), m.copy()), (step, np.sin(m)))
        return (
            (y, bars, u, n),
            ad.withgradient(f, U.copy(), m.copy()),
            tangent,
            ad.hvp(lambda u: f(u, m.copy()), U.copy(), step),
        )

    found = derivatives()
    store.is_enabled[0] = False
    try:
        expected = derivatives()
    finally:
        store.is_enabled[0] = True
    assert not difference(found, expected, rtol=1e-9)
    h = 1e-6
    ends = [f(U + s * step, m + s * np.sin(m)) for s in (h, -h)]
    slope = (ends[0] - ends[1]) / (2 * h)
    assert abs(slope - found[2][1]) <= 1e-6 * max(1.0, abs(slope))


@pytest.mark.parametrize("make", RESULTS.values(), ids=RESULTS)
def test_results_of_functions_may_be_written_to(make):
    f = written_result(make)
    m = np.diag(U) + 0.2
    ad.gradient(f, U.copy(), m)  # notes the type of a result
    assert ad.tier(f, U.copy(), m).tier == "fast"
