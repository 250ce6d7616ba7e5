"""Values that the program computes in the call at specialisation.

They only decide which branch a program keeps where it cannot keep both, so they may be wrong: the
program tests the condition itself.
"""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.types import ANYTHING
from adjoint.fast.support.opaque import Opaque
from adjoint.ir.single import Call, Const, If, Operand, Unpack, Value


class _Unknown(Exception):
    """A value that is not computed here, such as one of a loop, or of an array that is written."""


def sample_truth(ev: Evaluator, condition: Value) -> bool | None:
    """Return whether a condition holds in the call at specialisation; ``None``: not known."""
    known = {  # no generators of random numbers, whose state draws would change
        leaf.value: copy.copy(leaf.sample) for leaf in ev.outside.leaves if leaf.type != ANYTHING
    }
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return bool(_sample(ev, condition, known))
    except Exception:  # of the user's code, of a rule, or too deep
        return None


def _sample(ev: Evaluator, x: Operand, known: dict[Value, Any]) -> Any:
    if isinstance(x, Const):
        return x.value
    if not isinstance(x, Value) or x in ev.written:
        raise _Unknown
    if x not in known:
        op = ev.defined.get(x)
        match op:
            case Call(callee=Const(value=function)) if not isinstance(function, Opaque):
                f: Any = function
                named = {name: _sample(ev, y, known) for name, y in op.keywords}
                known[x] = f(*[_sample(ev, y, known) for y in op.operands], **named)
            case Unpack(results=results, starred=None):
                known.update(zip(results, _sample(ev, op.value, known), strict=True))
            case If(results=results):
                block = op.body if _sample(ev, op.condition, known) else op.orelse
                known[x] = _sample(ev, (block.results or ())[results.index(x)], known)
            case _:
                raise _Unknown
    return known[x]
