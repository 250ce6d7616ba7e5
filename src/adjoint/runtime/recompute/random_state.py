"""States of random generators, which the log does not restore for a recomputation."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from adjoint.primal.childless_types import CHILDLESS_TYPES
from adjoint.runtime.foreign.snapshot import contents

_MOST = 1024
"""The number of objects that are searched for generators."""


class RandomStates:
    """The current states of the random generators that a call may use: those in arguments, captured
    and named global variables, and the global ones of NumPy and Python.

    Attributes
    ----------
    cannot_restore
        Whether the search met an iterator or a generator whose state cannot be restored.
    """

    def __init__(self, values: tuple[Any, ...]) -> None:
        self.cannot_restore: bool = False
        self._states: list[tuple[Any, Any]] = []
        for source in (*_global_generators(), *self._sources(values)):
            try:
                self._states.append((source, state_of(source)))
            except AttributeError:  # a generator that is being initialised
                self.cannot_restore = True

    def _sources(self, values: tuple[Any, ...]) -> Iterator[Any]:
        kinds, seen = _kinds(), set[int]()
        queue = deque(values)
        home = _home(values[0])
        while queue and len(seen) < _MOST:
            value = queue.popleft()
            kind = type(value)
            if kind in CHILDLESS_TYPES or id(value) in seen:
                continue
            seen.add(id(value))
            if issubclass(kind, kinds):
                if kind.__module__.partition(".")[0] in ("random", "numpy"):
                    self.cannot_restore |= kind.__name__ == "SystemRandom"
                    yield value
                else:
                    self.cannot_restore = True
            elif hasattr(kind, "__next__"):
                self.cannot_restore = True
            else:
                queue += contents(value, kind)
                if kind is FunctionType and (home is None or _home(value) == home):
                    home = _home(value)
                    namespace = value.__globals__
                    queue += [namespace.get(name) for name in value.__code__.co_names]

    def keep_used(self) -> None:
        """Forget the generators whose state has not changed."""
        self._states = [
            (source, state) for source, state in self._states if not _same(state_of(source), state)
        ]

    def restore(self) -> None:
        """Restore the saved states."""
        for source, state in self._states:
            put_state(source, state)

    @contextmanager
    def restored(self) -> Iterator[None]:
        """Restore the saved states within a ``with`` statement."""
        now = [(source, state_of(source)) for source, _ in self._states]
        self.restore()
        try:
            yield
        finally:
            for source, state in now:
                put_state(source, state)


def _home(f: Any) -> str | None:
    """Return the package that a function was defined in."""
    f = f.__func__ if type(f) is MethodType else f
    if type(f) is not FunctionType:
        return None
    return str(f.__globals__.get("__name__", "")).partition(".")[0]


def _kinds() -> tuple[type, ...]:
    found: list[type] = []
    if "numpy.random" in sys.modules:
        found += [np.random.Generator, np.random.RandomState, np.random.BitGenerator]
    if "random" in sys.modules:
        found.append(sys.modules["random"].Random)
    return tuple(found)


def _global_generators() -> Iterator[Any]:
    if "numpy.random" in sys.modules:
        yield np.random.get_state.__self__  # type: ignore[attr-defined]
    if "random" in sys.modules:
        yield sys.modules["random"]._inst


def state_of(source: Any) -> Any:
    """Return the state of a random generator of NumPy or Python."""
    if isinstance(source, np.random.RandomState):
        return source.get_state(legacy=False)
    if isinstance(source, np.random.Generator):
        return source.bit_generator.state
    return source.state if isinstance(source, np.random.BitGenerator) else source.getstate()


def put_state(source: Any, state: Any) -> None:
    """Set a random generator to a state of `state_of`."""
    if isinstance(source, np.random.RandomState):
        source.set_state(state)
    elif isinstance(source, np.random.Generator):
        source.bit_generator.state = state
    elif isinstance(source, np.random.BitGenerator):
        source.state = state
    else:
        source.setstate(state)


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, dict):
        return all(_same(part, b[key]) for key, part in a.items())
    return np.array_equal(a, b) if isinstance(a, np.ndarray) else bool(a == b)
