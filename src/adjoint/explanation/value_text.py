"""Short text of values, taken while they have them: arrays may be written later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

KEPT = 64
"""The largest number of entries of an array that is kept whole."""
SHOWN = 6
"""The largest number of entries that are written out."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A value at one moment.

    Attributes
    ----------
    text
        The value, or a summary of it.
    value
        The number, or a copy of a small array; ``None`` for other values.
    is_finite
        Whether no number in it is NaN or infinite.
    """

    text: str
    value: Any
    is_finite: bool

    def __str__(self) -> str:
        return self.text


def plain(value: Any) -> Any:
    """Return a number or an array of a subclass as one of its base, whose code is not the user's.

    Examples
    --------
    >>> type(plain(np.matrix([1.0]))).__name__
    'ndarray'
    """
    if isinstance(value, np.ndarray):
        return value if type(value) is np.ndarray else np.ndarray.view(value, np.ndarray)
    for base, conversion in _CONVERSIONS:
        if isinstance(value, base) and not isinstance(value, np.generic):
            return value if type(value) in (base, bool) else conversion(value)
    return value


_CONVERSIONS: tuple[tuple[Any, Any], ...] = (
    (float, float.__float__), (int, int.__int__), (complex, complex.__complex__),
)  # fmt: skip


def snapshot(value: Any) -> Snapshot:
    """Return what `value` is now."""
    kept = value = plain(value)
    if isinstance(value, np.ndarray):
        is_small = value.dtype.kind in "fciub" and value.size <= KEPT
        kept = np.array(value) if is_small else None
    elif not is_number(value):
        kept = None
    return Snapshot(text_of(value), kept, is_finite(value))


def is_number(value: Any) -> bool:
    return isinstance(value, bool | int | float | complex | np.number | np.bool_)


def is_finite(value: Any) -> bool:
    """Return whether no number in a value, or in a list or tuple of values, is NaN or infinite."""
    value = plain(value)
    if isinstance(value, np.ndarray):
        return value.dtype.kind not in "fc" or bool(np.all(np.isfinite(value)))
    if isinstance(value, float | complex | np.inexact):
        return bool(np.isfinite(value))
    if isinstance(value, list | tuple):
        return all(map(is_finite, value))
    return True


def text_of(value: Any) -> str:
    """Return a value in at most some 60 characters, without running code of users.

    Examples
    --------
    >>> text_of(1 / 3), text_of(np.arange(3.0)), text_of([1, "a"])
    ('0.333333', '[0, 1, 2]', "[1, 'a']")
    >>> text_of(np.ones((20, 3)))
    'array (20, 3), 1 … 1'
    """
    value = plain(value)
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, bool | np.bool_ | int | np.integer):
        return str(value) if abs(int(value)) < 10**15 else f"{float(value):.6g}"
    if is_number(value):
        return f"{complex(value):.6g}" if np.iscomplexobj(value) else f"{float(value):.6g}"
    if isinstance(value, str):
        return repr(value if len(value) < 30 else value[:29] + "…")
    if value is None:
        return "None"
    if type(value) in (list, tuple):
        return _sequence(value)
    if isinstance(value, Mapping) and type(value) is dict:
        return f"dict of {len(value)}"
    if isinstance(value, type) or callable(value):
        return str(getattr(value, "__qualname__", type(value).__qualname__))
    return f"a {type(value).__qualname__}"


def _sequence(value: Any) -> str:
    parts = [text_of(part) if not isinstance(part, list | tuple) else "…" for part in value[:SHOWN]]
    text = ", ".join(parts) + (", …" if len(value) > SHOWN else "")
    if len(text) > 60:
        return f"{type(value).__name__} of {len(value)}"
    if type(value) is list:
        return f"[{text}]"
    return f"({text},)" if len(value) == 1 else f"({text})"


def _array(value: Any) -> str:
    if value.size and value.size <= SHOWN and value.dtype.kind in "fciub":
        return _entries(np.asarray(value))
    kind = "array" if value.dtype == np.float64 else f"array of {value.dtype}"
    head = f"{kind} {value.shape}"
    if not value.size or value.dtype.kind not in "fiub":
        return head
    bad = int(np.sum(~np.isfinite(value))) if value.dtype.kind == "f" else 0
    good = value[np.isfinite(value)] if bad else value
    span = f", {text_of(good.min())} … {text_of(good.max())}" if good.size else ""
    return f"{head}{span}" + (f", {bad} not finite" if bad else "")


def _entries(value: Any) -> str:
    if value.ndim == 0:
        return text_of(value[()])
    return "[" + ", ".join(_short(part) for part in value) + "]"


def _short(part: Any) -> str:
    if isinstance(part, np.ndarray):
        return _entries(part)
    return f"{part:.4g}" if isinstance(part, np.inexact) else text_of(part)
