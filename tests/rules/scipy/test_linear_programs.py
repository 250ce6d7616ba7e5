"""Derivatives of solutions of linear programs."""

import numpy as np
import pytest
from scipy import optimize

import adjoint as ad
from adjoint.errors import NoDerivativeError

P = np.array([1.0, 0.7, 2.0])


def of_inequalities(p):
    found = optimize.linprog([-p[0], -2.0], A_ub=[[p[1], 1.0], [1.0, 3.0]], b_ub=[2 * p[2], 6.0])
    return found.x @ np.array([1.0, 3.0]) + found.fun**2 + found.slack @ np.array([2.0, 3.0])


def of_equations_and_bounds(p):
    bounds = [(0.3 * p[0], None), (None, 1.5 * p[1]), (0, 10)]
    found = optimize.linprog(
        [p[0], -2.0, 1.5], A_eq=[[1.0, p[1], 1.0]], b_eq=[p[2] * 3], bounds=bounds
    )
    return found.x @ np.array([1.0, 2.0, 5.0]) + found.fun


def in_one_pair_of_bounds(p):
    return optimize.linprog(np.array([-1.0, 2.0]) * p[0], bounds=(p[1], p[2])).fun


@pytest.mark.parametrize("f", [of_inequalities, of_equations_and_bounds, in_one_pair_of_bounds])
def test_derivatives(f):
    value, (bar,) = ad.withgradient(f, P)
    assert value == f(P)
    h = 1e-5
    expected = [(f(P + h * e) - f(P - h * e)) / (2 * h) for e in np.eye(3)]
    np.testing.assert_allclose(bar, expected, rtol=1e-6, atol=1e-8)
    assert ad.pushforward(f, (P,), (np.ones(3),))[1] == pytest.approx(bar.sum())
    moved = [ad.gradient(f, P + h * e)[0] - ad.gradient(f, P - h * e)[0] for e in np.eye(3)]
    np.testing.assert_allclose(ad.hessian(f, P), np.array(moved) / (2 * h), rtol=1e-5, atol=1e-6)


def of_several_solutions(b):
    return optimize.linprog([-1.0, -1.0], A_ub=[[1.0, 1.0]], b_ub=[b]).x[0]


def where_three_lines_meet(b):
    return optimize.linprog(
        [-1.0, -1.0], A_ub=[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], b_ub=[b, 1.0, 2.0]
    ).fun


@pytest.mark.parametrize("f", [of_several_solutions, where_three_lines_meet])
def test_what_no_vertex_determines_is_refused(f):
    with pytest.raises(NoDerivativeError, match="no vertex"):
        ad.gradient(f, 1.0)
