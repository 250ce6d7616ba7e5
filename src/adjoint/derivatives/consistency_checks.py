"""Checks of forward mode against reverse mode, and of second derivatives against differences, for
`adjoint.testing.check_gradient`."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np

from adjoint.api.gradients import gradient
from adjoint.derivatives.differences import bisected, inner, leaves, widened
from adjoint.derivatives.flat_vector import flatten, places
from adjoint.errors import AdjointError, ArgumentError
from adjoint.levels.transforms import pushforward

MODES = ("reverse", "forward", "second")
NESTINGS = (
    "forward over reverse",
    "reverse over reverse",
    "reverse over forward",
    "forward over forward",
)


@dataclass
class Checked:
    """Result of `check_gradient`.

    Attributes
    ----------
    right : list of str
        The modes and nestings that agree.
    refused : dict
        The error of each mode and nesting that is refused.
    """

    right: list[str] = field(default_factory=list)
    refused: dict[str, AdjointError] = field(default_factory=dict)

    def __repr__(self) -> str:
        text = f"checked: {'; '.join(self.right)}"
        return f"{text}; {self.not_checked()}" if self.refused else text

    def not_checked(self) -> str:
        """Return a text of what is refused, and why."""
        why: dict[str, list[str]] = {}
        for what, error in self.refused.items():
            why.setdefault(f"{type(error).__name__}: {error.problem}", []).append(what)
        named = [f"{'; '.join(what)} ({reason})" for reason, what in why.items()]
        return f"not checked: {'; '.join(named)}"


def check_modes(
    f: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    y_bar: Any,
    modes: tuple[str, ...],
    tolerances: tuple[float, float],
) -> Checked:
    """Check the `modes` other than reverse mode, which is known to be right at this point.

    Raises
    ------
    AssertionError
        The message names the mode, the argument and the entry that is off, and by how much.
    """
    checked = Checked(["reverse mode"])
    checks: dict[str, Callable[[], None]] = {}
    try:
        problem = _Problem(f, args, kwargs, y_bar, tolerances)
    except ArgumentError as error:
        if "forward" in modes:
            checked.refused["forward mode"] = error
        if "second" in modes:
            checked.refused["second order"] = error
        return checked
    if "forward" in modes:
        checks["forward mode"] = problem.check_forward_mode
    if "second" in modes:
        second = _SecondOrder(problem)
        for nesting in NESTINGS:
            checks[f"second order, {nesting}"] = getattr(second, nesting.replace(" ", "_"))
    with np.errstate(all="ignore"):
        for what, check in checks.items():
            try:
                check()
            except AdjointError as error:
                checked.refused[what] = error
            else:
                checked.right.append(what)
    return checked


class _Problem:
    """⟨ȳ, f⟩ as a function of one vector, in double precision.

    Attributes
    ----------
    vector
        The point.
    slope
        The gradient at the point.
    """

    def __init__(
        self,
        f: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        y_bar: Any,
        tolerances: tuple[float, float],
    ) -> None:
        wide = widened(args)
        try:
            flatten(wide)
        except ArgumentError:
            wide = tuple(map(_real, wide))
        self._args, self._f, self._kwargs, self._y_bar = wide, f, kwargs, y_bar
        self.vector, _ = flatten(wide)
        y = _plain(f, copy.deepcopy(wide), kwargs)
        eps = max(
            [float(np.finfo(np.asarray(leaf.value).dtype).eps) for leaf in _reals(y)] or [0.0]
        )
        self.rtol, self.atol = max(tolerances[0], 100 * eps), tolerances[1]
        value, other = inner(y_bar, y), self.scalar()(self.vector)
        if not np.isclose(value, other, rtol=self.rtol, atol=1e-9, equal_nan=True):
            raise ArgumentError(
                "the function gives another value for a copy of its arguments",
                hint="give it arguments that can be copied",
            )
        self.slope = self.gradient(self.vector)

    def scalar(self) -> Callable[[Any], Any]:
        """Return the function, a new one for each use, because it may change its arguments."""
        args, (f, kwargs, y_bar) = copy.deepcopy(self._args), (self._f, self._kwargs, self._y_bar)
        unflatten = flatten(args)[1]

        def scalar(v: Any) -> Any:
            return _weighted(y_bar, f(*unflatten(v), **kwargs))

        return scalar

    def gradient(self, v: Any) -> Any:
        """Return the gradient of the function at a point."""
        return gradient(self.scalar(), v)[0]

    def name(self, place: int) -> str:
        """Return the name of a number of the vector."""
        return next(islice(_names(self._args), place, None))

    def check_forward_mode(self) -> None:
        """Check forward mode against reverse mode."""

        def pushed(u: Any) -> Any:
            return pushforward(self.scalar(), (self.vector,), (u,))[1]

        self.check_along("forward mode", pushed, self.slope, "reverse mode gives", 0.0)

    def check_along(
        self, what: str, product: Callable[[Any], Any], expected: Any, reference: str, allowed: Any
    ) -> None:
        """Compare a linear form with the expected vector along a random direction; if it is off,
        bisect the direction down to one number."""
        u = np.random.default_rng(3).normal(size=expected.size)

        def excess(start: int, stop: int) -> float:
            part = np.zeros(u.size)
            part[start:stop] = u[start:stop]
            terms = expected * part
            bound = self.rtol * np.sum(np.abs(terms)) + self.atol + np.sum(allowed * np.abs(part))
            off = float(np.abs(product(part) - np.sum(terms)))
            return np.inf if np.isnan(off) else off - bound

        if not excess(0, u.size) > 0:
            return
        start = bisected(excess, 0, u.size)
        unit = np.zeros(u.size)
        unit[start] = 1.0
        _refuse(what, self.name(start), product(unit), reference, expected[start])


class _SecondOrder:
    """The product of the Hessian and a vector by each nesting of the modes, compared with
    differences of gradients."""

    def __init__(self, problem: _Problem) -> None:
        self._problem = problem
        vector = problem.vector
        self._u = np.random.default_rng(4).normal(size=vector.size)
        self._expected: Any = None
        self._allowed: Any = None

    def _differences(self) -> None:
        """Compute the expected product and the allowed error by differences."""
        problem, u = self._problem, self._u
        expected, error = _differences(lambda t: problem.gradient(problem.vector + t * u))
        size = np.abs(expected)
        allowed = np.minimum(4 * error, 1e-4 * np.maximum(size, 1e-2))
        self._expected = expected
        self._allowed = problem.rtol * size + problem.atol + allowed

    def _compare(self, nesting: str, got: Any) -> None:
        if self._expected is None:
            self._differences()
        expected, problem = self._expected, self._problem
        if not np.isfinite(expected).all():  # the steps lead out of the domain
            unknown = ~np.isfinite(expected)
            self._expected = expected = np.where(unknown, got, expected)
            bound = problem.rtol * np.abs(got) + problem.atol
            self._allowed = np.where(unknown, bound, self._allowed)
        if not expected.size:
            return
        off = np.abs(got - expected)
        excess = np.where(np.isnan(off), np.inf, off - self._allowed)
        worst = int(np.argmax(excess))
        if excess[worst] > 0:
            what, name = f"second order, {nesting}", problem.name(worst)
            reference = "differences of gradients give"
            _refuse(what, name, got[worst], reference, expected[worst])

    def _slope(self) -> Callable[[Any], Any]:
        scalar = self._problem.scalar()

        def slope(v: Any) -> Any:
            return gradient(scalar, v)[0]

        return slope

    def _along(self) -> Callable[[Any], Any]:
        scalar, u = self._problem.scalar(), self._u

        def along(v: Any) -> Any:
            return pushforward(scalar, (v,), (u,))[1]

        return along

    def forward_over_reverse(self) -> None:
        """Check one nesting; the methods below check the others."""
        found = pushforward(self._slope(), (self._problem.vector,), (self._u,))[1]
        self._compare("forward over reverse", found)

    def reverse_over_reverse(self) -> None:
        slope, u, vector = self._slope(), self._u, self._problem.vector
        found = gradient(lambda v: np.sum(slope(v) * u), vector)[0]
        self._compare("reverse over reverse", found)

    def reverse_over_forward(self) -> None:
        vector = self._problem.vector
        found = gradient(self._along(), vector)[0]
        self._compare("reverse over forward", found)

    def forward_over_forward(self) -> None:
        def pushed(u: Any) -> Any:
            return pushforward(self._along(), (self._problem.vector,), (u,))[1]

        if self._expected is None:
            self._differences()
        what, expected = "second order, forward over forward", self._expected
        if np.isfinite(expected).all():
            reference = "differences of gradients give"
            self._problem.check_along(what, pushed, expected, reference, self._allowed)


def _plain(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    try:
        return f(*args, **kwargs)
    except TypeError as error:
        raise ArgumentError(
            f"the function does not take floats in place of its integers: {error}",
            hint="its derivative in integers is checked in reverse mode alone",
        ) from error


def _reals(y: Any) -> list[Any]:
    return [leaf for leaf in leaves(y) if np.asarray(leaf.value).dtype.kind in "fc"]


def _real(x: Any) -> Any:
    if isinstance(x, np.ndarray | np.integer) and x.dtype.kind in "iu":
        return x.astype(float)
    return float(x) if isinstance(x, int) and not isinstance(x, bool) else x


def _names(args: tuple[Any, ...]) -> Iterator[str]:
    """Yield the name of each number of the vector."""
    for ((_, position), *rest), index, part in places(args):
        steps = "".join(f"[{key!r}]" if kind == "[]" else f".{key}" for kind, key in rest)
        yield f"argument {position}{steps}{list(index) if index else ''}{part}"


def _weighted(y_bar: Any, y: Any) -> Any:
    """Return ⟨ȳ, y⟩, by code that is differentiated."""
    if y_bar is None:
        return 0.0
    total = 0.0
    if isinstance(y_bar, dict):
        for key in y_bar:
            total = total + _weighted(y_bar[key], y[key])
        return total
    if isinstance(y_bar, list | tuple) or (
        isinstance(y_bar, np.ndarray) and y_bar.dtype.kind == "O"
    ):
        for part_bar, part in zip(y_bar, y, strict=True):
            total = total + _weighted(part_bar, part)
        return total
    return np.sum(np.real(np.conj(y_bar) * y))


def _refuse(what: str, name: str, got: Any, reference: str, expected: Any) -> None:
    raise AssertionError(
        f"{what}: the derivative by {name} is {got:.10g}, {reference} {expected:.10g}"
        f" (off by {np.abs(got - expected):.3g})"
    )


def _differences(along: Callable[[float], Any]) -> tuple[Any, Any]:
    """Return the derivative of an array-valued function at 0, and an estimate of its errors."""
    best: Any = None
    best_error: Any = None
    last: Any = None
    for power in range(8):
        h = 0.02 / 5**power
        try:
            near, far = along(h) - along(-h), along(2 * h) - along(-2 * h)
        except (ValueError, ArithmeticError):  # the step leads out of the domain: try a smaller one
            continue
        estimate = (8 * near - far) / (12 * h)
        error = np.full(estimate.shape, np.inf) if last is None else np.abs(estimate - last)
        if best is None:
            best, best_error = estimate, error
        better = (error < best_error) | np.isnan(best)
        best, best_error = np.where(better, estimate, best), np.where(better, error, best_error)
        if np.all(error <= 1e-9 * np.maximum(1.0, np.abs(estimate))):
            break
        last = estimate
    if best is None:
        raise ArgumentError(
            "no step from the point stays in the domain of the function",
            hint="check it at another point",
        )
    return best, best_error
