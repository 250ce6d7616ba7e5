"""Rules of ``__array_wrap__``, by which the class of an operand converts a result of NumPy.

NumPy chooses the operand and the arguments: a call with proxies for the operands tells both. A
method in Python is differentiated by its source.
"""

from __future__ import annotations

import numpy as np

from adjoint.rulekit.registry import frule, non_differentiable, rrule
from adjoint.runtime.arrays.wrap_results import _accepted, may_wrap, wrap_calls


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


# ---- which operand wraps -------------------------------------------------------------------------


non_differentiable(may_wrap, wrap_calls, _accepted)
