"""Every corpus function against finite differences, with all that a pullback promises."""

from __future__ import annotations

import pytest

from tests.corpus import all_cases
from tests.corpus.registry import Case
from tests.support import check_sample

CASES = all_cases()


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_case(case: Case) -> None:
    check_sample(case.sample)


def test_corpus_is_broad() -> None:
    functions = {case.name.partition("#")[0] for case in CASES}
    groups = {name.partition("/")[0] for name in functions}
    assert len(functions) >= 230 and len(groups) >= 24
