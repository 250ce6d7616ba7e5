"""One call of a rule beside differences of the function that it is the rule of.

Each argument is moved along a random direction, alone. The slope of the result along it is found at
two step sizes and from either side. Where these disagree (a kink, a jump, a function that is rough
or near the end of its domain) other steps are tried, and where none settles it, nothing is said.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np

from adjoint.cotangents.accumulate import Scattered
from adjoint.cotangents.poison import Poison
from adjoint.derivatives.differences import inner, random_like
from adjoint.diagnostics.no_derivative import name_of
from adjoint.diagnostics.user_place import current_place
from adjoint.errors import RuleError, place_text
from adjoint.levels.random_functions import draws
from adjoint.rulekit.registry import rrule
from adjoint.rulekit.rule import Rule
from adjoint.runtime.recompute.random_state import RandomStates
from adjoint.testing.displacement import (
    direction_of,
    holds_inexact,
    holds_only_numbers,
    moved,
    parts_of,
    resolution,
    size_of,
    terms,
    without_integers,
)
from adjoint.testing.slopes import Slope, slope_of

Key = int | str
"""An argument: its position, or the name that it is given by."""

ATTEMPTS = (
    ((0.0, 1.0), 1e-3),
    ((0.0, math.inf), 1e-3),
    ((1e-2, 1.0), 1e-3),
    ((0.0, 1.0), 1e-5),
)
"""Between which sizes numbers move, and the step relative to that."""
ROUGH_STEP = 2e-2
"""The smallest relative step where the function calculates in lower precision than double."""
RTOL = 1e-4
SPLITS = 3
"""In how many ways a direction is split before a rule is called wrong."""


class Comparison:
    """One call ``y = f(*args, **kwargs)`` by a rule."""

    def __init__(self, f: Any, rule: Rule, args: Any, kwargs: dict[str, Any], y: Any) -> None:
        self._f, self._rule, self._args, self._kwargs, self._y = f, rule, args, kwargs, y
        self._rng = np.random.default_rng(0)
        self._y_bar = random_like(y, self._rng) if holds_only_numbers(y) else None
        if self._y_bar is not None and holds_inexact((*args, *kwargs.values())):
            self._y_bar = without_integers(self._y_bar, y)  # which were rounded
            self._y_bar = self._y_bar if holds_inexact(self._y_bar) else None
        precision = max(map(resolution, (y, args, kwargs)))
        self._rtol = min(max(RTOL, 1e4 * precision), 0.5)

    def pullback(self, back: Callable[[Any], Any]) -> None:
        """Compare what a pullback gives for a random cotangent.

        Raises
        ------
        RuleError
            It is not that of `f`.
        """
        if not self._is_repeatable():
            return
        bars = _run(back, moved(self._y_bar, None, 0.0))
        if not isinstance(bars, tuple) or len(bars) < len(self._args) + 1:
            return  # the engine says what is wrong with it
        named = bars[-1] if self._rule.keyword_bars else {}
        for key, x in self._operands():
            bar = named.get(key) if isinstance(key, str) else bars[key + 1]
            bar = bar.finish() if type(bar) is Scattered else bar
            if type(bar) is Poison or not _fits(x, bar):
                continue

            def found(direction: Any, bar: Any = bar) -> tuple[float, float]:
                parts = terms(bar, direction)
                return math.fsum(parts), math.hypot(*parts)

            self._compare(key, x, bar, found, "pullback")

    def tangent(self) -> None:
        """Compare the tangents that a forward rule gives for random ones, one argument at a time.

        Raises
        ------
        RuleError
            They are not those of `f`.
        """
        if not self._is_repeatable() or self._is_refused():
            return
        n = len(self._args)
        for key, x in self._operands():
            if isinstance(key, str):
                continue

            def found(direction: Any, key: int = key, x: Any = x) -> tuple[float, float]:
                dots = [None] * n
                dots[key] = _tangent_like(x, direction)
                result = _run(self._rule.function, tuple(dots), *self._args, **self._kwargs)
                if result is NotImplemented or type(result[1]) is Poison:
                    raise PassedOver
                return inner(self._y_bar, result[1]), 0.0

            self._compare(key, x, None, found, "tangent")

    def _is_refused(self) -> bool:
        """Whether the reverse rule refuses the cotangent, as those of eigenvectors do: then the
        result is one of many, and its tangent that of another one."""
        applied = _run(rrule, self._f, *self._args, **self._kwargs)
        bars = () if applied is None else _run(applied[1], moved(self._y_bar, None, 0.0))
        return any(type(bar) is Poison for bar in bars)

    def _operands(self) -> Iterator[tuple[Key, Any]]:
        found: dict[Key, Any] = dict(enumerate(self._args))
        if self._rule.keyword_bars:
            found.update(self._kwargs.items())
        return ((key, x) for key, x in found.items() if holds_only_numbers(x))

    def _compare(
        self, key: Key, x: Any, bar: Any, found: Callable[[Any], tuple[float, float]], what: str
    ) -> None:
        for sizes, step in ATTEMPTS:
            direction = direction_of(x, bar, sizes, self._rng)
            if direction is None:
                return
            step = max(step, ROUGH_STEP) if self._precision > 1e-12 else step
            slope = self._slope(key, direction, step)
            if slope is None:
                continue
            got, scale = found(direction)
            if not slope.is_far_from(got, self._rtol, scale):
                return
            if slope.is_settled:
                if self._is_linear(key, direction, step, slope):
                    raise self._wrong(key, got, slope, what)
                return

    def _slope(self, key: Key, direction: Any, step: float) -> Slope | None:
        noise = 4 * self._precision * self._size
        return slope_of(lambda t: self._along(key, direction, t), step, noise)

    def _is_linear(self, key: Key, direction: Any, step: float, whole: Slope) -> bool:
        """Whether the slope is the sum of those along parts of the direction: at a tie (a median,
        a norm) it is not, although the function is straight along each line."""
        for _ in range(SPLITS):
            slopes = [self._slope(key, part, step) for part in parts_of(direction, self._rng)]
            first, second = slopes
            if first is None or second is None:
                return False
            doubt = first.doubt + second.doubt + whole.doubt
            both = Slope(first.value + second.value, doubt, first.scale + second.scale)
            if both.is_far_from(whole.value, self._rtol, 0.0):
                return False
        return True

    def _along(self, key: Key | None, direction: Any, step: float) -> float:
        """⟨y_bar, f⟩ with one argument moved; nothing that is given to `f` belongs to the user."""

        def copied(name: Key, x: Any) -> Any:
            return _run(moved, x, direction if name == key else None, step)

        args = [copied(i, x) for i, x in enumerate(self._args)]
        kwargs = {name: copied(name, x) for name, x in self._kwargs.items()}
        y = _run(self._f, *args, **kwargs)
        if key is None:
            self._precision, self._size = resolution(y), _run(size_of, self._y_bar, y)
        return float(_run(inner, self._y_bar, y))  # the result may have another structure

    def _is_repeatable(self) -> bool:
        """Whether two calls of the function give the same numbers, which are those of the rule."""
        if self._y_bar is None or draws(self._f, self._args):
            return False
        first, second = (self._along(None, None, 0.0) for _ in range(2))
        if first != second:
            return False
        found = inner(self._y_bar, self._y)
        if not math.isfinite(first) or abs(found - first) <= self._rtol * self._size:
            return math.isfinite(first)
        owner = getattr(self._f, "__self__", None)
        values = (*self._args, *self._kwargs.values())
        if type(owner) in (type(None), ModuleType) and all(map(holds_only_numbers, values)):
            raise self._error(f"its value is another one than that of '{name_of(self._f)}'")
        return False  # an object may have changed in between

    def _wrong(self, key: Key, got: float, slope: Slope, what: str) -> RuleError:
        names = self._rule.names[1:] if what == "tangent" else self._rule.names
        named = f" ({names[key]!r})" if isinstance(key, int) and key < len(names) else ""
        argument = f"{key!r}" if isinstance(key, str) else f"{key}{named}"
        return self._error(
            f"along a random direction of argument {argument} its {what} gives {got:.8g},"
            f" differences of '{name_of(self._f)}' give {slope.value:.8g} (to {slope.doubt:.1g})"
        )

    def _error(self, problem: str) -> RuleError:
        name = name_of(self._f)
        code = getattr(self._rule.written, "__code__", None)
        where = "" if code is None else f" at {place_text(code.co_filename, code.co_firstlineno)}"
        return RuleError(
            f"the rule of '{name}' is wrong: {problem}",
            hint=f"correct the rule{where}; ad.testing.check_rule compares it entry by entry",
            place=current_place(),
        )


def _fits(x: Any, bar: Any) -> bool:
    """Whether a cotangent has the structure and the shapes of its primal, which the engine
    demands."""
    if bar is None:
        return True
    if isinstance(x, list | tuple):
        same = isinstance(bar, list | tuple) and len(bar) == len(x)
        return same and all(_fits(*pair) for pair in zip(x, bar, strict=True))
    if type(x) is dict:
        return isinstance(bar, dict) and all(_fits(x.get(key), part) for key, part in bar.items())
    return bool(np.shape(x) == np.shape(bar))


def _tangent_like(x: Any, direction: Any) -> Any:
    """A direction as a tangent of `x`: of its structure and precision."""
    if direction is None:
        return None
    if isinstance(direction, list):
        parts = [_tangent_like(*pair) for pair in zip(x, direction, strict=True)]
        return parts if isinstance(x, list) else tuple(parts)
    if isinstance(direction, dict):
        return {key: _tangent_like(x[key], part) for key, part in direction.items()}
    if isinstance(x, np.ndarray | np.generic):
        found = direction.astype(x.dtype if x.dtype.kind in "fc" else float)
        return found if isinstance(x, np.ndarray) else found[()]
    return direction.item()


class PassedOver(Exception):
    """The function, or the rule, is not for such numbers, or an argument cannot be copied."""


def _run(f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """A call of what may raise anything."""
    try:
        return f(*args, **kwargs)
    except Exception as error:
        raise PassedOver from error


def compare(
    f: Any, rule: Rule, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any, forward: bool
) -> None:
    """Compare what a rule has given for a call with differences of `f`.

    A call that cannot be repeated (on copies of its arguments, of which some have none) is passed
    over, and random generators go on where they were.

    Raises
    ------
    RuleError
        The rule is wrong.
    """
    chance = RandomStates((f, *args))
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            comparison = Comparison(f, rule, args, kwargs, result[0])
            if forward:
                comparison.tangent()
            else:
                comparison.pullback(result[1])
    except PassedOver:
        return
    finally:
        chance.restore()
