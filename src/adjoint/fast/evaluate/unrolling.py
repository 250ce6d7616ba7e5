"""While loops that are evaluated one iteration after the other, as long as their test is known."""

from __future__ import annotations

from collections.abc import Callable

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
    assert op.test is not None
    frame = ev.frames[-1]
    for _ in range(MOST_UNROLLED + 1):
        frame.values.update(zip(op.test.parameters, now, strict=True))
        tested = ev.run(op.test)
        condition = None if tested is None else truth(ev, tested[0])
        if tested is None or not isinstance(condition, Known):
            raise Unrolled
        now = [x if y is MISSING else y for x, y in zip(now, tested[1:], strict=True)]
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
