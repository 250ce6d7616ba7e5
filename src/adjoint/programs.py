"""Which specialised program a call of a public operator takes: by the number of its arguments, and
by the names of those that are given by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adjoint.derivatives.selection import Argnums, Selection, positions, select
from adjoint.fast import tier
from adjoint.fast.modes import GRADIENT, PULLBACK, Mode, mode_of
from adjoint.fast.tier import FAILED, MISS, Entry

__all__ = [
    "asked_mode",
    "chosen_mode",
    "finder",
    "gradient_mode",
    "pair_mode",
    "pullback_mode",
]

Args = tuple[Any, ...]
Kwargs = dict[str, Any]


def finder(f: Callable[..., Any], argnums: Argnums) -> Callable[[Args, Kwargs], Any]:
    """What gives the value and the gradient in some arguments, by programs that are looked up once;
    `MISS` where there is none."""
    known: dict[Any, list[Entry]] = {}

    def find(args: Args, kwargs: Kwargs) -> Any:
        shape: Any = len(args)
        if kwargs:
            shape, args = (shape, *kwargs), (*args, *kwargs.values())
        for entry in known.get(shape, ()):
            found = entry.run(f, args)
            if found is not MISS:
                return MISS if found is FAILED else found
        mode = _mode_at(f, argnums, len(args) - len(kwargs), kwargs)
        if mode is None:
            return MISS
        found = tier.run(f, args, mode)
        if found is not MISS:
            kept = tier.known(f, mode)
            known[shape] = [] if kept is None else kept.entries
        return found

    return find


def _mode_at(f: Callable[..., Any], argnums: Argnums, count: int, kwargs: Kwargs) -> Mode | None:
    """The mode of programs for a call with `count` positional arguments; ``None`` where the
    gradient in whole arguments is not what is asked for."""
    wanted = positions(f, argnums, count, kwargs)
    if wanted is None:
        return None
    single = count == 1 if argnums is None else not isinstance(argnums, tuple)
    return mode_of("gradient", wanted, tuple(kwargs), is_filled=True, is_single=single)


def gradient_mode(args: Args, kwargs: Kwargs) -> Mode:
    """The mode of programs for the gradient in all positional arguments."""
    return mode_of("gradient", tuple(range(len(args))), tuple(kwargs)) if kwargs else GRADIENT


def pullback_mode(args: Args, kwargs: Kwargs) -> Mode:
    """The mode of programs for the pullback to the function and all positional arguments."""
    return mode_of("pullback", tuple(range(len(args))), tuple(kwargs)) if kwargs else PULLBACK


def chosen_mode(chosen: Selection) -> Mode:
    """The mode of programs of ``chosen.function`` for the gradient in the chosen arguments."""
    return mode_of("gradient", chosen.wanted, (*chosen.names, *chosen.kwargs))


def pair_mode(chosen: Selection) -> Mode:
    """The same of a function that returns a value and something else."""
    return mode_of("pullback", chosen.wanted, (*chosen.names, *chosen.kwargs))


def asked_mode(
    f: Callable[..., Any], argnums: Argnums, args: Args, kwargs: Kwargs, *, has_aux: bool
) -> tuple[Args, Mode]:
    """The arguments and the mode of the programs that a call of what `grad` has made takes."""
    mode = None if has_aux else _mode_at(f, argnums, len(args), kwargs)
    if mode is not None:
        return (*args, *kwargs.values()), mode
    chosen = select(f, argnums, args, kwargs)
    given = (*chosen.args, *chosen.kwargs.values())
    return given, pair_mode(chosen) if has_aux else chosen_mode(chosen)
