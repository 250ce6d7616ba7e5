"""NumPy's settings for floating-point errors, as user code sees them.

Differentiation changes them so that warnings show the user's line; the rules hide this change.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.diagnostics.numpy_warnings import called_on_errors, on_errors
from adjoint.diagnostics.refusals import refused
from adjoint.rulekit.registry import non_differentiable, primitive, substitute
from adjoint.runtime.foreign.user_code_reach import reaches
from adjoint.runtime.memory.memory import Memory

non_differentiable(on_errors, called_on_errors)


@substitute(np.geterr)
def geterr() -> Any:
    return on_errors()


@substitute(np.geterrcall)
def geterrcall() -> Any:
    return called_on_errors()


def _check(memory: Memory, handler: Any) -> None:
    """Refuse a new handler in user code: rules call NumPy functions that user code does not."""
    before = memory.caches.setdefault("on errors", called_on_errors())
    if handler is not before and reaches((handler,)):
        raise refused(
            "a function that NumPy calls on floating-point errors is set inside differentiated"
            " code, which would not see what it does",
            "set it around the differentiated function, or let errors be raised by"
            " np.errstate(all='raise')",
        )


@primitive(np.seterrcall)
def _seterrcall(record: list[Any], slot: int, func: Any) -> Any:
    _check(record[0], func)
    return NotImplemented


@primitive(np.errstate)
def _errstate(record: list[Any], slot: int, /, **options: Any) -> Any:
    _check(record[0], options.get("call"))
    return NotImplemented
