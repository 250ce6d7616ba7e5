"""A tape that is watched gives what other tapes give: of every function of the corpus."""

import pytest

import adjoint as ad
from adjoint.explanation.observed_tape import ObservedTape
from adjoint.levels import reverse
from tests.corpus import all_cases
from tests.levels import check_tape

CASES = all_cases()

REFUSED = {
    "functools_and_decorators/cache_that_evicts": "depends on what has changed since",
    "functools_and_decorators/cache_writes": "depends on what has changed since",
}
"""What runs on levels refuse."""


def new_tape(outer):
    return ObservedTape()


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_the_corpus(case, monkeypatch):
    monkeypatch.setattr(reverse, "Tape", new_tape)
    if case.name in REFUSED:
        with pytest.raises(ad.errors.NoDerivativeError, match=REFUSED[case.name]):
            check_tape(case.sample)
    else:
        check_tape(case.sample)
