"""Choice of residuals: values that are saved for the reverse sweep, or computed again in it.

The reverse of this block reads `t` and `u`::

    t = mul(b, x)          saved:  x, y
    u = mul(t, y)          again:  t = mul(b, x)
    v = add(u, 1.0)                u = mul(t, y)
    w = sin(v)

Saving costs memory, and in a loop more time than most arithmetic, because saved numbers cannot
reuse freed memory. The cheapest choice is a minimum cut of a network in which each value is either
saved or computed again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TypeAlias

from adjoint.ir.single import Call, Op, Value

AT_ONCE = 40
"""Number of calls per network: the time for a cut grows faster than linearly."""

Node: TypeAlias = "tuple[str, Value | None]"
SOURCE: Node = ("reverse sweep", None)
SINK: Node = ("cost", None)


def select_residuals(
    ops: Sequence[Op],
    needed: Collection[Value],
    saving: Callable[[Value], int],
    again: Callable[[Call], int | None],
) -> tuple[list[Value], list[Call]]:
    """Choose the residuals of a block.

    Parameters
    ----------
    ops
        The operations of the block.
    needed
        The values that its reverse reads.
    saving
        The price of saving a value; 0 if the reverse sweep can read it anyway.
    again
        The price of repeating a call in the reverse sweep; ``None`` if it cannot be repeated.

    Returns
    -------
    tuple
        The values to save, and the calls to repeat, in order; the calls read only saved values,
        results of each other, and values from around the block.
    """
    known = {op.result: (i, op) for i, op in enumerate(ops) if isinstance(op, Call)}
    prices = _reachable(known, needed, again)
    order = sorted(prices, key=lambda v: known[v][0], reverse=True)
    wanted, repeated = dict.fromkeys(needed), set()
    for first in range(0, len(order), AT_ONCE):  # readers come first: `order` is backward
        group = order[first : first + AT_ONCE]
        network = _Network()
        for v in group:
            _, op = known[v]
            if v in wanted:
                network.add(SOURCE, ("had", v), None)
            network.add(("had", v), ("again", v), saving(v))
            network.add(("again", v), SINK, prices[v])
            for x in op.operands:
                if isinstance(x, Value):
                    network.add(("again", v), ("had", x), None)
                    if x not in wanted and x not in group:
                        network.add(("had", x), SINK, saving(x))
        cut = network.cut()
        chosen = [v for v in group if ("again", v) in cut]
        repeated.update(chosen)
        for v in chosen:
            wanted.update((x, None) for x in known[v][1].operands if isinstance(x, Value))
    calls = [known[v][1] for v in reversed(order) if v in repeated]
    return [v for v in wanted if v not in repeated], calls


def _reachable(
    known: dict[Value | None, tuple[int, Call]],
    needed: Iterable[Value],
    again: Callable[[Call], int | None],
) -> dict[Value, int]:
    """Return the prices of the calls that could be repeated to compute needed values."""
    prices: dict[Value, int] = {}
    pending = list(needed)
    while pending:
        v = pending.pop()
        if v in prices or v not in known:
            continue
        op = known[v][1]
        price = again(op)
        if price is not None:
            prices[v] = price
            pending.extend(x for x in op.operands if isinstance(x, Value))
    return prices


class _Network:
    """A flow network; a capacity of ``None`` is infinite."""

    def __init__(self) -> None:
        self._left: dict[Node, dict[Node, float]] = defaultdict(dict)

    def add(self, a: Node, b: Node, capacity: int | None) -> None:
        self._left[a][b] = float("inf") if capacity is None else capacity
        self._left[b].setdefault(a, 0)

    def cut(self) -> set[Node]:
        """Return the source side of the smallest minimum cut (Ford & Fulkerson)."""
        while True:
            came_from = self._search()
            if SINK not in came_from:
                return set(came_from)
            path = [SINK]
            while path[-1] != SOURCE:
                path.append(came_from[path[-1]])
            steps = list(zip(path[1:], path, strict=False))
            flow = min(self._left[a][b] for a, b in steps)
            for a, b in steps:
                self._left[a][b] -= flow
                self._left[b][a] += flow

    def _search(self) -> dict[Node, Node]:
        """Return the nodes reached by edges with capacity left, each with its predecessor."""
        found: dict[Node, Node] = {SOURCE: SOURCE}
        pending = [SOURCE]
        while pending:
            a = pending.pop()
            for b, left in self._left[a].items():
                if left > 0 and b not in found:
                    found[b] = a
                    if b == SINK:
                        return found
                    pending.append(b)
        return found
