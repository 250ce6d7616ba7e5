"""Every corpus function against finite differences, with all that a pullback promises."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from tests.corpus import all_cases
from tests.corpus.registry import REFUSED, Case
from tests.interruption import interrupt, pullbacks_run
from tests.levels import NESTINGS, SecondOrder, check_forward, check_tape
from tests.structures import difference, mapped
from tests.support import check_sample, materialised

CASES = all_cases()

pytestmark = pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_case(case: Case) -> None:
    check_sample(case.sample)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_exception_in_the_sweep(case: Case, generic_tier: None) -> None:
    """Wherever it comes from, the caller's data are as `f` left them, and `back` can be called.

    In the generic tier: a specialised program in which something raises is followed by it.
    """
    sample = case.sample
    y, left = sample.plain()
    y_bar = sample.y_bar(y)
    sample.reset()
    f, *args = mapped((sample.f, *sample.args))
    _, back = ad.pullback(f, *args, **sample.kwargs)

    first = mapped(materialised(back(mapped(y_bar))))
    count = pullbacks_run(lambda: back(mapped(y_bar)))
    for number in {0, count // 2, count - 1} if count else ():
        interrupt(lambda: back(mapped(y_bar)), number)
        assert difference((f, *args), left, rtol=1e-13) is None
    assert difference(materialised(back(mapped(y_bar))), first) is None


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.name)
def test_refused(case: Case) -> None:
    f, args = case.sample.f, case.sample.args
    for run in (
        lambda: ad.pullback(f, *args),
        lambda: ad.pushforward(f, args, (None,) * len(args)),
        lambda: ad.grad(lambda *given: ad.withgradient(f, *given).value)(*args),
    ):
        with pytest.raises(ad.AdjointError, match="store|context variable|bytearray"):
            run()


def test_corpus_is_broad() -> None:
    functions = {case.name.partition("#")[0] for case in CASES}
    groups = {name.partition("/")[0] for name in functions}
    assert len(functions) >= 500 and len(groups) >= 30


REFUSED_FORWARD = {
    "functools_and_decorators/cache_that_evicts": "depends on what has changed since",
    "functools_and_decorators/cache_writes": "depends on what has changed since",
}
"""What forward mode refuses, and why."""


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_forward(case: Case) -> None:
    if case.name in REFUSED_FORWARD:
        with pytest.raises(ad.errors.NoDerivativeError, match=REFUSED_FORWARD[case.name]):
            check_forward(case.sample)
    else:
        check_forward(case.sample)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_tape(case: Case) -> None:
    if case.name in REFUSED_FORWARD:
        with pytest.raises(ad.errors.NoDerivativeError, match=REFUSED_FORWARD[case.name]):
            check_tape(case.sample)
    else:
        check_tape(case.sample)


KINKS = ("numerics/viterbi", "numpy_elementwise/where_hides_infinite_derivative")
"""Points beside which the second derivative is another one."""


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_second_order(case: Case) -> None:
    """All nestings of the modes agree, and with differences of gradients; what may be refused is
    known beforehand."""
    second = SecondOrder(case.sample)
    found = {}
    for nesting in NESTINGS:
        try:
            found[nesting] = float(getattr(second, nesting)())
        except ad.AdjointError as error:
            if case.name not in REFUSED_FORWARD or REFUSED_FORWARD[case.name] not in str(error):
                raise
    reference = None if case.name in KINKS else second.differences()
    values = [*found.values()]
    scale = max(map(abs, values), default=0.0)
    assert np.ptp(values or [0.0]) <= 1e-7 * max(1.0, scale), found
    if reference is not None and values:
        assert abs(values[0] - reference) <= 1e-4 * max(1.0, scale), (found, reference)
