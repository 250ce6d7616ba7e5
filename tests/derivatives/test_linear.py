"""`adjoint.linearize`: recorded once, the same as forward mode along any tangent."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from adjoint.derivatives.linear_map import linearized
from tests.corpus import all_cases
from tests.corpus.registry import Case
from tests.levels import paired, tangents
from tests.structures import difference, mapped
from tests.support import is_single
from tests.test_corpus import REFUSED_FORWARD

CASES = [case for case in all_cases() if case.name not in REFUSED_FORWARD]


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_corpus(case: Case) -> None:
    """Recorded along other tangents, followed by some, twice: what forward mode gives."""
    sample = case.sample
    y_plain, left = sample.plain()
    y_bar = sample.y_bar(y_plain)
    dots = tangents(sample, np.random.default_rng(1))
    sample.reset()
    f, *args = mapped((sample.f, *sample.args))
    expected = paired(y_bar, ad.pushforward(f, args, dots, **sample.kwargs)[1])
    sample.reset()
    f, *args = mapped((sample.f, *sample.args))
    wanted = [i for i, dot in enumerate(dots) if dot is not None]
    y, push = linearized(f, tuple(args), sample.kwargs, wanted)
    rtol = 1e-3 if is_single((sample.f, sample.args, y)) else 1e-9
    for _ in range(2):
        found = paired(y_bar, push(*dots))
        assert abs(found - expected) <= rtol * max(1.0, abs(expected))
    assert difference((f, *args), left, rtol=1e-13) is None, "the caller's data"
