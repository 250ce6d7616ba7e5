"""How a corpus function states the points at which it is checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from tests.support import Sample, no_reset

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Case:
    """A sample under the name by which the tests report it."""

    name: str
    sample: Sample


CASES: list[Case] = []
REFUSED: list[Case] = []
"""Functions of rare kinds: right in plain Python, refused by a message when differentiated."""


def case(
    *args: Any,
    fixed: tuple[int, ...] | int = (),
    kwargs: Mapping[str, Any] | None = None,
    reset: Callable[[], None] = no_reset,
) -> Callable[[F], F]:
    """Check the function below at `args`.

    Parameters
    ----------
    fixed
        Positions of the arguments that only control what the function does.
    kwargs
        Keyword arguments, held constant.
    reset
        Puts back what the function leaves behind outside its arguments.
    """

    def register(f: F) -> F:
        _add(f, Sample(f, args, kwargs or {}, (fixed,) if isinstance(fixed, int) else fixed, reset))
        return f

    return register


def refused(*args: Any) -> Callable[[F], F]:
    """Check that the function below is refused, in all modes."""

    def register(f: F) -> F:
        name = f"{f.__module__.rpartition('.')[2]}/{f.__name__}"
        REFUSED.append(Case(name, Sample(f, args)))
        return f

    return register


def made(make: Callable[[], tuple[Any, ...]]) -> Callable[[], tuple[Any, ...]]:
    """Check the function that `make` returns, at the arguments returned with it."""
    f, *args = make()
    _add(make, Sample(f, tuple(args)))
    return make


def _add(f: Callable[..., Any], sample: Sample) -> None:
    name = f"{f.__module__.rpartition('.')[2]}/{f.__name__}"
    taken = sum(other.name.partition("#")[0] == name for other in CASES)
    CASES.append(Case(f"{name}#{taken + 1}" if taken else name, sample))
