"""Objects whose contents are never searched: those of the engine, and compiled functions."""

from __future__ import annotations

from abc import ABCMeta
from typing import Any


class EngineObject(metaclass=ABCMeta):  # noqa: B024  abstract only for `__subclasshook__`
    """An object of the engine or a function of Numba. It is no user value, and its contents are not
    searched."""

    __slots__ = ()

    @classmethod
    def __subclasshook__(cls, kind: type) -> Any:
        return True if cls is EngineObject and kind.__module__ in _COMPILED else NotImplemented


_COMPILED = frozenset(
    f"numba.{module}"
    for module in ("core.registry", "core.ccallback", "np.ufunc.dufunc", "np.ufunc.gufunc")
)
"""Modules of the classes of Numba's functions."""
