"""The graph of a run: operations, and the inputs that they use."""

from __future__ import annotations

import heapq

from adjoint.explanation.events import Event
from adjoint.explanation.run import Run
from adjoint.explanation.source_text import shortened
from adjoint.explanation.value_text import text_of
from adjoint.pictures.graph_drawing import Graph, Node

MOST_NODES = 60
"""The number of nodes that are drawn: those nearest to the result, by the order of the run."""


def graph_of(run: Run, most: int = MOST_NODES) -> tuple[Graph, int]:
    """Return the graph, and the number of operations that are left out.

    An edge says that the result of one operation is an operand of another: the same number object,
    or memory that nothing else has written in between.
    """
    events = run.tape.events
    chosen = _nearest(run, most)
    operations = sorted(i for i in chosen if i >= 0)
    inputs = sorted((i for i in chosen if i < 0), reverse=True)
    place = {key: i for i, key in enumerate([*inputs, *operations])}
    nodes = [_input(run, key) for key in inputs]
    nodes += [_operation(run, events[key]) for key in operations]
    edges = {
        (place[source], place[key])
        for key in operations
        for operand in events[key].operands
        for source in operand.sources
        if source in place
    }
    kept = sum(event.is_kept for event in events)
    title = f"operations of {run.function}"
    return Graph(tuple(nodes), tuple(sorted(edges)), title), kept - len(operations)


def _nearest(run: Run, most: int) -> set[int]:
    """Return the operations and inputs that lead to the result, the last ones first."""
    events = run.tape.events
    last = next((event.number for event in reversed(events) if event.is_kept), None)
    start = last if run.result is None else run.result
    heap = [] if start is None else [-start]
    found: set[int] = set()
    while heap and len(found) < most:
        key = -heapq.heappop(heap)
        if key in found:
            continue
        found.add(key)
        for operand in events[key].operands if key >= 0 else ():
            for source in operand.sources:
                heapq.heappush(heap, -source)
    return found


def _input(run: Run, key: int) -> Node:
    one, bar = run.tape.inputs[-1 - key], run.bars[-1 - key]
    kind = "input" if one.snapshot.is_finite else "bad"
    shown = "0" if bar is None else text_of(bar)
    return Node((shortened(one.name, 30), *_two(one.snapshot.text, shown)), kind)


def _operation(run: Run, event: Event) -> Node:
    bar = event.bar
    value = "" if event.value is None else event.value.text
    is_good = event.is_finite and (bar is None or bar.is_finite)
    kind = "bad" if not is_good else "result" if event.number == run.result else "operation"
    lines = (shortened(event.text, 30), *_two(value, "0" if bar is None else bar.text))
    return Node(lines, kind, {"event": str(event.number)})


def _two(value: str, bar: str) -> tuple[str, str]:
    return shortened(f"value {value}", 34), shortened(f"cotangent {bar}", 34)
