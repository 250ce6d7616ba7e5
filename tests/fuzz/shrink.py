"""Makes a failing program small: what is not needed for the same failure is removed."""

from __future__ import annotations

import copy
from collections.abc import Callable

from tests.fuzz.program import Block, Program, places


def shrunk(program: Program, fails: Callable[[Program], bool], budget: int = 400) -> Program:
    """The smallest program that greedy removal finds within `budget` trials."""
    best, progress = program, True
    while progress:
        progress = False
        for number in reversed(range(best.size())):
            for cut in (_without, _unwrapped, _one_clause_less):
                candidate = cut(best, number)
                if candidate is None:
                    continue
                if budget == 0:
                    return best
                budget -= 1
                if fails(candidate):
                    best, progress = candidate, True
                    break
    return best


def _without(program: Program, number: int) -> Program | None:
    candidate = copy.deepcopy(program)
    spots = list(places(candidate.body))
    if number >= len(spots):
        return None
    holder, index = spots[number]
    del holder[index]
    return candidate


def _unwrapped(program: Program, number: int) -> Program | None:
    """A compound statement replaced by the body of its first clause."""
    candidate = copy.deepcopy(program)
    spots = list(places(candidate.body))
    if number >= len(spots):
        return None
    holder, index = spots[number]
    statement = holder[index]
    if not isinstance(statement, Block):
        return None
    holder[index : index + 1] = statement.clauses[0][1]
    return candidate


def _one_clause_less(program: Program, number: int) -> Program | None:
    """A compound statement without its last clause."""
    candidate = copy.deepcopy(program)
    spots = list(places(candidate.body))
    if number >= len(spots):
        return None
    holder, index = spots[number]
    statement = holder[index]
    if not isinstance(statement, Block) or len(statement.clauses) < 2:
        return None
    statement.clauses.pop()
    return candidate
