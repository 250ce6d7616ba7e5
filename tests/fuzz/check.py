"""What every generated program is held to."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

import numpy as np

import adjoint as ad
from adjoint.fast.build.modes import PULLBACK
from adjoint.fast.programs import store as tier
from tests.fuzz.program import Program, TooLongError, traced
from tests.fuzz.templates import Production
from tests.interruption import interrupt, pullbacks_run
from tests.structures import difference, is_leaf, mapped, parts
from tests.support import inner, materialised, random_cotangent

STEP = 3e-4
CONVERGED = 1e-7
"""How far two step sizes may disagree, relative to the derivative's scale, away from a kink."""
AGREES = 1e-6
DIRECTIONS = 2

REFUSALS: tuple[str, ...] = (
    "depends on the order in which NumPy goes through overlapping",
    "cannot be made inside differentiated code",
    "which works on an array of objects",
    "was let go at a 'yield', and what it has changed",
)
"""Messages of refusals that are allowed: what the documents say is refused."""


class DiscardedError(Exception):
    """The program cannot be judged: it does not run to its end, or stands at a kink."""


class RefusedError(Exception):
    """The program is refused, as the documents say."""


class WrongError(AssertionError):
    """The program is differentiated wrongly; the message ends with its source."""


def check_program(
    program: Program, held_to: Callable[[Program, Callable[..., Any]], None] | None = None
) -> tuple[set[Production], bool]:
    """Everything that a pullback promises, at one program; or what else it is held to.

    Returns
    -------
    tuple
        The productions that ran, and whether a pullback was specialised.
    """
    try:
        f = program.compiled()
        ran = _valid(program, f)
        (held_to or check_pullback)(program, f)
    except (DiscardedError, RefusedError):
        raise
    except ad.AdjointError as error:
        if any(re.search(pattern, str(error)) for pattern in REFUSALS):
            raise RefusedError(str(error).partition("\n")[0]) from error
        raise WrongError(f"{type(error).__name__}: {error}\n\n{program.source()}") from error
    except Exception as error:
        what = str(error) if isinstance(error, WrongError) else f"{type(error).__name__}: {error}"
        raise WrongError(f"{what}\n\n{program.source()}") from error
    finally:
        program.forget()
    kept = tier.known(f, PULLBACK)
    return ran, kept is not None and bool(kept.entries)


def _valid(program: Program, f: Callable[..., Any]) -> set[Production]:
    try:
        return traced(program, f, program.args())
    except (TooLongError, Exception) as error:
        raise DiscardedError(f"{type(error).__name__}: {error}") from error


def check_pullback(program: Program, f: Callable[..., Any]) -> None:
    """The value, the caller's data, and the cotangents of everything, twice."""
    rng = np.random.default_rng(program.seed)
    args = program.args()
    y_plain = f(*args)
    left, kept = args, program.kept()
    again = program.args()
    if difference((f(*again), again), (y_plain, left)) is not None:
        raise DiscardedError("each run finds other global variables")
    y_bar = random_cotangent(y_plain, rng)
    directions = [direction_of(program, rng) for _ in range(DIRECTIONS)]
    slopes = [slope_of(program, f, y_bar, direction) for direction in directions]

    args = program.args()
    y, back = ad.pullback(f, *args)
    bars = back(mapped(y_bar))
    demand("result", difference(y, y_plain, rtol=1e-13))
    demand("globals", difference(program.kept(), kept, rtol=1e-13))
    demand("the caller's data", difference(args, left, rtol=1e-13))
    assert len(bars) == 1 + len(args), f"{len(bars)} cotangents of {len(args)} arguments"
    for direction, slope in zip(directions, slopes, strict=True):
        given = program.args()
        found = sum(
            pairing(bar, *each, set(), str(n))
            for n, (bar, *each) in enumerate(zip(bars[1:], given, direction, strict=True))
        )
        if not abs(found - slope) <= AGREES * max(1.0, abs(slope)):
            raise WrongError(f"gradient: {found!r}, finite differences give {slope!r}")

    first = mapped(materialised(bars))
    second = back(mapped(y_bar))
    demand("the second back", difference(materialised(second), first))
    demand("globals after the second back", difference(program.kept(), kept, rtol=1e-13))
    demand("the caller's data after the second back", difference(args, left, rtol=1e-13))
    if program.seed % 8 == 0:
        before = tier.is_enabled[0]
        tier.is_enabled[0] = False
        try:
            _check_interrupted(program, f, y_bar, left)
        finally:
            tier.is_enabled[0] = before


def _check_interrupted(program: Program, f: Callable[..., Any], y_bar: Any, left: Any) -> None:
    """The caller's data after a sweep in which a pullback raised, and the cotangents of another.

    In the generic tier: a specialised program in which something raises is followed by it.
    """
    args = program.args()
    _, back = ad.pullback(f, *args)
    first = mapped(materialised(back(mapped(y_bar))))
    count = pullbacks_run(lambda: back(mapped(y_bar)))
    if count:
        interrupt(lambda: back(mapped(y_bar)), random.Random(program.seed).randrange(count))
        demand("the caller's data after an exception", difference(args, left, rtol=1e-13))
    demand("back after an exception", difference(materialised(back(mapped(y_bar))), first))


# ---- directional derivatives ---------------------------------------------------------------------


def direction_of(program: Program, rng: np.random.Generator) -> tuple[Any, ...]:
    """A random direction, shaped like the arguments."""

    def leaf(x: Any) -> Any:
        if isinstance(x, np.ndarray):
            return rng.choice([-1.0, 1.0], x.shape) * rng.uniform(0.5, 1.0, x.shape)
        return float(rng.choice([-1.0, 1.0]) * rng.uniform(0.5, 1.0))

    return mapped(program.args(), leaf)


def slope_of(program: Program, f: Callable[..., Any], y_bar: Any, direction: Any) -> float:
    """The derivative of ``<y_bar, f>`` along a direction, by two five-point stencils."""
    return slope_along(program, direction, lambda args: inner(y_bar, f(*args)))


def slope_along(
    program: Program, direction: Any, value: Callable[[Any], float], step: float = STEP
) -> float:
    """The derivative of ``value(args)`` along a direction, by two five-point stencils."""
    moves = _leaves(direction)

    def at(h: float) -> float:
        count = iter(moves)
        return value(mapped(program.args(), lambda x: x + h * next(count)))

    try:
        half, one, two = (at(k * step) - at(-k * step) for k in (0.5, 1.0, 2.0))
    except Exception as error:
        raise DiscardedError(f"a step away: {type(error).__name__}: {error}") from error
    coarse, fine = (8 * one - two) / (12 * step), (8 * half - one) / (6 * step)
    if not abs(fine - coarse) <= CONVERGED * max(1.0, abs(fine)):
        raise DiscardedError("two step sizes disagree")
    return fine


def _leaves(x: Any) -> list[Any]:
    found: list[Any] = []
    mapped(x, lambda leaf: found.append(leaf) or leaf)
    return found


def pairing(bar: Any, x: Any, direction: Any, seen: set[int], path: str) -> float:
    """The inner product of a cotangent and a direction, both shaped like `x`.

    What occurs twice in an argument shows its total cotangent at both places and is counted once.
    """
    if is_leaf(x):
        return _pairing_of_leaf(bar, x, direction, seen, path)
    inside, moves = parts(x), parts(direction)
    if inside is None or moves is None or bar is None or id(x) in seen:
        return 0.0
    seen.add(id(x))
    if isinstance(x, list | tuple | dict) and (type(bar) is not type(x) or len(bar) != len(x)):
        raise WrongError(f"the cotangent of argument {path} does not have its structure: {bar!r}")
    bars, moves = dict(parts(bar) or ()), dict(moves)
    return sum(
        pairing(bars.get(key), part, moves[key], seen, f"{path}[{key!r}]") for key, part in inside
    )


def _pairing_of_leaf(bar: Any, x: Any, direction: Any, seen: set[int], path: str) -> float:
    if isinstance(x, np.ndarray):
        if id(x) in seen:
            return 0.0
        seen.add(id(x))
    if bar is None:
        return 0.0
    if np.shape(bar) != np.shape(x) or np.iscomplexobj(bar):
        raise WrongError(f"the cotangent of argument {path} is {bar!r} for {x!r}")
    return float(np.sum(np.asarray(bar) * direction))


def demand(what: str, problem: str | None) -> None:
    """Refuse a problem that was found."""
    if problem is not None:
        raise WrongError(f"{what}: {problem}")
