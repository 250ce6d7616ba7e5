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
    "'yield from'",
    "the elements of a 'generator'",  # so does what made it
    "may store something, and was called by",  # so does what was called and may store something
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


OTHERS_ARE_REFUSED = """
    array_iterators/of_lists array_iterators/of_numbers
    classes/attributes_of_another_object
    doubles/patched_in_a_callback
    exceptions/finally_overrides_return exceptions/missing_key_default
    exceptions/return_value_is_fixed_before_finally
    generators/classes_thrown_into generators/closed_early generators/closed_from_within
    generators/delegated generators/generator_method generators/generator_with_context
    generators/recursive_generator generators/results_in_spite_of_finally
    generators/resumed_while_it_runs generators/thrown_into
    generators/what_generators_say_of_themselves
    iteration/left_by_arrays_that_raise iteration/left_by_orders_that_raise
    iteration/left_by_sets_that_raise
    iterator_types/only_generators_are_sent_to
    matching/class_patterns records/data_class_match
    special_methods/methods_that_are_bound_by_descriptors
    special_methods/methods_with_arguments_filled_in with_statements/return_from_with
""".split()
"""Cases that are lowered themselves and call what is not."""


@pytest.mark.parametrize("name", CASES)
def test_without_source(name: str) -> None:
    """What is lowered is right; the rest is refused for a reason that is known."""
    with_source, without = CASES[name]
    try:
        check_sample(without)
    except (NoDerivativeError, MutationError) as error:
        assert any(words in error.problem for words in REFUSED), error.problem
        assert name not in LOWERED or name in OTHERS_ARE_REFUSED
    else:
        assert difference(bars(without), bars(with_source), rtol=1e-9) is None


def test_most_of_the_corpus_needs_no_source() -> None:
    assert len(LOWERED) >= 0.88 * len(CASES)
    assert set(OTHERS_ARE_REFUSED) <= set(LOWERED)


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
