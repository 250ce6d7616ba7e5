"""Owner of a piece of code: the library, an inert package or the user."""

from __future__ import annotations

import os
from types import CodeType
from typing import Any

from adjoint.primal.memo_by_code import CodeTable
from adjoint.primal.packages import TRUSTED, package, stores

LIBRARY = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")
"""The folder of the library, with a separator at its end."""

USER_PACKAGES = ("nn", "value", "demo")
"""Packages of the library whose functions are differentiated like user code."""

USER_PARTS = tuple(os.path.join(LIBRARY, part) for part in USER_PACKAGES)
RULES = tuple(os.path.join(LIBRARY, part) for part in ("rules", "rulekit", "extensions"))
"""Folders of rules and of the rule kit."""


_left_out = CodeTable[None]()


def exclude(code: CodeType) -> None:
    """Declare that code under the name of a user's file belongs to the library."""
    _left_out.put(code, None)


_vouched = CodeTable[None]()


def is_excluded(code: CodeType) -> bool:
    """Return whether code was given to `exclude`."""
    return id(code) in _left_out


def is_vouched_for(code: CodeType) -> bool:
    """Return whether code was given to `vouch_for`."""
    return id(code) in _vouched


def is_user_code(code: CodeType, namespace: dict[str, Any]) -> bool:
    """Return whether code is neither of the library, nor generated, nor of an inert package."""
    filename, module = code.co_filename, namespace.get("__name__")
    if filename.startswith(("<adjoint ", LIBRARY)) and not filename.startswith(USER_PARTS):
        return False
    if is_excluded(code) or is_vouched_for(code):
        return False
    home = package(module)
    if home == "adjoint":  # also methods that `dataclasses` writes
        return str(module).split(".")[1:2] in ([part] for part in USER_PACKAGES)
    return home not in TRUSTED or stores(module, code)
