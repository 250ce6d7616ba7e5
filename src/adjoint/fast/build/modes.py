"""Modes of programs: gradient or pullback, and the form of the arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

Kind = Literal["gradient", "pullback"]


@dataclass(frozen=True, slots=True, eq=False)  # `mode_of` interns modes
class Mode:
    """The results of a program, and the form of its arguments.

    Attributes
    ----------
    kind
        ``gradient``: the cotangents of arguments, from the cotangent 1 of a real number;
        ``pullback``: those of captured variables and of arguments, from any cotangent.
    wanted
        The positions of the arguments whose cotangents are wanted; ``None`` for all positional
        arguments.
    names
        The names of the last arguments, which are passed by keyword.
    is_single
        Whether the cotangent of the only wanted argument is returned without a tuple.
    """

    kind: Kind
    wanted: tuple[int, ...] | None
    names: tuple[str, ...]
    is_single: bool

    @property
    def is_gradient(self) -> bool:
        """Whether the cotangent of the result is 1."""
        return self.kind == "gradient"

    def positions(self, count: int) -> Sequence[int]:
        """Return the positions of the wanted arguments among `count`."""
        return range(count - len(self.names)) if self.wanted is None else self.wanted


def mode_of(
    kind: Kind,
    wanted: tuple[int, ...] | None = None,
    names: tuple[str, ...] = (),
    *,
    is_single: bool = False,
) -> Mode:
    """Return the unique mode with these attributes."""
    return _mode(kind, wanted, names, is_single)


_mode = lru_cache(maxsize=4096)(Mode)

GRADIENT, PULLBACK = mode_of("gradient"), mode_of("pullback")
