"""The corpus without its source: what is lowered gives what it gives with it, and the rest is
refused."""

from __future__ import annotations

import types

import pytest

import adjoint as ad
from adjoint.errors import MutationError, NoDerivativeError, UnsupportedSyntaxError
from adjoint.frontend.bytecode import lower
from tests.fast.agreeing import generic_tier
from tests.frontend.bytecode.sourceless import sourceless_cases
from tests.ir.interpreter import interpreted
from tests.structures import difference, mapped
from tests.support import Sample, check_sample, materialised

CASES = {case.name: (case.sample, without.sample) for case, without in sourceless_cases()}
REFUSED = (
    "'try'",
    "'with'",
    "'match'",
    "'for'",
    "'while'",
    "'yield'",
    "the elements of a 'generator'",  # so does what made it
    "may store something",  # also what is called, and cannot be read itself
    "which has neither a rule nor Python source, changed the",  # so does what was called
    "which has neither a rule nor Python source, stored the",
)


def bars(sample: Sample) -> object:
    """The cotangents by the generic tier, which knows of each call where there is no path."""
    sample.reset()
    f, *args = mapped((sample.f, *sample.args))
    with generic_tier():
        y, back = ad.pullback(f, *args, **sample.kwargs)
        return mapped(materialised(back(sample.y_bar(y))))


def is_lowered(sample: Sample) -> bool:
    if not isinstance(sample.f, types.FunctionType):
        return False
    try:
        lower(sample.f)
    except UnsupportedSyntaxError:
        return False
    return True


LOWERED = [name for name, (_, without) in CASES.items() if is_lowered(without)]


@pytest.mark.parametrize("name", CASES)
def test_without_source(name: str) -> None:
    """What is lowered is right; the rest is refused for a reason that is known."""
    with_source, without = CASES[name]
    try:
        check_sample(without)
    except (NoDerivativeError, MutationError) as error:
        assert any(words in error.problem for words in REFUSED), error.problem
    else:
        assert difference(bars(without), bars(with_source), rtol=1e-9) is None


def test_much_of_the_corpus_needs_no_source() -> None:
    assert len(LOWERED) >= 0.55 * len(CASES)


LOOKS_AT_FRAMES = {"executed/class_of_the_module_that_asks"}


@pytest.mark.parametrize("name", [name for name in LOWERED if name not in LOOKS_AT_FRAMES])
def test_interpreted(name: str) -> None:
    """By itself, too, the IR does what the function does."""
    _, sample = CASES[name]
    sample.reset()
    f, *args = mapped((sample.f, *sample.args))
    found = interpreted(f, lower=lower)(*args, **sample.kwargs), args
    y, (_, *left) = sample.plain()
    assert difference(found, (y, left), rtol=1e-13) is None
