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
