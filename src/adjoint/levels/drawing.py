"""Functions that draw numbers: they give others the second time, unless the source is set back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from adjoint.runtime.recompute.random_state import put_state, state_of


def draws(f: Any, args: tuple[Any, ...]) -> bool:
    """Whether a function draws numbers."""
    module = str(getattr(f, "__module__", None))
    return module.startswith(("numpy.random", "random")) or _is_source(args)


def _is_source(args: tuple[Any, ...]) -> bool:
    return any(type(arg).__module__.startswith("numpy.random") for arg in args[:1])


def again(f: Any, args: tuple[Any, ...]) -> Callable[[], Any] | None:
    """What makes a context in which a function that draws gives the numbers that it is about to
    give now, and after which the source goes on where it was; ``None`` for other functions."""
    if not draws(f, args):
        return None
    source = args[0] if _is_source(args) else getattr(f, "__self__", None)
    if not isinstance(source, np.random.Generator | np.random.RandomState):
        return None
    before = state_of(source)

    @contextmanager
    def set_back() -> Iterator[None]:
        now = state_of(source)
        put_state(source, before)
        try:
            yield
        finally:
            put_state(source, now)

    return set_back
