"""What is not looked into: what belongs to the engine itself, and functions that were compiled."""

from __future__ import annotations

from abc import ABCMeta
from typing import Any


class Hidden(metaclass=ABCMeta):  # noqa: B024  it has nothing abstract, but says what is of it
    """An object of the engine, or a function of Numba's: what it holds is not looked into, it is no
    value of the user's."""

    __slots__ = ()

    @classmethod
    def __subclasshook__(cls, kind: type) -> Any:
        return True if cls is Hidden and kind.__module__ in _COMPILED else NotImplemented


_COMPILED = frozenset(
    f"numba.{module}"
    for module in ("core.registry", "core.ccallback", "np.ufunc.dufunc", "np.ufunc.gufunc")
)
"""Where the classes of Numba's functions are."""
