"""Refusal of `importlib.reload`: a module body is not differentiated, and overwrites variables."""

from __future__ import annotations

import importlib
from typing import Any

from adjoint.diagnostics.refusals import refused
from adjoint.rulekit.registry import primitive


@primitive(importlib.reload)
def _(record: list[Any], slot: int, *args: Any) -> Any:
    raise refused(
        "a module is read again by 'importlib.reload' inside differentiated code, which would not"
        " see what its body does",
        "reload it before the function is called",
    )
