"""Handlers of `logging`: loggers by name, and levels that are not enabled."""

from __future__ import annotations

import logging
from typing import Any

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.table import handler
from adjoint.fast.evaluate.values import Abstract, External, Known
from adjoint.fast.not_covered import NotCovered

_LEVELS = (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR, logging.CRITICAL)


@handler(logging.getLogger)
def _(ev: Evaluator, name: Abstract = Known(None)) -> Abstract:
    if not isinstance(name, Known) or not isinstance(name.value, str | None):
        raise NotCovered("a logger whose name is not known", ev.span)
    found = logging.getLogger(name.value)  # the same one each time
    return ev.outside.bring(ev.outside.root("object", found), found)


@handler(logging.Logger.isEnabledFor)
def _(ev: Evaluator, logger: Abstract, level: Abstract) -> Abstract:
    if isinstance(logger, External) and isinstance(level, Known):
        for one in (*_LEVELS, level.value):
            logging.Logger.isEnabledFor(logger.sample, one)  # notes it
    noted: Any = _noted
    return ev.inline(ev.outside.own_closure(noted), [logger, level], {})


def _noted(logger: Any, level: Any) -> Any:
    """Return what a logger has noted since levels were changed."""
    return False if logger.disabled else logger._cache[level]


@handler(logging.Logger._log)
def _(ev: Evaluator, *operands: Abstract, **options: Abstract) -> Abstract:
    raise NotCovered("a call of a logger that is enabled", ev.span)
