"""Every rule, differentiated twice: rules are code like any other, and what they leave out would be
a wrong number."""

from __future__ import annotations

import copy
import importlib
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from tests.levels import NESTINGS, SecondOrder
from tests.rules.harness import Case, case, name_of
from tests.support import Sample

HELD = (int, bool, str, type(None), type, np.integer, np.dtype, np.random.Generator)
"""Types of arguments that are not differentiated in."""

LEFT_OUT = {
    "solve_continuous_are": "takes a matrix for Hermitian, which a step does not leave it",
    "solve_discrete_are": "the same",
    "sosfilt": "takes sections whose leading coefficients are 1, which a step does not leave them",
    "fitpack_coefficients": "takes the knots of its positions, which a step does not leave it",
    "class_coefficients": "the same",
    "SuperLU.solve": "has an object for its first argument",
    "flattened": "the same",
}


def _lines() -> Iterator[Any]:
    """The first line of each rule in the tables."""
    here = Path(__file__).parent
    seen = set()
    for path in sorted(here.rglob("test_*.py")):
        if path == Path(__file__):
            continue
        name = ".".join(path.relative_to(here.parent.parent).with_suffix("").parts)
        for key, calls in getattr(importlib.import_module(name), "CASES", {}).items():
            call = next(iter(calls), None)
            if call is not None and key not in seen and name_of(key) not in LEFT_OUT:
                seen.add(key)
                call = call if isinstance(call, Case) else case(*call)
                yield pytest.param(key, call, id=f"{name.rpartition('.')[2]}-{name_of(key)}")


def _is_held(arg: Any) -> bool:
    return isinstance(arg, (*HELD, np.random.RandomState)) or (
        isinstance(arg, np.ndarray) and arg.dtype.kind not in "fc"
    )


def _function(key: Any) -> Any:
    if isinstance(key, tuple):
        found = getattr(*key)
        return found if callable(found) else lambda x: getattr(x, key[1])
    return key


@pytest.mark.parametrize("key, call", [*_lines()])
def test_twice(key: Any, call: Case) -> None:
    function = _function(key)
    places = [i for i, arg in enumerate(call.args) if not _is_held(arg)]

    # not captured: what is captured would be copied for each evaluation
    def f(*given: Any, function: Any = function, call: Case = call, places: Any = places) -> Any:
        args = [copy.deepcopy(arg) for arg in call.args]
        for i, arg in zip(places, given, strict=True):
            args[i] = arg
        return function(*args, **call.kwargs)

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        second = SecondOrder(Sample(f, tuple(call.args[i] for i in places)))
        found = {}
        for nesting in NESTINGS:
            try:
                found[nesting] = float(getattr(second, nesting)())
            except ad.errors.NoDerivativeError:
                continue
        if len(found) < len(NESTINGS):
            pytest.skip("refused in some mode")
        reference = second.differences(1e-5)
    values = [*found.values()]
    scale = max(1.0, *map(abs, values))
    assert np.ptp(values) <= 1e-6 * scale, found
    if reference is not None and np.isfinite(reference):
        assert abs(values[0] - reference) <= 1e-3 * scale, (found, reference)
