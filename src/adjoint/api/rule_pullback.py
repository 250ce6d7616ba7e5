"""The pullback of a rule, as `adjoint.rrule` returns it."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from adjoint.primal.value_kinds import content_of
from adjoint.rulekit.wanted import plain

SHORT = 60
"""The number of characters of a value that is shown in full."""


class RulePullback:
    """``y_bar ↦ (f_bar, *arg_bars)`` of one call of a rule.

    It shows its name and what it has captured; captured variables are attributes.

    Examples
    --------
    >>> def times(x, y):
    ...     def times_back(z_bar):
    ...         return None, z_bar * y, z_bar * x
    ...     return x * y, times_back
    >>> back = RulePullback(times(2.0, 3.0)[1], "times")
    >>> back, back.x, back(1.0)
    (times_back(x=2.0, y=3.0), 2.0, (None, 3.0, 2.0))
    """

    __slots__ = ("_back", "_of")

    def __init__(self, back: Callable[[Any], tuple[Any, ...]], of: str) -> None:
        self._back, self._of = back, of

    def __call__(self, y_bar: Any, **wanted: Any) -> tuple[Any, ...]:
        return self._back(y_bar, **wanted)

    def _captured(self) -> dict[str, Any]:
        back = plain(self._back)
        if type(back) is not FunctionType:
            return {}
        cells = map(content_of, back.__closure__ or ())
        return dict(zip(back.__code__.co_freevars, cells, strict=True))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in self.__slots__:  # not yet, while it is unpickled
            raise AttributeError(name)
        try:
            return self._captured()[name]
        except KeyError:
            raise AttributeError(f"{self!r} has captured no {name!r}") from None

    def __dir__(self) -> list[str]:
        return [*object.__dir__(self), *self._captured()]

    def __repr__(self) -> str:
        back = plain(self._back)
        name = getattr(back, "__name__", "back")
        is_of_family = getattr(back, "__module__", "").startswith("adjoint.rulekit.")
        if is_of_family or not name.endswith("_back"):
            name = f"{self._of}_back"
        held = ", ".join(f"{key}={_short(value)}" for key, value in self._captured().items())
        return f"{name}({held})"


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray) and (value.ndim != 1 or value.size > 4):
        return f"array of shape {value.shape}, {value.dtype}"
    if isinstance(value, FunctionType):
        return value.__name__
    text = repr(value).replace("\n", " ")
    return text if len(text) <= SHORT else f"{text[: SHORT - 1]}…"
