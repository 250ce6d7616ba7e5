"""What the library refuses goes through the ``except`` clauses of the code that is differentiated:
what these do is not what the function does."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

import adjoint as ad
from adjoint.errors import AdjointError, MutationError

X = np.array([3.0, 4.0])


def resized(v):
    v.resize(5)
    return v.sum()


def by_except(v):
    w = v * 1.0
    try:
        w.resize(5)
    except Exception:
        return v[0] * 1.5
    return v[1] * w.shape[0]


def by_a_bare_except(v):
    w = v * 1.0
    try:
        [w][0].resize(5)
    except:  # noqa: E722
        return v[0] * 1.5
    return v[1] * w.shape[0]


def by_suppress(v):
    w = v * 1.0
    with contextlib.suppress(Exception):
        w.resize(5)
        return v[1] * w.shape[0]
    return v[0] * 1.5


def by_returning_finally(v):
    w, found = v * 1.0, [0.0]
    try:
        w.resize(5)
        found[0] = v[1]
    finally:
        return found[0] * w.shape[0]


def by_raising_finally(v):
    w, found = v * 1.0, [0.0]
    try:
        try:
            w.resize(5)
            found[0] = v[1]
        finally:
            raise ValueError
    except ValueError:
        return found[0] * w.shape[0]


def by_leaving_a_loop(v):
    w, found = v * 1.0, [0.0]
    for _ in range(1):
        try:
            w.resize(5)
            found[0] = v[1]
        finally:
            break
    return found[0] * w.shape[0]


SWALLOWING = [
    by_except,
    by_a_bare_except,
    by_suppress,
    by_returning_finally,
    by_raising_finally,
    by_leaving_a_loop,
]


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@pytest.mark.parametrize("f", SWALLOWING)
def test_a_refusal_is_not_swallowed(f):
    assert f(X) == 20.0
    for run in (
        ad.grad(f),
        ad.grad(f, tier="generic"),
        lambda x: ad.hessian(f, x),
        lambda x: ad.pushforward(f, (x,), (np.ones(2),)),
    ):
        with pytest.raises(MutationError, match="resize"):
            run(X)


def test_errors_of_derivatives_inside_are_caught():
    operators = {"slope": ad.gradient}

    def named(v):
        try:
            return ad.gradient(resized, v * 1.0)[0].sum()
        except AdjointError:
            return v[0] * 1.5

    def found(v):
        try:
            return operators["slope"](resized, v * 1.0)[0].sum()
        except AdjointError:
            return v[0] * 1.5

    def raised_by_user_code(v):
        try:
            raise MutationError("mine")
        except AdjointError:
            return v[0] * 1.5

    for f in (named, found, raised_by_user_code):
        for g in (ad.grad(f), ad.grad(f, tier="generic")):
            assert g(X).tolist() == [1.5, 0.0]
        assert ad.pushforward(f, (X,), (np.ones(2),)) == (4.5, 1.5)
