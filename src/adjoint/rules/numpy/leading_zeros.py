"""Leading zeros of polynomials and series, which NumPy cuts off: their derivative is refused."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.primal.array_memory import names_twice
from adjoint.rulekit.projection import is_numeric
from adjoint.rulekit.refusal import NoDerivative, added, refused_bar, refused_dot
from adjoint.rulekit.registry import frule, rrule

CUT = NoDerivative("leading coefficients", "are zero here and have been cut off")


def without_zeros(f: Any, kept: Any, lost: Any) -> Any:
    """Copy `kept`, from which `f` has cut off the zeros `lost`; their derivative is refused."""
    return kept.copy()


@rrule.register(without_zeros)
def _(f, kept, lost):
    return kept.copy(), lambda y_bar: (None, None, y_bar, refused_bar(f, CUT, y_bar))


@frule.register(without_zeros)
def _(dots, f, kept, lost):
    _, kept_dot, lost_dot = dots
    return kept.copy(), added(kept_dot, refused_dot(f, CUT, lost_dot, kept))


def cut(f: Any, seq: Any, start: int, stop: int) -> Any:
    """Return ``seq[start:stop]``, to which `f` cuts a series; the other coefficients are zero."""
    y = seq[start:stop]
    if isinstance(seq, np.ndarray) and is_numeric(seq) and len(y) < len(seq):
        y = without_zeros(f, y, seq[:start] if start else seq[stop:])
        if not names_twice(seq) and seq.flags.writeable:
            # The result stays an alias of `seq`.
            seq[start:stop] = y
            return seq[start:stop]
    return y
