"""Errors for functions with neither rule nor source."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.diagnostics.user_place import current_place
from adjoint.errors import NoDerivativeError, Place
from adjoint.primal.compiled_functions import foreign_package
from adjoint.primal.packages import FOREIGN


def name_of(f: Any) -> str:
    """Return the name by which users call a function."""
    module = getattr(f, "__module__", None)
    name = getattr(f, "__qualname__", None) or getattr(f, "__name__", None) or repr(f)
    name = str(name).removeprefix("PyCapsule.")  # pybind11 binds its functions to this
    return f"{module}.{name}" if module and module not in ("builtins", "__main__") else name


def _rule_wanted(name: str, place: Place | None) -> str:
    if place is not None and place.called is not None:
        return (
            f"write a rule of '{place.called}', which calls it:"
            f" @ad.rrule.register({place.called}), or of '{name}' itself"
        )
    return (
        f"write a rule: @ad.rrule.register({name}),"
        f" or ad.non_differentiable({name}) if its derivative is zero"
    )


class Reason(str):
    """The reason why there is no derivative, with a hint."""

    hint: str

    def __new__(cls, why: str, hint: str) -> Reason:
        reason = super().__new__(cls, why)
        reason.hint = hint
        return reason


def needed(f: Any, why: str, seen: tuple[Any, ...]) -> NoDerivativeError:
    """Return the error for a derivative of `f`; `seen` are its operands and result."""
    place = current_place()
    hint = why.hint if isinstance(why, Reason) else _rule_wanted(name_of(f), place)
    if (foreign := foreign_package(f)) is not None:
        hint = FOREIGN[foreign]
    if any(issubclass(type(value), np.ndarray) and value.dtype.hasobject for value in seen):
        why = "works on an array of objects, through which no derivative flows"
        hint = (
            "use a list, or an array of floats: np.array(values, dtype=float);"
            " np.vectorize(f, otypes=[float]) instead of np.frompyfunc"
        )
    return NoDerivativeError(
        f"a derivative of '{name_of(f)}' is needed, which {why}", hint=hint, place=place
    )


def looked_at(owner: Any, error: Any) -> NoDerivativeError:
    """Return the error for a derivative of what a C object reads out of memory that it was not
    given; `error` belongs to its result."""
    place = getattr(error, "place", None)
    called = getattr(place, "called", None)
    return NoDerivativeError(
        f"a derivative of what a '{name_of(type(owner))}' reads is needed: it is compiled, and may"
        " look at arrays that were written with values that have a derivative",
        hint=f"write a rule of {'the function that' if called is None else f'{called!r}, which'}"
        " uses it, or take ad.stop_gradient(...) of what it gives if that is a constant",
        place=place,
    )
