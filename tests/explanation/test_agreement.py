"""A tape that is watched gives what other tapes give: of every function of the corpus."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.explanation.observed_tape import ObservedTape
from adjoint.levels import reverse
from tests.corpus import all_cases
from tests.levels import check_tape
from tests.structures import difference, mapped

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


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_explanations(case):
    """Of functions that return a number: value, gradient, contributions; and all can be shown."""
    sample = case.sample
    y, left = sample.plain()
    if not isinstance(y, float | np.floating) or case.name in REFUSED:
        return
    sample.reset()
    f, *args = mapped((sample.f, *sample.args))
    expected = ad.withgradient(f, *args, **sample.kwargs)
    sample.reset()
    f, *args = mapped((sample.f, *sample.args))
    found = ad.explain(f, *args, **sample.kwargs)
    rtol, atol = (1e-4, 1e-4) if y.__class__ in (np.float16, np.float32) else (1e-7, 1e-9)
    assert difference(found.value, expected.value, rtol=rtol) is None
    assert difference((f, *args), left, rtol=1e-12) is None
    close(found.gradient, expected.gradient, rtol, atol)
    for one, bar in zip(found._run.tape.inputs, found._run.bars, strict=True):
        if found._run.tape.journal is not None:
            total = found.to(one.name).total
            assert np.allclose(total, 0.0 if bar is None else bar, rtol=1e-6, atol=atol)
    shown = [str(found), *map(str, found.steps()), found.to_svg(), found.to_dot()]
    assert all(shown)
    assert len(found.to_html().encode()) < 1_000_000


def close(found, expected, rtol, atol):
    """Compare two cotangents of one structure."""
    flat = [[], []]
    for values, side in zip((found, expected), flat):
        mapped(values, lambda leaf: side.append(leaf) or leaf)
    assert len(flat[0]) == len(flat[1])
    for one, other in zip(*flat):
        assert np.allclose(one, other, rtol=rtol, atol=atol, equal_nan=True)
