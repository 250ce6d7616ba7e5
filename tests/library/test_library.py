"""Every function against finite differences, and against a gradient by hand if there is one."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import adjoint as ad
from tests.levels import check_forward, check_tape
from tests.library import all_cases
from tests.library.registry import Case
from tests.support import Sample, check_reverse

CASES = all_cases()


def _ids(cases: list[Case]) -> list[str]:
    return [f"{i}-{case.name}" for i, case in enumerate(cases)]


@pytest.mark.parametrize("case", CASES, ids=_ids(CASES))
def test_by_finite_differences(case: Case) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_reverse(case.call, *case.args, **case.kwargs)


# ase assigns the shape of an array, which is refused there by name
ON_LEVELS = [case for case in CASES[::3] if case.package != "ase"]


@pytest.mark.parametrize("case", ON_LEVELS, ids=_ids(ON_LEVELS))
def test_on_levels(case: Case) -> None:
    """Forward mode, and reverse mode on a tape, give what reverse mode gives."""
    sample = Sample(case.call, case.args, case.kwargs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_forward(sample)
        check_tape(sample)


DERIVED = [case for case in CASES if case.derived is not None]


@pytest.mark.parametrize("case", DERIVED, ids=_ids(DERIVED))
def test_by_hand(case: Case) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = ad.gradient(case.call, *case.args, **case.kwargs)
        assert case.derived is not None
        wanted = case.derived(*case.args)
    if len(found) == 1:
        wanted = (wanted,)
    for bar, expected in zip(found, wanted, strict=True):
        np.testing.assert_allclose(bar, expected, rtol=1e-9, atol=1e-12)


def test_many_functions_of_many_packages() -> None:
    functions = {case.name for case in CASES}
    packages = {case.package for case in CASES}
    assert len(functions) >= 150 and len(packages) >= 15
    assert len({case.name for case in DERIVED}) >= 20
