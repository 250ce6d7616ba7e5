"""Which production of a table stands at a place: one that can be completed there."""

from __future__ import annotations

import bisect
import functools
import itertools
import random
from collections.abc import Callable

from tests.fuzz.scope import Scope
from tests.fuzz.templates import Need, Production, grammar

BUILT_IN = frozenset({"nonlocal"})


class ImpossibleError(Exception):
    """Nothing can stand at a place: the program is thrown away."""


def table_of(kind: str, place: bool, leaf: bool) -> str | None:
    """The table of a hole; ``None`` if a variable of the kind fills it."""
    tables = grammar()
    if place:
        return f"{kind}!" if f"{kind}!" in tables else None
    if leaf and f"{kind}_leaf" in tables:
        return f"{kind}_leaf"
    return kind if kind in tables else None


def available(need: Need, scope: Scope, above: frozenset[tuple[str, bool]] = frozenset()) -> bool:
    """Whether the shortest expansions of a hole exist, given what is visible."""
    kind, place, declared = need
    if kind in BUILT_IN:
        return True
    table = table_of(kind, place, True)
    if table is None:
        base = kind.removesuffix("_name")
        return base in declared or base in (scope.assigns if place else scope.names)
    if (kind, place) in above:
        return False
    above |= {(kind, place)}
    return any(
        not production.flags
        and all(available((k, p, d | declared), scope, above) for k, p, d in production.needs)
        for production in grammar()[table]
    )


@functools.cache
def _order(table: str) -> tuple[list[int], list[int]]:
    """The cumulated weights of a table, and what to try next after each production."""
    productions = grammar()[table]
    after = list(range(len(productions)))
    random.Random(0).shuffle(after)
    following = [0] * len(after)
    for here, there in itertools.pairwise([*after, after[0]]):
        following[here] = there
    return list(itertools.accumulate(production.weight for production in productions)), following


def chosen(
    table: str, scope: Scope, number: Callable[[int], int], pure: bool, compound: bool
) -> Production:
    """The production that is drawn, or else the next one that is possible here.

    The number that is drawn means the same production in every scope, so that what follows
    keeps its meaning when an example is made smaller.
    """
    productions = grammar()[table]
    cumulated, following = _order(table)
    index = bisect.bisect_right(cumulated, number(cumulated[-1]))
    for _ in productions:
        production = productions[index]
        if (
            production.flags <= scope.flags
            and not production.without & scope.flags
            and not (pure and production.binds)
            and (compound or not production.compound)
            and all(available(need, scope) for need in production.needs)
        ):
            return production
        index = following[index]
    raise ImpossibleError(table)
