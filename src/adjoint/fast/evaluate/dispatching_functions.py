"""Recognition of functions that `functools.singledispatch` has made."""

from __future__ import annotations

import functools
from types import CodeType, FunctionType
from typing import Any


def is_dispatching(f: FunctionType) -> bool:
    """Return whether `functools.singledispatch` has made a function."""
    return f.__code__ is _dispatching_code()


@functools.cache
def _dispatching_code() -> CodeType:
    made: Any = functools.singledispatch(lambda x: x)
    return made.__code__  # type: ignore[no-any-return]
