"""Arguments whose derivative exists but has no formula: needing it is an error, never zero.

In the reverse sweep the argument gets poison, which is an error once it reaches a differentiated
input, so a constant argument costs nothing. In forward mode the error is raised at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from adjoint.cotangents.finiteness import doubt
from adjoint.cotangents.poison import Poison
from adjoint.diagnostics.user_place import current_place
from adjoint.errors import NoDerivativeError, Place
from adjoint.ir.node import node
from adjoint.locks import make_lock
from adjoint.primal.value_kinds import is_objects
from adjoint.rulekit.partials import Partial, Rule, with_arity
from adjoint.rulekit.registry import frule, non_differentiable, rrule


@node
class NoDerivative:
    """Takes the place of the partial in one argument.

    Attributes
    ----------
    what
        The name of the argument: ``"the order"``.
    why
        Completes "a derivative in the order is needed, which …".
    hint
        Advice; by default the advice that always holds.
    in_reals
        The partial for real operands, if it has a formula there.
    """

    what: str
    why: str = "has no closed form"
    hint: str | None = None
    in_reals: Partial = None


def refusal(f: Any, missing: NoDerivative, place: Place | None = None) -> NoDerivativeError:
    """Return the error for a missing derivative, by default at the place of running user code."""
    name = getattr(f, "__name__", repr(f))
    return NoDerivativeError(
        f"a derivative of '{name}' in {missing.what} is needed, which {missing.why}",
        hint=missing.hint
        or f"hold {missing.what} constant, with ad.stop_gradient for example, or write a rule:"
        f" @ad.rrule.register({name})",
        place=place or current_place(),
    )


def refused_bar(f: Any, missing: NoDerivative, y_bar: Any) -> Poison | None:
    """Return the cotangent of a refused argument: poison, or ``None`` for a zero `y_bar`."""
    asked = (
        any(may_be_nonzero(part) for part in y_bar)
        if isinstance(y_bar, list | tuple)
        else may_be_nonzero(y_bar)
    )
    return Poison(refusal(f, missing), refused_entry(f, missing)) if asked else None


_numbers: dict[tuple[Any, NoDerivative], int] = {}
_numbering = make_lock()
_refused: dict[int, tuple[Any, NoDerivative, Place | None]] = {}
"""Refusals by number, each with its latest place."""
_BELOW, _MOST = 42, (1 << 9) - 1


@non_differentiable
def refused_entry(f: Any, missing: NoDerivative) -> float:
    """Return the cotangent of refused entries of an array in which others are known.

    It is NaN, which spreads to everything that depends on it. Its payload tells it from any other
    NaN, in the nine bits that half precision has, too (IEEE 754-2019, 6.2.3: an operation on a NaN
    should keep its payload).
    """
    with _numbering:
        number = min(_numbers.setdefault((f, missing), len(_numbers) + 1), _MOST)
    _refused[number] = f, missing, current_place()
    return float(np.uint64((0x7FF8 << 48) | (number << _BELOW)).view(np.float64))


def demand_entries(bar: Any) -> None:
    """Refuse a cotangent, a number or an array, that depends on a `refused_entry`."""
    if not _refused or not np.any(unknown := np.isnan(bar)):
        return
    entries = np.asarray(bar)[unknown]
    for part in (entries.real, entries.imag) if entries.dtype.kind == "c" else (entries,):
        numbers = (part.astype(np.float64).view(np.uint64) >> _BELOW) & _MOST
        for number in numbers[np.isnan(part) & (numbers > 0)].tolist():
            if number in _refused:  # other NaNs have no such payload
                raise refusal(*_refused[number])


def demand_known(bar: Any) -> None:
    """Refuse a cotangent of any structure that depends on a `refused_entry`, for user code."""
    if not _refused or bar is None or type(bar) is Poison:
        return
    if isinstance(bar, Mapping):
        bar = list(bar.values())
    if is_objects(bar):
        bar = list(bar.flat)
    if isinstance(bar, list | tuple):
        for part in bar:
            demand_known(part)
    elif isinstance(bar, float | complex | np.ndarray | np.inexact):
        demand_entries(bar)


def may_be_nonzero(bar: Any) -> bool:
    """Return whether a cotangent or tangent is not zero; inside another derivative (see
    `adjoint.levels.level_rules`), also whether it may become so."""
    if isinstance(bar, list | tuple):
        return any(map(may_be_nonzero, bar))
    if type(bar) is Poison:
        return True
    doubt(bar)
    return bar is not None and bool(np.any(bar))


# ---- forward rules -------------------------------------------------------------------------------


def refused_dot(f: Any, missing: NoDerivative, dot: Any, y: Any) -> Any:
    """Return the contribution of a refused argument with tangent `dot` to the tangent of `y`:
    ``None`` or poison. Inside another derivative (see `adjoint.levels.level_rules`) it may be zeros
    whose derivative is refused."""
    return Poison(refusal(f, missing)) if may_be_nonzero(dot) else None


def added(y_dot: Any, part: Any) -> Any:
    """Add a tangent and a contribution of `refused_dot`."""
    if part is None:
        return y_dot
    return part if y_dot is None or type(part) is Poison else y_dot + part


def refused_zeros(f: Any, missing: NoDerivative, dot: Any, y: Any) -> Any:
    """Return zeros like `y` that depend in an unknown way on `dot`, which is zero, too."""
    return np.zeros(np.shape(y), np.result_type(np.asarray(y).dtype, np.float16))[()]


@rrule.register(refused_zeros)
def _(f, missing, dot, y):
    def zeros_back(y_bar):
        return None, None, None, refused_bar(f, missing, y_bar), None

    return refused_zeros(f, missing, dot, y), zeros_back


@frule.register(refused_zeros)
def _(dots, f, missing, dot, y):
    return refused_zeros(f, missing, dot, y), refused_dot(f, missing, dots[2], y)


# ---- rules that refuse some operands -------------------------------------------------------------


def refusing_reverse(
    f: Callable[..., Any], rule: Rule, refused: Mapping[int, NoDerivative]
) -> Rule:
    """Return the reverse rule of `f` with the operands at the positions in `refused` refused."""

    def guarded(*operands: Any) -> Any:
        result = rule(*operands)
        if result is NotImplemented:
            return NotImplemented
        y, back = result

        def guarded_back(y_bar: Any) -> tuple[Any, ...]:
            bars = list(back(y_bar))
            for position, missing in refused.items():
                bars[position + 1] = refused_bar(f, missing, y_bar)
            return tuple(bars)

        return y, guarded_back

    only = rule.only  # type: ignore[attr-defined]
    guarded.only = tuple(  # type: ignore[attr-defined]
        None if i in refused else alone for i, alone in enumerate(only)
    )
    return with_arity(guarded, len(only))


def refusing_forward(
    f: Callable[..., Any], rule: Rule, refused: Mapping[int, NoDerivative], n: int
) -> Rule:
    """Return the forward rule of `f`, of `n` operands, with those in `refused` refused."""

    def guarded(dots: tuple[Any, ...], /, *operands: Any) -> Any:
        result = rule(dots, *operands)
        if result is NotImplemented:
            return NotImplemented
        y, y_dot = result
        for position, missing in refused.items():
            y_dot = added(y_dot, refused_dot(f, missing, dots[position], y))
        return y, y_dot

    return with_arity(guarded, n, "dots")


def unless_complex(rule: Rule, other: Rule, n: int, *first: str) -> Rule:
    """Return `rule`, with `other` for complex operands; `n` operands follow `first`."""

    def choosing(rule: Rule, other: Rule) -> Rule:
        def chosen(*args: Any) -> Any:
            is_complex = any(map(np.iscomplexobj, args[len(first) :]))
            return other(*args) if is_complex else rule(*args)

        return chosen

    chosen = choosing(rule, other)
    chosen.slopes = rule.slopes  # type: ignore[attr-defined]
    if not first:
        pairs = zip(rule.only, other.only, strict=True)  # type: ignore[attr-defined]
        chosen.only = tuple([a and choosing(a, b or other) for a, b in pairs])  # type: ignore[attr-defined]
    return with_arity(chosen, n, *first)
