"""Rules of `io`: a file of a Python class is closed by its own ``close``."""

from __future__ import annotations

import _io
from typing import Any

from adjoint.rulekit.registry import substitute

_BASE: Any = _io._IOBase


@substitute((_BASE, "__exit__"))
def _(self: Any, *error: Any) -> None:
    self.close()
