"""Plain functions, grouped by construct, each with the points at which every mode is checked.

A module is a group. Its functions are ordinary code that knows nothing of derivatives.
"""

from __future__ import annotations

import importlib
import pkgutil

from tests.corpus.registry import CASES, Case

__all__ = ["all_cases"]


def all_cases() -> list[Case]:
    """The cases of every group."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return CASES
