"""Choice of the specialised program for a call of a public operator, by the number of positional
arguments and the names of keyword arguments."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from adjoint.api.argument_selection import Argnums, Selection, positions, select
from adjoint.diagnostics.public_function import hide_frames
from adjoint.fast.build.modes import GRADIENT, PULLBACK, Mode, mode_of
from adjoint.fast.programs import store as tier
from adjoint.fast.programs.entries import Entry
from adjoint.fast.programs.store import FAILED, MISS
from adjoint.levels.current import current, in_use
from adjoint.primal.engine_object import EngineObject

Args = tuple[Any, ...]
Kwargs = dict[str, Any]


class _Known(EngineObject):
    """Programs by shape of call: the number of positional arguments, and the other names."""

    __slots__ = ("programs",)

    def __init__(self) -> None:
        self.programs: dict[Any, list[Entry]] = {}

    def keep(self, shape: Any, kept: Any) -> None:
        """Store the programs for calls of a shape."""
        if len(self.programs) >= tier.MOST_MODES:
            self.programs.clear()  # most of them belong to programs that were dropped
        if kept is not None:
            self.programs[shape] = kept.entries


def caller(
    f: Callable[..., Any],
    argnums: Argnums,
    enabled: list[bool],
    otherwise: Callable[[Args, Kwargs], Any],
    *,
    with_value: bool,
) -> Callable[..., Any]:
    """Return a function that computes the gradient in some arguments, with or without the value, by
    programs that it looks up once; by `otherwise` where they are not `enabled` or there is none."""
    known = _Known()  # what it holds is never searched

    def derivative(*args: Any, **kwargs: Any) -> Any:
        try:
            if not enabled[0] or (in_use[0] and current.level is not None):
                return otherwise(args, kwargs)
            shape: Any = len(args)
            given = args
            if kwargs:
                shape, given = (shape, *kwargs), (*args, *kwargs.values())
            for entry in known.programs.get(shape, ()):
                found = entry.run(f, given)
                if found is FAILED:
                    return otherwise(args, kwargs)
                if found is not MISS:
                    return found if with_value else found[1]
            return first_call(args, kwargs, shape, given)
        except BaseException as error:
            hide_frames(error)
            raise

    def first_call(args: Args, kwargs: Kwargs, shape: Any, given: Args) -> Any:
        mode = _mode_at(f, argnums, len(args), kwargs)
        found = MISS if mode is None else tier.run(f, given, mode, known.programs.get(shape))
        if mode is None or found is MISS:
            return otherwise(args, kwargs)
        if not _asks_signature(f, argnums, kwargs):
            known.keep(shape, tier.known(f, mode))
        return found if with_value else found[1]

    return derivative


def _asks_signature(f: Callable[..., Any], argnums: Argnums, kwargs: Kwargs) -> bool:
    """Return whether a name in `argnums` stands for a position that no program guards."""
    if type(f) is FunctionType and not f.__dict__:
        return False  # its code tells
    asked = argnums if isinstance(argnums, tuple) else (argnums,)
    places = [one[0] if isinstance(one, list) and one else one for one in asked]
    return any(isinstance(place, str) and place not in kwargs for place in places)


def _mode_at(f: Callable[..., Any], argnums: Argnums, count: int, kwargs: Kwargs) -> Mode | None:
    """Return the mode of programs for a call with `count` positional arguments; ``None`` where the
    gradient is not taken in whole arguments."""
    wanted = positions(f, argnums, count, kwargs)
    if wanted is None and argnums is not None:
        return None
    single = count == 1 if argnums is None else not isinstance(argnums, tuple)
    return mode_of("gradient", wanted, tuple(kwargs), is_single=single)


def gradient_mode(kwargs: Kwargs) -> Mode:
    """Return the mode of programs for the gradient in all positional arguments."""
    return mode_of("gradient", None, tuple(kwargs)) if kwargs else GRADIENT


def pullback_mode(kwargs: Kwargs) -> Mode:
    """Return the mode of programs for the pullback to the function and all positional arguments."""
    return mode_of("pullback", None, tuple(kwargs)) if kwargs else PULLBACK


def chosen_mode(chosen: Selection) -> Mode:
    """Return the mode for the gradient of ``chosen.function`` in the chosen arguments."""
    return mode_of("gradient", chosen.places, chosen.names)


def pair_mode(chosen: Selection) -> Mode:
    """Return the mode of programs of ``chosen.function`` for a result of a value and an extra."""
    return mode_of("pullback", chosen.places, chosen.names)


def asked_mode(
    f: Callable[..., Any], argnums: Argnums, args: Args, kwargs: Kwargs, *, has_aux: bool
) -> tuple[Args, Mode]:
    """Return arguments and mode of the programs for a call of a result of `grad`."""
    mode = None if has_aux else _mode_at(f, argnums, len(args), kwargs)
    if mode is not None:
        return (*args, *kwargs.values()), mode
    chosen = select(f, argnums, args, kwargs)
    return chosen.given, pair_mode(chosen) if has_aux else chosen_mode(chosen)
