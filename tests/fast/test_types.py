"""What the evaluator holds of the values of a program is so when the program runs; and a program
is right at other points than the one that it was made for."""

from __future__ import annotations

import copy
import random
import warnings

import numpy as np
import pytest

from adjoint.fast.build.modes import GRADIENT, PULLBACK
from adjoint.fast.evaluate.writes.memory_sharing import Sharing
from adjoint.fast.programs import store as tier
from tests.corpus import all_cases
from tests.fast import complex_programs, leaving, numeric
from tests.fast.agreeing import Agreement, cotangent
from tests.fast.test_in_place_programs import Grammar, made
from tests.fast.typed import typed_runs
from tests.structures import mapped


def in_place(seed):
    return made(Grammar(seed).program(), f"typed {seed}")


def vector(seed):
    return (np.random.default_rng(seed).normal(size=4),)


GENERATORS = {
    "numeric": (numeric.numeric, numeric.arguments),
    "complex": (complex_programs.function, complex_programs.arguments),
    "leaving": (leaving.leaving, leaving.arguments),
    "in place": (in_place, vector),
}


@pytest.mark.parametrize("kind", GENERATORS)
def test_values_are_what_they_are_said_to_be(kind, monkeypatch):
    program, arguments = GENERATORS[kind]
    with typed_runs(monkeypatch) as (problems, counts), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(700, 760):
            f = program(seed)
            tier.run(f, arguments(seed), GRADIENT)
    assert not problems, "\n".join(problems[:20])
    assert counts["to their end"] >= 25, counts


def test_values_in_the_corpus_are_what_they_are_said_to_be(monkeypatch):
    with typed_runs(monkeypatch) as (problems, counts), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for one in all_cases():
            sample = one.sample
            y, _ = sample.plain()
            sample.reset()
            if not sample.kwargs:
                mode = GRADIENT if cotangent(y) is None else PULLBACK
                tier.forget()
                f, *args = mapped((sample.f, *sample.args))
                tier.run(f, tuple(args), mode)
                sample.reset()
    assert not problems, "\n".join(problems[:20])
    assert counts["to their end"] >= 250, counts


def view_of_a_choice(x):
    a, b, z = x * 2, x * 3, np.zeros(4)
    c = a if x[0] > 0 else b
    part = c[1:]
    z[0] = part[0]
    return np.sum(z * a) + np.sum(part) + np.sum(b)


def view_of_what_a_loop_carries(x):
    a, z = x * 2, np.zeros(4)
    c = a
    for i in range(3):
        part = c[1:]
        z[i] = part[0]
        c = c * part[0] if x[0] < 0 else c
    return np.sum(z * a) + np.sum(c)


@pytest.mark.parametrize("f", [view_of_a_choice, view_of_what_a_loop_carries])
def test_memory_that_a_branch_or_a_loop_passes_on(f, monkeypatch):
    with typed_runs(monkeypatch) as (problems, counts):
        assert tier.run(f, (np.arange(1.0, 5.0),), GRADIENT) is not tier.MISS
    assert not problems, problems
    assert counts["to their end"] == 1
    monkeypatch.setattr(Sharing, "_join", lambda *_: None)
    tier.forget()
    with typed_runs(monkeypatch) as (problems, _):
        tier.run(f, (np.arange(1.0, 5.0),), GRADIENT)
    assert any("may show" in one for one in problems)


@pytest.mark.parametrize("kind", GENERATORS)
def test_programs_at_other_points(kind):
    """Made at one point, a program is run at others, where branches and loops go other ways."""
    program, arguments = GENERATORS[kind]
    found, kept = Agreement(), 0
    order = random.Random(7)
    for seed in range(800, 830):
        f, points = program(seed), [arguments(5 * seed + i) for i in range(5)]
        tier.forget()
        for point in order.sample(points, 5):
            name = f"{seed}, {point}"
            found.compare(name, lambda f=f, x=point: (f, *copy.deepcopy(x)), keep=True)
        known = tier.known(f, GRADIENT)
        kept += known is not None and 0 < len(known.entries) < 5
    assert not found.problems, "\n".join(found.problems[:20])
    assert kept >= 10, (kept, found.generic.most_common(10))
