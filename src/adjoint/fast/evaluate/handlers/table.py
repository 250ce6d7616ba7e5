"""The table of handlers: what callees mean in programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adjoint.fast.evaluate.values import Abstract
from adjoint.fast.support.tables import Registering, registering

Handler = Callable[..., Abstract]
handlers: dict[Any, Handler] = {}
"""Abstract versions of callees: ``handler(ev, *args, **keywords)``."""

handler: Registering[Handler] = registering(handlers)
"""Register the decorated function as that of each of the given callees."""


def in_programs(meaning: Handler) -> Any:
    """Return a function that only code which programs inline may call, without `ev`; what it does
    there is said by its handler, the decorated function."""

    def stand_in(*args: Any, **keywords: Any) -> Any:
        raise NotImplementedError

    stand_in.__name__, stand_in.__module__ = meaning.__name__, meaning.__module__
    handlers[stand_in] = meaning
    return stand_in
