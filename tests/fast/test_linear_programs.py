"""Linear programs as operations of programs, and second derivatives of arrays that are joined."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment, linprog

import adjoint as ad
from adjoint.errors import NoDerivativeError
from adjoint.fast.build.modes import mode_of
from adjoint.fast.programs import store
from tests.fast.agreeing import generic_tier
from tests.fast.second_order import check_programs

P = np.array([1.2, 0.7, 0.4])
V = np.array([0.3, -0.8, 0.5])


def of_lists(p):
    found = linprog([-p[0], -p[1]], A_ub=[[1.0, 2.0 + p[2]], [3.0, 1.0]], b_ub=[4.0 * p[0], 6.0])
    return found.fun + found.x[0] * found.x[1]


def with_bounds(p):
    found = linprog(
        np.array([-p[0], -p[1], 1.0]),
        np.array([[1.0, p[2], 0.0]]),
        np.array([4.0]),
        bounds=[(0, p[1]), (None, None), (p[2] ** 2, None)],
    )
    return np.sum(found.x * np.array([1.0, 2.0, p[0]])) * found.success


def with_equations(p):
    matrix = np.array([[1.0, 1.0, p[0]], [0.0, 1.0, -p[1]]])
    found = linprog([p[0], 3.0, p[2]], [[1, 0, 0]], [9], matrix, [2.0, 0.1], bounds=(0.1 * p[2], 5))
    return found.fun * found.slack[0] + found.x @ found.x + found.status


def with_one_pair_of_bounds(p):
    return linprog(p - 0.5, bounds=(-p[0], p[1])).x @ np.array([1.0, 2.0, 3.0])


FUNCTIONS = [of_lists, with_bounds, with_equations, with_one_pair_of_bounds]


@pytest.mark.parametrize("f", FUNCTIONS)
def test_derivatives(f):
    for p in (P, 0.9 * P + 0.05):
        value, (bar,) = ad.withgradient(f, p)
        report = ad.tier(f, p)
        assert str(report).splitlines()[0].endswith("fast tier"), report
        assert not report.opaque
        assert value == f(p)
        assert type(value) is type(f(p))
        along, dot = ad.hvp(f, p, V), ad.pushforward(f, (p,), (V,))[1]
        with generic_tier():
            expected, second = ad.gradient(f, p)[0], ad.hvp(f, p, V)
        np.testing.assert_allclose(bar, expected, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(along, second, rtol=1e-8, atol=1e-10)
        assert dot == pytest.approx(bar @ V, rel=1e-9)
        h = 1e-5
        slopes = [(f(p + h * e) - f(p - h * e)) / (2 * h) for e in np.eye(3)]
        np.testing.assert_allclose(bar, slopes, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("f", FUNCTIONS)
def test_second_derivatives_ask_no_interpreter(f):
    ad.hvp(f, P, V)
    kept = store.known(f, mode_of("hvp", (0,), is_single=True))
    assert kept is not None
    assert kept.entries
    assert not any("TangentsOfRule" in entry.source for entry in kept.entries)


@pytest.mark.parametrize("c", [np.array([-1.0, -1.0]), np.zeros(2)])
def test_solutions_that_are_not_determined_are_refused(c):
    f = lambda p: linprog(c * p[0], [[1.0, 1.0]], [p[1]]).x[0]
    with pytest.raises(NoDerivativeError):
        ad.gradient(f, P)


def test_other_options_are_as_in_the_generic_tier():
    f = lambda p: linprog([-1.0, p[0]], [[1.0, 1.0]], [1.5], integrality=[1, 0]).fun
    with generic_tier():
        with pytest.raises(NoDerivativeError) as expected:
            ad.gradient(f, P)
    with pytest.raises(NoDerivativeError) as found:
        ad.gradient(f, P)
    assert str(found.value) == str(expected.value)


# ---- arrays that are joined ----------------------------------------------------------------------

A = np.arange(6.0).reshape(2, 3)
JOINED = {
    "numbers": lambda p: np.ravel([1.0, p[1] * p[0], p[2]]) @ p**2,
    "numbers and integers": lambda p: (
        p[2] * np.reshape([[1, p[0] ** 2], [p[1], 2]], -1) @ np.arange(4.0)
    ),
    "a constant array first": lambda p: np.sum(np.concatenate((T, p * p, [p[0] ** 3])) ** 2),
    "rows": lambda p: np.sum(np.vstack([A, p * p[0], A]) ** 3),
    "columns": lambda p: np.sum(np.column_stack([A.T, np.exp(p)]) ** 2),
    "on an axis": lambda p: np.sum(np.stack([A[0], p * p, A[1]], axis=1)[1:] ** 3),
    "selected": lambda p: np.prod(np.concatenate([np.outer(p, p), A])[[0, 3, 1]] + 1.0),
    "constant cotangents": lambda p: np.sum(np.concatenate((A[0], p * p))[2:]),
    "one twice": lambda p: np.sum(np.concatenate((p, np.sin(p), p))[1:-1] ** 3),
}  # fmt: skip
T = np.linspace(0.0, 1.0, 4)


@pytest.mark.parametrize("name", JOINED)
def test_joined_arrays(name):
    f = JOINED[name]
    along, h = ad.hvp(f, P, V), 1e-5
    moved = (ad.gradient(f, P + h * V)[0] - ad.gradient(f, P - h * V)[0]) / (2 * h)
    np.testing.assert_allclose(along, moved, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(ad.hessian(f, P) @ V, along, rtol=1e-10, atol=1e-12)
    kept = store.known(f, mode_of("hvp", (0,), is_single=True))
    assert kept is not None
    assert kept.entries
    assert not any("TangentsOfRule" in entry.source for entry in kept.entries)
    with generic_tier():
        np.testing.assert_allclose(ad.hvp(f, P, V), along, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("maximize", [False, True])
def test_assignments(maximize):
    cost = np.random.default_rng(0).random((4, 5))

    def f(x):
        chosen = x[linear_sum_assignment(x, maximize)]
        return (chosen**2).sum()

    check_programs(f, cost)
