"""Functions that draw numbers: they give others the second time, unless the source is set back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

__all__ = ["again", "draws"]


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
    if isinstance(source, np.random.Generator):
        source = source.bit_generator
    elif not isinstance(source, np.random.RandomState):
        return None
    before = _state(source)

    @contextmanager
    def set_back() -> Iterator[None]:
        now = _state(source)
        _set(source, before)
        try:
            yield
        finally:
            _set(source, now)

    return set_back


def _state(source: Any) -> Any:
    if isinstance(source, np.random.RandomState):
        return source.get_state(legacy=False)
    return source.state


def _set(source: Any, state: Any) -> None:
    if isinstance(source, np.random.RandomState):
        source.set_state(state)
    else:
        source.state = state
