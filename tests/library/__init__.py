"""Public functions of other people's packages, unmodified, each with a point.

A module is a package, or a part of one. None of the packages knows of this library.
"""

from __future__ import annotations

import importlib
import pkgutil
import warnings

from tests.library.registry import CASES, Case

__all__ = ["all_cases"]


def all_cases() -> list[Case]:
    """The cases of every package; a package that is not installed is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what packages say of each other
        for module in pkgutil.iter_modules(__path__):
            if not module.name.startswith("test_"):
                importlib.import_module(f"{__name__}.{module.name}")
    return CASES
