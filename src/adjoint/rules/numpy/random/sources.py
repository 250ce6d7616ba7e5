"""Generators of random numbers, their draws without derivative, and draws into an output."""

from __future__ import annotations

import numpy as np

from adjoint.rulekit.registry import non_differentiable
from adjoint.rules.numpy.constants import members
from adjoint.rules.numpy.protocols.out import take_output

DISTRIBUTIONS = """
    binomial bytes geometric hypergeometric integers logseries multinomial
    multivariate_hypergeometric negative_binomial poisson rand randint randn random random_integers
    random_sample ranf sample standard_cauchy standard_exponential standard_normal zipf
"""
"""Draws without parameters, and of integers."""
DRAWS = {
    "random": (3, 1), "standard_normal": (3, 1), "standard_exponential": (4, 1),
    "standard_gamma": (4, 2),
}  # fmt: skip
"""Positions of ``out`` and ``size`` in methods, the object itself included."""

for _source in (np.random, np.random.Generator, np.random.RandomState):
    non_differentiable(*members(_source, DISTRIBUTIONS))
non_differentiable(
    *members(np.random, "default_rng seed get_state set_state Generator RandomState SeedSequence"),
    *members(np.random, "PCG64 PCG64DXSM MT19937 Philox SFC64"),
    *members(np.random.Generator, "spawn bit_generator"),
    *members(np.random.RandomState, "seed get_state set_state tomaxint"),
)

for _name, (_place, _size) in DRAWS.items():
    _f = getattr(np.random.Generator, _name)
    take_output(_f, (np.random.Generator, _name), _place, _size)
