"""Nodes and weights of quadratures, which are computed once for each number of nodes: definitions
that programs call."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev, hermite, hermite_e, laguerre, legendre

from adjoint.fast.evaluate.callees.numpy_definitions import definition
from adjoint.rulekit.registry import non_differentiable
from adjoint.rules.scipy.equivalents import result_like

_functions: dict[str, Any] = {}
"""Functions by name."""


@result_like(lambda name, n: np.zeros((2, n)))
@non_differentiable
def _rule(name, n):
    return np.array(_known(name, n))


@functools.lru_cache(256, typed=True)
def _known(name, n):
    return np.stack(_functions[name](n))


def of_a_number(f):
    """Register a function that returns nodes and weights of a number of nodes."""
    name = f.__name__
    _functions[name] = f

    @definition(f)
    def nodes_and_weights(n):
        nodes, weights = _rule(name, n)
        return np.copy(nodes), np.copy(weights)


for _f in (
    chebyshev.chebgauss, hermite.hermgauss, hermite_e.hermegauss, laguerre.laggauss,
    legendre.leggauss,
):  # fmt: skip
    of_a_number(_f)
