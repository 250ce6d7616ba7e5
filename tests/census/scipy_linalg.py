"""`scipy.linalg`: what is not in the tables of rules."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from tests.census.entries import Section, case, public, via
from tests.rules.harness import reals

V, W, X = reals(4) + 3, reals(3, seed=1), reals(3, 3)


def symmetric(f):
    """A function of symmetric matrices, of any."""
    return lambda a, b, q, r: f(a, b, q @ q.T, r @ r.T)


RICCATI = reals(2, 2), reals(2, 1, seed=1), reals(2, 2, seed=2) + np.eye(2), np.array([[1.5]])
EXAMPLES = {
    "block_diag": case(X, V, 2.0),
    "cdf2rdf": via(lambda a: linalg.cdf2rdf(*linalg.eig(a))[0], X),
    "circulant": case(V),
    "companion": case(V),
    "convolution_matrix": case(V, 3),
    "diagsvd": case(W, 3, 4),
    "fiedler": case(V),
    "fiedler_companion": case(V),
    "hankel": case(V, V[::-1]),
    "khatri_rao": case(X, reals(2, 3)),
    "leslie": case(V, W),
    "null_space": case(reals(2, 3)),
    "orth": case(reals(3, 2)),
    "orthogonal_procrustes": case(X, X[::-1] * 2),
    "solve_circulant": case(V, V + 1),
    "solve_continuous_are": via(symmetric(linalg.solve_continuous_are), *RICCATI),
    "solve_discrete_are": via(symmetric(linalg.solve_discrete_are), *RICCATI),
    "subspace_angles": case(reals(4, 2), reals(4, 2, seed=1)),
    "toeplitz": case(V, W),
}

SECTIONS = [Section("scipy.linalg", public(linalg), EXAMPLES)]
