"""Derivatives of functions of eigenvectors or singular vectors whose values are equal.

The vectors of equal values are one of many bases of their space, and under a perturbation the
values part along other vectors. So a run in one basis does not give the derivative. For a function
that is the same in every basis, the derivative follows from runs in several bases.

Reverse mode: let W be the Hermitian derivative in the matrix, restricted to the space. In the basis
v the cotangents of the values are vᵢᴴ W vᵢ, the diagonal of W. In the basis in which two vectors
are turned into (vᵢ + vⱼ)/√2 and (vⱼ − vᵢ)/√2, the difference of their cotangents is twice the
element at row i and column j. So the function is run once for each round of a tournament in which
each vector meets each other one. Then it is run again, with the W found so far, in random bases
until nothing changes; of matrices that depend on each other, the last one settles first.

Forward mode: the function is run in two bases along which the values part.

A function that depends on the basis has no derivative: its results differ between bases, or its
cotangents turn the vectors.
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
from adjoint.levels.forward_level import Forward

SAME, NOTHING = 1e-7, 1e-12
"""The tolerances for equal results: relative to their largest number, and absolute."""
MOST = 256
"""The largest number of runs of a function in one pass."""


@dataclass(slots=True)
class Trial:
    """One run in other bases than those that the decomposition returned.

    Attributes
    ----------
    seed
        The seed of the random bases to start from.
    round, rounds
        The round of the tournament, and the number of rounds.
    known
        The W found so far, in the order of the sweep.
    level
        The level of the run; ``None``: reverse mode.
    measured
        The contribution of this round to each W.
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
        """Store the contribution of this round to the next W; return the known part of this W."""
        place = len(self.measured)
        self.measured.append(part)
        return self.known[place] if place < len(self.known) else np.zeros_like(part)


NESTED = Trial(level="none")
"""The trial of runs on levels: their rules start no trials."""


class _Running(threading.local):
    trial: Trial | None = None


_running = _Running()


@contextmanager
def in_trial(trial: Trial | None) -> Iterator[None]:
    """Make rules that are called in this context use the bases of `trial`."""
    before, _running.trial = _running.trial, trial
    try:
        yield
    finally:
        _running.trial = before


def trial_now(of_level: bool) -> Trial | None:
    """Return the running trial, or ``None`` if it is not of the current level and of the caller's
    mode (forward mode if `of_level`)."""
    trial = _running.trial
    mine = trial is not None and trial.level is current.level
    return trial if mine and of_level is (current.level is not None) else None


def can_try() -> bool:
    """Return whether a rule of reverse mode may ask for a trial."""
    return current.level is None and _running.trial is None


def note_missed() -> None:
    """Tell the level that a tangent is unknown in the basis of the decomposition."""
    if current.level is not None:
        current.level.missed = True


def in_other_bases(
    error: NoDerivativeError, numbers: list[Any], run: Callable[[Trial], tuple[list[Any], Any]]
) -> Any:
    """Return the cotangents of a function that is the same in every basis, else raise `error`.

    `numbers` are the numbers of the result. ``run(trial)`` returns the numbers of a run and its
    cotangents.
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
        if same <= settled:  # each pass has to settle one more W
            break
        seed, settled = seed + 1, same
    raise error


def along_parting(y: Any, y_dot: Any, run: Callable[[Forward], tuple[Any, Any]]) -> Any:
    """Return the tangent of a result `y` from runs in bases along which equal values part. If the
    runs differ, the function depends on the basis: return `y_dot`, which may be NaN."""
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
    """Return copies of the numbers and arrays in a result or in cotangents."""
    if isinstance(value, np.ndarray | np.number | float | complex):
        return [np.array(value)] if np.asarray(value).dtype.kind in "fc" else []
    if isinstance(value, Mapping):
        return numbers_of([*value.values()])
    parts = value if isinstance(value, list | tuple) else ()
    return [number for part in parts for number in numbers_of(part)]


def agree(these: list[Any], those: list[Any]) -> bool:
    """Return whether two lists of arrays are equal up to rounding."""
    finite = [np.abs(a[np.isfinite(a)]) for a in these]
    largest = max((np.max(part, initial=0.0) for part in finite), default=0.0)
    return len(these) == len(those) and all(
        a.shape == b.shape and np.allclose(a, b, SAME, SAME * largest + NOTHING, equal_nan=True)
        for a, b in zip(these, those, strict=True)
    )
