"""Generators of random numbers from outside: programs draw from them once, as the functions do."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import adjoint as ad
from tests.fast.agreeing import generic_tier

GENERATOR = np.random.default_rng(1)
V = np.array([0.3, 1.2, 2.7])


def captured(v):
    return np.sum(v * v * GENERATOR.normal(size=v.shape))


def given(v, rng):
    kept = rng.random(v.shape) < 0.5
    total = np.sum(np.where(kept, v * v, 0.0))
    for _ in range(3):
        total = total + rng.normal() * v[0] + rng.uniform(0.0, v[1]) * rng.integers(3)
    return total


def in_a_branch(v, rng):
    return v[0] * rng.normal() if rng.random() < 0.5 else v[1] * v[1]


def of_two(v, a, b):
    return v[0] * a.normal() + v[1] * b.normal()


def drawn_before_a_warning(v, rng):
    x = rng.normal()
    return np.log(v[0] - 100.0) * x + v[1]


def drawn_before_an_exception(v, rng):
    x = rng.normal()
    if x < 10.0:
        raise KeyError("after a draw")
    return x * v[0]


def new():
    return np.random.default_rng(5)


def pair():
    rng = new()
    return rng, rng


def outcome(run, rest):
    """The result of a run, and the states of all generators after it."""
    GENERATOR.bit_generator.state = np.random.default_rng(9).bit_generator.state
    try:
        found = run(*rest)
    except KeyError as error:
        found = str(error)
    return found, [g.bit_generator.state for g in (*rest, GENERATOR)]


def flat(x):
    return [y for part in x for y in flat(part)] if isinstance(x, tuple | list) else [x]


MODES = {
    "gradient": lambda f: lambda *rest: ad.grad(f)(V, *rest),
    "pushforward": lambda f: lambda *rest: ad.pushforward(f, (V, *rest), (V, *[None] * len(rest))),
    "hvp": lambda f: lambda *rest: ad.hvp(lambda v: f(v, *rest), V, V),
}


def pulled(f):
    def run(*rest):
        y, back = ad.pullback(f, V, *rest)
        return y, back(1.0)[1], back(2.0)[1]

    return run


MODES["pullback"] = pulled


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "f, rest",
    [
        (captured, tuple), (given, lambda: (new(),)), (of_two, pair),
        (of_two, lambda: (new(), new())), (in_a_branch, lambda: (new(),)),
        (drawn_before_a_warning, lambda: (new(),)),
        (drawn_before_an_exception, lambda: (new(),)),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_draws(f, rest, mode):
    run = MODES[mode](f)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _, states = outcome(lambda *more: f(V, *more), rest())
        with generic_tier():
            expected, of_generic = outcome(run, rest())
        for _ in range(2):
            found, of_program = outcome(run, rest())
            assert of_program == of_generic == states
            for a, b in zip(flat(found), flat(expected), strict=True):
                if isinstance(a, str):
                    assert a == b
                else:
                    np.testing.assert_allclose(a, b, rtol=1e-12)


def test_they_are_programs():
    for f, rest in (captured, ()), (given, (new(),)), (of_two, pair()), (in_a_branch, (new(),)):
        assert ad.tier(f, V, *rest).tier == "fast"


@pytest.mark.parametrize("seed", range(6))
def test_a_branch_that_a_program_cannot_keep_draws_once(seed):
    """Which side is kept is found without the generator of the user."""

    def with_text(x, rng):
        y = x * z if (z := rng.normal()) * x > 0.0 else "text"
        return x * 2.0 if isinstance(y, str) else y

    drawn, plain = np.random.default_rng(seed), np.random.default_rng(seed)
    value = with_text(1.3, plain)
    assert ad.withgradient(lambda x: with_text(x, drawn), 1.3).value == value
    assert drawn.bit_generator.state == plain.bit_generator.state
