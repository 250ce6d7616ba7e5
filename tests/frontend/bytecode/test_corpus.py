"""The corpus without its source: what is lowered gives what it gives with it, and the rest is
refused."""

from __future__ import annotations

import functools
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
    "'yield from'",
    "the body of class",  # handles an exception
    "the elements of a 'generator'",  # so does what made it
    "has stored is needed",  # so does what was called and stored something
    "which has neither a rule nor Python source, changed the",  # so does what was called
)


@functools.cache
def is_right(name: str) -> bool:
    """Whether the case is lowered, and right; else it is refused for a reason that is known."""
    with_source, without = CASES[name]
    try:
        check_sample(without)
    except (NoDerivativeError, MutationError) as error:
        assert any(words in error.problem for words in REFUSED), error.problem
        return False
    assert difference(bars(without), bars(with_source), rtol=1e-9) is None
    return True


def bars(sample: Sample) -> object:
    """The cotangents by the generic tier, which knows of each call where there is no path."""
    sample.reset()
    f, *args = mapped((sample.f, *sample.args))
    with generic_tier():
        y, back = ad.pullback(f, *args, **sample.kwargs)
        return mapped(materialised(back(sample.y_bar(y))))


@pytest.mark.parametrize("name", CASES)
def test_without_source(name: str) -> None:
    is_right(name)


def test_most_of_the_corpus_needs_no_source() -> None:
    assert len(LOWERED) >= 657 and sum(map(is_right, CASES)) >= 645


def is_lowered(sample: Sample) -> bool:
    if not isinstance(sample.f, types.FunctionType):
        return False
    try:
        lower(sample.f)
    except UnsupportedSyntaxError:
        return False
    return True


LOWERED = [name for name, (_, without) in CASES.items() if is_lowered(without)]


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
