"""Floating-point errors of what writes into an array: asked for by ``np.errstate(divide="raise")``,
or warnings that are errors. NumPy raises them when all is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")

__all__ = ["LATE", "ignoring", "with_error"]

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
