"""``__array_wrap__``: what a class makes of results of NumPy that its objects were operands of.

NumPy calculates with arrays and hands the result to one of its operands. Which one that is, and
what else it is told, NumPy says itself: it is asked with stand-ins for the operands. The method is
code like any other.
"""

from __future__ import annotations

import numpy as np

from adjoint.rulekit.registry import frule, non_differentiable, rrule
from adjoint.runtime.arrays.wrap_results import _taken, answers_of, is_told


@rrule.register(np.ndarray.__array_wrap__, alias=True)
def _(self, array, /, *told):
    if type(array) is not np.ndarray:
        return NotImplemented
    return array, lambda y_bar: (None, None, y_bar, *[None for _ in told])


@frule.register(np.ndarray.__array_wrap__, alias=True)
def _(dots, self, array, /, *told):
    if type(array) is not np.ndarray:
        return NotImplemented
    return array, dots[1]


# ---- which operand is asked ----------------------------------------------------------------------


non_differentiable(is_told, answers_of, _taken)
