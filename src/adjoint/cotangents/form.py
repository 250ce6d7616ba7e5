"""Form of a cotangent: shape and realness, as the value demands."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from adjoint.cotangents.accumulate import Scattered
from adjoint.cotangents.poison import Poison
from adjoint.errors import CotangentError


class Form(NamedTuple):
    """The form that a cotangent must have."""

    shape: tuple[int, ...]
    is_real: bool


def form_of(value: Any) -> Form:
    """Return the form of the cotangents of a number or an array."""
    return Form(np.shape(value), not np.iscomplexobj(value))


def fitted_cotangent(form: Form, bar: Any) -> Any:
    """Return `bar`, or its real part for a real number or array.

    Raises
    ------
    CotangentError
        `bar` has another shape, or is neither a number nor an array of numbers.
    """
    if type(bar) is Poison:
        return bar
    if (found := bar.shape if type(bar) is Scattered else np.shape(bar)) != form.shape:
        raise CotangentError(
            f"a cotangent has shape {found}, what it belongs to has shape {form.shape}",
            hint="give a cotangent of the structure and the shapes of the result",
        )
    if type(bar) is Scattered:
        return bar
    if isinstance(bar, list | tuple):
        bar = np.asarray(bar)
    kind = bar.dtype.kind if hasattr(bar, "dtype") else _KINDS.get(type(bar), "O")
    if kind not in "fciub":
        what = getattr(bar, "dtype", type(bar).__name__)
        raise CotangentError(
            f"the cotangent of a number or an array has to be numeric, not {what}",
            hint="give an array of the shape of what it belongs to, a number for a number",
        )
    return bar.real if kind == "c" and form.is_real else bar


_KINDS: dict[type, str] = {float: "f", int: "i", bool: "b", complex: "c"}
