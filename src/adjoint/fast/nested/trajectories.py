"""Rates of differential equations at many times, in the operations of programs."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.table import handler
from adjoint.fast.evaluate.values import Abstract
from adjoint.fast.nested.plain_calls import written_or
from adjoint.rulekit import nested
from adjoint.rules.scipy.integrate.steps import rates_at


def _at_once(rate: Any, start: Any, offsets: Any, values: Any) -> Any:
    as_many = np.reshape(values, (len(offsets), np.shape(values)[1]))
    return nested.vmap(rate)(start + offsets, as_many)


@handler(rates_at)
def _(ev: Evaluator, *operands: Abstract) -> Abstract:
    return written_or(ev, _at_once, rates_at, operands)
