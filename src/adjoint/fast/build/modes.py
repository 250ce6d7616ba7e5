"""Modes of programs: the derivative that they compute, and the form of the arguments."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from adjoint.ir.node import node

Kind = Literal["gradient", "pullback", "pushforward", "hvp"]


@node(eq=False)  # `mode_of` interns modes
class Mode:
    """The results of a program, and the form of its arguments.

    Attributes
    ----------
    kind
        ``gradient``: the cotangents of arguments, from the cotangent 1 of a real number;
        ``pullback``: those of captured variables and of arguments, from any cotangent;
        ``pushforward``: the tangent of the result, from tangents of arguments;
        ``hvp``: the gradient, and its tangent from tangents of arguments.
    wanted
        The positions of the arguments whose cotangents are wanted, or that have tangents; ``None``
        for all positional arguments.
    names
        The names of the last arguments, which are passed by keyword.
    is_single
        Whether the cotangent of the only wanted argument is returned without a tuple.
    has_rows
        Whether the tangents have a leading axis, for many of them at once. The derivatives are then
        a tuple with one array for each number or array of the arguments or the result.
    is_careful
        Whether zero cotangents stay zero beside infinite partial derivatives.
    """

    kind: Kind
    wanted: tuple[int, ...] | None
    names: tuple[str, ...]
    is_single: bool
    has_rows: bool = False
    is_careful: bool = False

    @property
    def is_gradient(self) -> bool:
        """Whether the program computes a gradient and nothing else."""
        return self.kind == "gradient"

    @property
    def is_scalar(self) -> bool:
        """Whether the cotangent of the result, a real number, is 1."""
        return self.kind in ("gradient", "hvp")

    @property
    def is_of_function(self) -> bool:
        """Whether the cotangents of captured variables are wanted."""
        return self.kind == "pullback"

    @property
    def has_tangents(self) -> bool:
        """Whether the program takes tangents of the arguments."""
        return self.kind in ("pushforward", "hvp")

    def positions(self, count: int) -> Sequence[int]:
        """Return the positions of the wanted arguments among `count`."""
        return range(count - len(self.names)) if self.wanted is None else self.wanted


def mode_of(
    kind: Kind,
    wanted: tuple[int, ...] | None = None,
    names: tuple[str, ...] = (),
    *,
    is_single: bool = False,
    has_rows: bool = False,
) -> Mode:
    """Return the unique mode with these attributes."""
    return _mode(kind, wanted, names, is_single, has_rows)


_mode = lru_cache(maxsize=4096)(Mode)

GRADIENT, PULLBACK = mode_of("gradient"), mode_of("pullback")
