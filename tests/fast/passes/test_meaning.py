"""What a function does is not changed by any pass, alone or with others."""

from __future__ import annotations

import inspect

import pytest

from adjoint.fast.passes.common import share_common
from adjoint.fast.passes.dead_code import remove_dead
from adjoint.fast.passes.loop_invariants import move_invariant
from adjoint.fast.single_assignment.printer import format_function
from tests.corpus import all_cases
from tests.fast.interpreter import converted, interpreted
from tests.fast.jumping import jumping, source
from tests.fast.passes.running import is_always_pure, is_arithmetic, size
from tests.fast.test_single import ASKS_FOR_ITS_CALLER, is_left_out
from tests.fast.verifier import verify
from tests.frontend import cases, class_cases  # noqa: F401  (enters its functions there)
from tests.frontend.test_meaning import outcome
from tests.structures import difference, mapped

POINTS = [(0, 0), (1, 0), (2, 3), (3, 1), (5, 2), (-1, 4)]


def moved(function, is_pure):
    return move_invariant(function, is_pure, is_pure)


def all_of_them(function, is_pure):
    for change in (moved, share_common, remove_dead, moved, share_common):
        function = change(function, is_pure)
        verify(function)
    return function


@pytest.mark.parametrize(
    "change, left",
    [(remove_dead, 0.99), (share_common, 0.98), (moved, 1.0), (all_of_them, 0.95)],
    ids=lambda change: getattr(change, "__name__", None),
)
def test_random_jumps(change, left):
    before = behind = 0
    for seed in range(150):
        f = jumping(seed)
        plain = converted(f)
        changed = change(plain, is_arithmetic)
        verify(changed)
        run = interpreted(f, convert=lambda f: changed)
        for args in POINTS:
            expected = outcome(f, args, {})
            assert outcome(run, args, {}) == expected, source(seed) + format_function(changed)
        before, behind = before + size(plain), behind + size(changed)
    assert behind <= left * before


def convert(function):
    return all_of_them(converted(function), is_always_pure)


def test_cases_of_the_frontend():
    for function, args, kwargs in cases.CASES:
        if not is_left_out(function):
            run = interpreted(function, convert=convert)
            assert outcome(run, args, kwargs) == outcome(function, args, kwargs)


def test_corpus():
    for case in all_cases():
        sample = case.sample
        if case.name == ASKS_FOR_ITS_CALLER or not inspect.isfunction(sample.f):
            continue
        if is_left_out(sample.f):
            continue
        y, (_, *left) = sample.plain()
        sample.reset()
        f, *args = mapped((sample.f, *sample.args))
        try:
            found = interpreted(f, convert=convert)(*args, **sample.kwargs)
        finally:
            sample.reset()
        assert difference((found, args), (y, left)) is None, case.name
