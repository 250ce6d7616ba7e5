"""Floating-point errors of what writes into an array: asked for by ``np.errstate(divide="raise")``,
or warnings that are errors. NumPy raises them when all is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")

__all__ = ["LATE", "ignoring", "is_apart", "overlaps", "with_error"]

LATE = (FloatingPointError, RuntimeWarning)


def ignoring() -> Any:
    """What a call is made in once more that has raised one of them: its result is there."""
    return np.errstate(all="ignore")


def with_error(compute: Callable[..., T], *args: Any) -> tuple[T, BaseException | None]:
    """What is to be written, and the error that is to be raised when it is."""
    try:
        return compute(*args), None
    except LATE as error:
        with ignoring():
            return compute(*args), error


def overlaps(out: Any, x: Any) -> bool:
    """Whether an output and what is read have memory in common, as far as NumPy looks."""
    return isinstance(x, np.ndarray) and np.may_share_memory(out, x, max_work=1)  # type: ignore[arg-type]


def is_apart(out: Any, x: Any) -> bool:
    """Whether an output has been written where an error is raised: if it overlaps with what is
    read, and is not that, NumPy computes elsewhere, and writes at the end, which is not reached."""
    if not overlaps(out, x):
        return True
    return (out.ctypes.data, out.shape, out.strides) == (x.ctypes.data, x.shape, x.strides)
