"""Handlers of `logging`: loggers by name, their levels, and what they log.

A record is handled when the program has finished, if only the code of Python handles it.
"""

from __future__ import annotations

import logging
from typing import Any

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.printing import keep
from adjoint.fast.evaluate.handlers.strings import as_now
from adjoint.fast.evaluate.handlers.table import handler
from adjoint.fast.evaluate.values import Abstract, External, Known, Tuple
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
def _(
    ev: Evaluator, logger: Abstract, level: Abstract, msg: Abstract, args: Abstract, **options: Any
) -> Abstract:
    texts = as_now(ev, Tuple((msg, args)))
    inner = [i for i, frame in enumerate(ev.frames) if frame.filename == logging.__file__]
    is_covered = texts is not None and inner[:1] not in ([], [0]) and ev.outside.may_print
    if not is_covered or options or not isinstance(logger, External) or not _is_plain(logger):
        raise NotCovered("a call of a logger that is enabled", ev.span)
    ev.outside.guard(logger.source, "is", logger.sample)
    caller, code = ev.frames[inner[0]].caller, ev.frames[inner[0] - 1].code
    at = code.co_filename, caller[1], code.co_name  # type: ignore[index]
    keep(ev, _log, Tuple((Known(logger.sample), level, Known(at), texts)))  # type: ignore[arg-type]
    return Known(None)


def _log(logger: Any, level: int, at: tuple[str, int, str], texts: tuple[Any, Any]) -> None:
    filename, line, name = at
    record = logger.makeRecord(logger.name, level, filename, line, *texts, None, name)
    logger.handle(record)


def _is_plain(logger: External) -> bool:
    """Return whether only the code of Python handles what a logger logs."""
    one, handlers = logger.sample, []
    while one is not None:
        if type(one) not in (logging.Logger, logging.RootLogger) or one.filters:
            return False
        handlers += one.handlers
        one = one.parent if one.propagate else None
    return logging.getLogRecordFactory() is logging.LogRecord and all(
        type(x).__module__ == "logging"
        and type(x.formatter) in (type(None), logging.Formatter)
        and not x.filters
        for x in handlers
    )
