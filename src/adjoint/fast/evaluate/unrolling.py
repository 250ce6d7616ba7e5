"""While loops that are evaluated one iteration after the other, as long as their test is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.iterables import MOST_UNROLLED
from adjoint.fast.evaluate.truth_values import truth
from adjoint.fast.evaluate.values import MISSING, Abstract, Known
from adjoint.fast.not_covered import NotCovered
from adjoint.ir.single import Loop


class Unrolled(NotCovered):
    """Raised where a loop can only be unrolled, or not even that."""

    def __init__(self) -> None:
        super().__init__("a loop over something that is not known")


def tested(ev: Evaluator, op: Loop, now: list[Abstract]) -> tuple[Any, list[Abstract]]:
    """Return the truth value of the test of a loop, ``None`` if its end is never reached, and the
    carried values after it."""
    assert op.test is not None
    ev.frames[-1].values.update(zip(op.test.parameters, now, strict=True))
    found = ev.run(op.test)
    if found is None:
        return None, now
    condition = truth(ev, found[0])
    # A variable that is not read after the test keeps its content.
    return condition, [x if y is MISSING else y for x, y in zip(now, found[1:], strict=True)]


def while_unrolled(
    ev: Evaluator,
    now: list[Abstract],
    op: Loop,
    body: Callable[[list[Abstract]], list[Abstract] | None],
    stops: bool,
) -> list[Abstract] | None:
    """Evaluate the iterations of a loop; raise `Unrolled` if they are many, or not known.

    Parameters
    ----------
    now
        The carried values.
    body
        Returns the carried values after an iteration; if `stops`, a flag "go on" precedes them.
    """
    for _ in range(MOST_UNROLLED + 1):
        condition, now = tested(ev, op, now)
        if not isinstance(condition, Known):
            raise Unrolled
        if not condition.value:
            return [Known(True), *now] if stops else now
        found = body(now)
        if found is None:
            return None
        on, now = found[:stops], found[stops:]
        if on and not isinstance(on[0], Known):
            raise Unrolled
        if on and not on[0].value:  # type: ignore[union-attr]
            return [Known(False), *now]
    raise Unrolled
