"""The table of rules and their cases.

A file of tests has a dict ``CASES`` from what a rule is registered for to a list of argument
tuples, one line per rule, and ``test_rule = table(CASES)``. `case` gives keyword arguments or
tolerances.
"""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import adjoint.rules
from adjoint.rules import registry
from adjoint.testing import check_rule


class Case(NamedTuple):
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    tolerances: dict[str, float]


def case(*args, tolerances=None, **kwargs):
    """One call of the function; `tolerances` are ``rtol`` and ``atol`` of `check_rule`."""
    return Case(args, kwargs, tolerances or {})


def table(cases):
    """A test that checks every line of the table."""
    params = [
        pytest.param(key, call if isinstance(call, Case) else case(*call), id=f"{name_of(key)}-{i}")
        for key, calls in cases.items()
        for i, call in enumerate(calls)
    ]

    @pytest.mark.parametrize("key, call", params)
    def test_rule(key, call):
        check_rule(key, *call.args, **call.tolerances, **call.kwargs)

    return test_rule


def name_of(key):
    """A short name for the test's id."""
    if isinstance(key, tuple):
        return f"{key[0].__name__}.{key[1]}"
    return getattr(key, "__name__", repr(key))


def load_all_rules():
    """Import every rule file that there is, also those that load lazily."""
    for module in pkgutil.walk_packages(adjoint.rules.__path__, "adjoint.rules."):
        importlib.import_module(module.name)


def all_cases():
    """What the tables of all files of tests have a line for."""
    tests = Path(__file__).parent.parent
    keys = set()
    for path in [*sorted((tests / "rules").rglob("test_*.py")), tests / "nn" / "test_rules.py"]:
        name = ".".join(path.relative_to(tests.parent).with_suffix("").parts)
        cases = getattr(importlib.import_module(name), "CASES", {})
        keys.update(registry.key_of(key) for key, calls in cases.items() if calls)
    return keys


# ---- operands ------------------------------------------------------------------------------------


def reals(*shape, low=-2.0, high=2.0, seed=0, dtype=float):
    """An array of distinct numbers in general position."""
    return np.random.default_rng(seed).uniform(low, high, shape).astype(dtype)


def complexes(*shape, seed=0):
    """A complex array in general position."""
    return reals(*shape, seed=seed) + 1j * reals(*shape, seed=seed + 1)
