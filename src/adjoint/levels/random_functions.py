"""Functions that draw random numbers, and contexts in which they draw the same numbers again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from adjoint.runtime.recompute.random_state import put_state, state_of


def draws(f: Any, args: tuple[Any, ...]) -> bool:
    """Return whether a function draws random numbers."""
    module = str(getattr(f, "__module__", None))
    return module.startswith(("numpy.random", "random")) or _is_source(args)


def _is_source(args: tuple[Any, ...]) -> bool:
    return any(type(arg).__module__.startswith("numpy.random") for arg in args[:1])


def redrawing(f: Any, args: tuple[Any, ...]) -> Callable[[], Any] | None:
    """Return a maker of contexts in which a drawing function repeats its next numbers.

    After the context, the generator continues from its previous state. Return ``None`` if `f` does
    not draw, or if its generator is unknown.
    """
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
