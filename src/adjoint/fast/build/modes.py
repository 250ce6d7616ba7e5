"""What is asked of a specialised program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

Kind = Literal["gradient", "pullback"]


@dataclass(frozen=True, slots=True, eq=False)  # there is one of a kind: see `mode_of`
class Mode:
    """What a program gives, and how it is given its arguments.

    Attributes
    ----------
    kind
        ``gradient``: the cotangents of arguments, from the cotangent 1 of a real number;
        ``pullback``: those of what the function captured and of arguments, from any cotangent.
    wanted
        The positions of the arguments whose cotangents are wanted; ``None`` for all those that are
        not given by name.
    names
        By which the last arguments are given to the function.
    is_single
        Where one argument is wanted: its cotangent is given as it is, not in a tuple.
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
        """`wanted`, of `count` arguments in all."""
        return range(count - len(self.names)) if self.wanted is None else self.wanted


def mode_of(
    kind: Kind,
    wanted: tuple[int, ...] | None = None,
    names: tuple[str, ...] = (),
    *,
    is_single: bool = False,
) -> Mode:
    """The mode of given attributes, always the same one."""
    return _mode(kind, wanted, names, is_single)


_mode = lru_cache(maxsize=4096)(Mode)

GRADIENT, PULLBACK = mode_of("gradient"), mode_of("pullback")
