"""Programs of tangents for the public operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from adjoint.fast.build.modes import PULLBACK, Kind, mode_of
from adjoint.fast.programs.store import FAILED, MISS, is_enabled, run
from adjoint.rulekit import nested

Along: TypeAlias = Any
"""``along(dots)``, a function of one tangent per argument.

It has ``most_rows``: how many rows to take at once, in programs of rows; ``commit()``, which prints
what the function prints, after a call has succeeded; and ``again()``, the context in which the
generic tier may run the function after that. That of a pushforward has ``is_unchanged()``: whether
what the function reads is what it was.
"""


_FIRST = (0,)


def along_of(
    kind: Kind,
    f: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    wanted: tuple[int, ...],
    *,
    is_single: bool = False,
    has_rows: bool = False,
) -> Along | None:
    """Return the function of tangents, one per argument, that a program gives at a point.

    Parameters
    ----------
    kind
        ``pushforward`` or ``hvp``.
    wanted
        The positions of the arguments that have tangents.
    has_rows
        The function takes many tangents at once: a list of arrays with a leading axis, one for each
        number or array of the wanted arguments.

    Returns
    -------
    callable or None
        Returns the pair of values and tangents, or ``None`` if the program fails. ``None`` if no
        program covers the call.
    """
    if not is_enabled[0]:
        return None
    mode = mode_of(kind, wanted, tuple(kwargs), is_single=is_single, has_rows=has_rows)
    found = run(f, (*args, *kwargs.values()), mode)
    if found is MISS or found is FAILED:
        return None
    if not kwargs:
        return found
    more = (None,) * len(kwargs)

    def along(dots: Sequence[Any]) -> Any:
        return found((*dots, *more))

    vars(along).update(vars(found))
    return along


def pushed(
    f: Any,
    args: Sequence[Any],
    dots: Sequence[Any],
    kwargs: dict[str, Any],
    kind: Kind = "pushforward",
    *,
    is_single: bool = False,
) -> Any:
    """Return ``along_of(kind, f, args, kwargs, wanted)(dots)``, in less time; the wanted arguments
    are those whose tangents are not ``None``."""
    if not is_enabled[0]:
        return None
    wanted: tuple[int, ...] = _FIRST
    if len(dots) > 1 or not dots or dots[0] is None:
        wanted = tuple([i for i, dot in enumerate(dots) if dot is not None])
        if not wanted:
            return None
    if kwargs:
        args, dots = (*args, *kwargs.values()), (*dots, *[None] * len(kwargs))
    mode = mode_of(kind, wanted, tuple(kwargs), is_single=is_single)
    found = run(f, tuple(args), mode, None, dots)
    return None if found is MISS or found is FAILED else found


def has_program(f: Any, point: tuple[Any, ...]) -> bool:
    """Return whether a program that neither prints nor writes to anything outside covers the call
    ``f(*point)``."""
    if not is_enabled[0]:
        return False
    found = run(f, point, PULLBACK, may_act=False)
    return found is not MISS and found is not FAILED


nested.pushed = pushed
nested.has_program = has_program
