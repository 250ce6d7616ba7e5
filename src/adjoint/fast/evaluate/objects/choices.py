"""Comparisons of elements of real containers that depend on numbers.

The method of a container, or `sorted`, runs on real elements and asks for truth values. At one that
depends on numbers the program branches (`branches.choosing`), and each side runs the method anew,
with what is known there; so a method ends in as many ways as its comparisons can.
"""

from __future__ import annotations

from adjoint.fast.evaluate.call_frames import Choice
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.values import Abstract, Known
from adjoint.fast.not_covered import NotCovered
from adjoint.ir.single import Value

MOST = 6
"""Greatest number of such comparisons one after the other."""
REASON = "a comparison of elements that depends on numbers"


def decided(ev: Evaluator, found: Abstract) -> bool:
    """Return the outcome of a comparison."""
    if isinstance(found, Known):
        return bool(found.value)
    if not ev.choices or not isinstance(found, Value):
        raise NotCovered(REASON, ev.span)
    choice: Choice = ev.choices[-1]
    return choice.outcome(found)
