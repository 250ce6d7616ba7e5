"""The handler of ``logging.getLogger``."""

from __future__ import annotations

import logging

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.table import handler
from adjoint.fast.evaluate.values import Abstract, Known
from adjoint.fast.not_covered import NotCovered


@handler(logging.getLogger)
def _(ev: Evaluator, name: Abstract = Known(None)) -> Abstract:
    if not isinstance(name, Known) or not isinstance(name.value, str | None):
        raise NotCovered("a logger whose name is not known", ev.span)
    found = logging.getLogger(name.value)  # the same one each time
    return ev.outside.bring(ev.outside.root("object", found), found)
