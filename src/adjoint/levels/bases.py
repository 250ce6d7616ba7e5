"""Functions of vectors of equal values, which may be any basis of their space.

What such a function does in one basis does not tell its derivative: where the values part, they
part along other vectors. If it is the same in every basis, the derivative follows from several of
them. Reverse mode: let W be the Hermitian derivative in the matrix, seen within the space. In the
basis v the cotangents of the values are vᵢᴴ W vᵢ, which is the diagonal of W; in the basis in which
two vectors are turned into (vᵢ + vⱼ)/√2 and (vⱼ − vᵢ)/√2 their difference is twice the element at
row i and column j. So the function is run once more for each round of a tournament, in which each
vector meets each other one, and then again, with what was found, in other random bases, until
nothing changes: where one such matrix is made of another, the last one is known first. Forward
mode: the function is run in two bases along which the values part. A function that depends on the
basis gives other results, or has cotangents that turn the vectors: it has no derivative.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from adjoint.errors import NoDerivativeError
from adjoint.levels.current import current
from adjoint.levels.forward import Forward

SAME, NOTHING = 1e-7, 1e-12
"""How much results may differ that do not depend on a basis: beside the largest number in them, and
in all."""
MOST = 256
"""How many runs of a function are made at a time."""


@dataclass(slots=True)
class Trial:
    """One run in other bases than those that were found.

    Attributes
    ----------
    seed
        Of the random bases to begin with.
    round, rounds
        Which vectors meet, and in how many rounds they do.
    known
        What is known of each W, in the order of the sweep.
    level
        The level that does it; ``None``: reverse mode.
    measured
        What this round adds to each W.
    depends
        Whether the result depends on the basis.
    """

    seed: int = 0
    round: int = 0
    rounds: int = 1
    known: list[Any] = field(default_factory=list)
    level: Any = None
    measured: list[Any] = field(default_factory=list)
    depends: bool = False

    def measure(self, part: Any) -> Any:
        """Note what this round adds to the next W; what is known of that."""
        place = len(self.measured)
        self.measured.append(part)
        return self.known[place] if place < len(self.known) else np.zeros_like(part)


NESTED = Trial(level="none")
"""What runs on levels, of which no trials are made."""


class _Running(threading.local):
    trial: Trial | None = None


_running = _Running()


@contextmanager
def in_trial(trial: Trial | None) -> Iterator[None]:
    """Rules that are called meanwhile give vectors of equal values in the bases of `trial`."""
    before, _running.trial = _running.trial, trial
    try:
        yield
    finally:
        _running.trial = before


def trial_now(of_level: bool) -> Trial | None:
    """The trial that a rule belongs to, of forward mode if `of_level`."""
    trial = _running.trial
    mine = trial is not None and trial.level is current.level
    return trial if mine and of_level is (current.level is not None) else None


def can_try() -> bool:
    """Whether a rule of reverse mode may ask for a trial."""
    return current.level is None and _running.trial is None


def note_missed() -> None:
    """Let the level know that a tangent is not known in the basis that was found."""
    if current.level is not None:
        current.level.missed = True


def in_other_bases(
    error: NoDerivativeError, numbers: list[Any], run: Callable[[Trial], tuple[list[Any], Any]]
) -> Any:
    """The cotangents of a function that is the same in every basis; raises `error` if it is not.

    `numbers` are those of its result, ``run(trial)`` gives them again, and its cotangents.
    """
    known: list[Any] = []
    rounds, seed, settled = error.rounds, 0, -1
    while rounds <= MOST:
        trials = [Trial(seed, i, rounds, known) for i in range(rounds)]
        try:
            for trial in trials:
                found, bars = run(trial)
                if not agree(numbers, found):
                    raise error
        except NoDerivativeError as more:
            if more.rounds <= rounds:
                raise error from None
            rounds = more.rounds
            continue
        parts = zip(*[trial.measured for trial in trials], strict=False)
        before, known = known, [sum(part) for part in parts]
        pairs = zip(before, known, strict=False)
        same = next((i for i, (a, b) in enumerate(pairs) if not agree([a], [b])), len(before))
        if seed and same == len(known) and not any(trial.depends for trial in trials):
            return bars
        if same <= settled:  # of which there has to be one more each time
            break
        seed, settled = seed + 1, same
    raise error


def along_parting(y: Any, y_dot: Any, run: Callable[[Forward], tuple[Any, Any]]) -> Any:
    """The tangent of a result `y` that is the same in every basis, from runs in those along which
    equal values part; `y_dot`, which may be NaN, if it is not."""
    if all(np.all(np.isfinite(part)) for part in numbers_of(y_dot)):
        return y_dot
    dots = []
    for seed in (0, 1):
        level = Forward(None)
        with in_trial(Trial(seed, level=level)), level.memory.undone():
            found, dot = run(level)
        if not agree(numbers_of(y), numbers_of(found)):
            return y_dot
        dots.append(dot)
    return dots[0] if agree(*map(numbers_of, dots)) else y_dot


def numbers_of(value: Any) -> list[Any]:
    """Copies of the numbers and arrays in a result, or in cotangents."""
    if isinstance(value, np.ndarray | np.number | float | complex):
        return [np.array(value)] if np.asarray(value).dtype.kind in "fc" else []
    if isinstance(value, Mapping):
        return numbers_of([*value.values()])
    parts = value if isinstance(value, list | tuple) else ()
    return [number for part in parts for number in numbers_of(part)]


def agree(these: list[Any], those: list[Any]) -> bool:
    """Whether numbers are the same but for rounding."""
    finite = [np.abs(a[np.isfinite(a)]) for a in these]
    largest = max((np.max(part, initial=0.0) for part in finite), default=0.0)
    return len(these) == len(those) and all(
        a.shape == b.shape and np.allclose(a, b, SAME, SAME * largest + NOTHING, equal_nan=True)
        for a, b in zip(these, those, strict=True)
    )
