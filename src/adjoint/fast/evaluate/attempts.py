"""The state of ``try`` bodies that are being evaluated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adjoint.fast.evaluate.frames import Frame


@dataclass(slots=True, eq=False)
class Attempt:
    """One evaluation of a ``try`` body.

    Attributes
    ----------
    frame
        The call that it belongs to.
    handles
        Whether the handler may run: not once the body has written a variable that is read outside
        of it, and never for a ``finally``.
    is_over
        Whether the body has been completed: what follows is not caught.
    """

    frame: Frame
    handles: bool
    is_over: bool = False
