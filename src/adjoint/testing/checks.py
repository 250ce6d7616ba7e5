"""Checks of derivatives: `check_gradient` of a function, `check_rule` of a registered rule.

Both compare with finite differences, entry by entry. They also check that a derivative does not
change its arguments, gives the same answer twice, and has the shape and precision of its primal.
"""

from __future__ import annotations

import copy
import functools
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint.cotangents.poison import Poison
from adjoint.derivatives.differences import (
    Leaf,
    as_type_of,
    bisected,
    inner,
    leaves,
    moved,
    part_at,
    perturbed,
    random_like,
    slope,
    widened,
)
from adjoint.diagnostics.public_function import public
from adjoint.errors import ArgumentError
from adjoint.rulekit.registry import frule, rrule
from adjoint.rulekit.wanted import asks
from adjoint.testing.value_comparison import has_reals, is_inexact, resolution_of, same, shared

if TYPE_CHECKING:
    from adjoint.derivatives.consistency_checks import Checked

__all__ = ["NotCheckedWarning", "check_gradient", "check_rule"]

ENTRIES = 40
"""The most entries of one array that are perturbed alone; they are drawn at random."""

BLOCKS = 8
"""The number of blocks in which the entries of a larger array are perturbed together."""


class NotCheckedWarning(UserWarning):
    """`check_gradient` left out a mode that is refused for the function, for the given reason."""


@public
def check_gradient(
    f: Callable[..., Any],
    *args: Any,
    rtol: float = 1e-6,
    atol: float = 1e-9,
    modes: str | tuple[str, ...] | None = None,
    **kwargs: Any,
) -> Checked:
    """Check the derivatives that the library computes of `f`.

    Reverse mode is compared with finite differences, forward mode with reverse mode, and second
    derivatives by each nesting of the two with differences of gradients.

    The result of `f` is projected on a random cotangent, so it may be any number, array or
    structure of such.

    Parameters
    ----------
    f : callable
        Runs many times, on copies of the arguments.
    *args
        The point: numbers, arrays, containers, objects. `f` must be smooth there, for second
        derivatives twice.
    rtol, atol : float
        Tolerances for double precision; lower precision widens them.
    modes : str or tuple of str, optional
        What to check: ``"reverse"``, ``"forward"``, ``"second"``, several of them, or ``"all"``.
        Reverse mode is always checked, the others in double precision. By default all; a mode that
        the library refuses for `f` is then left out with a `NotCheckedWarning`. A mode that is
        named must not be refused.
    **kwargs
        Passed through, held constant.

    Returns
    -------
    Checked
        The modes and nestings that are right, ``right``, and those that were refused, ``refused``.

    Raises
    ------
    AssertionError
        The message names the mode, the argument, the entry, the expected and the actual value, and
        the difference.
    AdjointError
        Reverse mode, or a mode in `modes`, is refused.

    Examples
    --------
    >>> check_gradient(lambda x: np.sin(x) * x, np.array([1.0, 2.0]), modes=("reverse", "forward"))
    checked: reverse mode; forward mode
    >>> len(check_gradient(lambda x: np.sin(x) * x, np.array([1.0, 2.0])).right)
    6
    """
    import adjoint
    from adjoint.derivatives.consistency_checks import MODES, Checked, check_modes

    chosen: Any = MODES if modes in (None, "all") else modes
    chosen = (chosen,) if isinstance(chosen, str) else chosen
    if not isinstance(chosen, list | tuple | set) or not set(chosen) <= set(MODES):
        raise ArgumentError(
            f"modes is {modes!r}", hint='give "reverse", "forward", "second", several, or "all"'
        )

    args = tuple(map(copy.deepcopy, args))  # one object given twice is two variables
    plain_args = copy.deepcopy(args)
    plain = f(*plain_args, **kwargs)
    seen_args = copy.deepcopy(args)
    y, back = adjoint.pullback(f, *seen_args, **kwargs)
    _assert_same(y, plain, "the result under pullback")
    y_bar = random_like(y, np.random.default_rng(0))
    if y_bar is None:
        raise AssertionError(f"{_name(f)} returned nothing that has a derivative: {y!r}")
    bars = back(y_bar)
    _assert_same(seen_args, plain_args, "the arguments after pullback and back")
    _assert_same(back(y_bar), bars, "the second call of back")
    try:
        with np.errstate(all="ignore"):  # warnings of the steps, not of the point
            _check_bars(lambda *xs: f(*xs, **kwargs), args, bars[1:], y_bar, y, rtol, atol)
    except AssertionError as error:
        raise AssertionError(f"reverse mode: {error}") from None
    if chosen == ("reverse",):
        return Checked(["reverse mode"])
    checked = check_modes(f, args, kwargs, y_bar, tuple(chosen), (rtol, atol))
    if checked.refused:
        if modes is not None:
            raise next(iter(checked.refused.values()))
        warnings.warn(
            f"check_gradient({_name(f)}): {checked.not_checked()}", NotCheckedWarning, stacklevel=3
        )
    return checked


@public
def check_rule(f: Any, *args: Any, rtol: float = 1e-6, atol: float = 1e-9, **kwargs: Any) -> None:
    """Check the registered rules of `f` at one point.

    The reverse rule is compared with finite differences. With a forward rule, both must satisfy
    ⟨ȳ, ẏ⟩ = Σ⟨x̄, ẋ⟩. Cotangents must have the structure, shape and floating dtype of their
    primals, arguments and ``y_bar`` must stay unchanged, and ``back`` must return the same twice.
    Arguments in which the rule refuses a derivative are left out.

    Parameters
    ----------
    f : callable or (type, name)
        The key that the rule is registered for.
    *args, **kwargs
        The arguments. Integers are perturbed where the rule gives them a cotangent.
    rtol, atol : float
        Tolerances for double precision; lower precision widens them.

    Raises
    ------
    AssertionError
        The message names the argument, the entry, the expected and the actual value.

    Examples
    --------
    >>> check_rule(np.hypot, 3.0, np.array([4.0, 5.0]))
    """
    call = _callable(f)
    with np.errstate(all="ignore"):
        before = copy.deepcopy(args)
        plain_args = copy.deepcopy(args)
        plain = call(*plain_args, **kwargs)
        applied = rrule(f, *args, **kwargs)
        if applied is None:
            raise AssertionError(f"no rule of {_name(f)} is registered for these arguments")
        y, back = applied
        _assert_same(y, plain, "the result under the rule")
        if shared(y, args) and not shared(plain, plain_args):
            raise AssertionError("the result under the rule shares memory with an argument")
        y_bar = random_like(y, np.random.default_rng(0))
        if y_bar is None:
            return
        bars = _apply_twice(back, y_bar, len(args))
        _assert_same(args, before, "the arguments after the rule")
        _check_bars(lambda *xs: call(*xs, **kwargs), args, bars, y_bar, y, rtol, atol)
        if asks(back):
            _check_each_wanted(back, y_bar, bars)
        bars = tuple(None if type(bar) is Poison else bar for bar in bars)
        _check_forward(f, args, kwargs, bars, y_bar, y)


def _apply_twice(back: Callable[[Any], Any], y_bar: Any, n: int) -> tuple[Any, ...]:
    before = copy.deepcopy(y_bar)
    bars = back(y_bar)
    _assert_same(y_bar, before, "y_bar after back")
    extra = isinstance(bars, tuple) and len(bars) == n + 2 and isinstance(bars[-1], dict)
    if not isinstance(bars, tuple) or len(bars) != n + 1 + extra:
        raise AssertionError(f"back must return {n + 1} cotangents (f_bar first), not {bars!r}")
    kept = copy.deepcopy(bars)
    _assert_same(back(_read_only(y_bar)), kept, "the second call of back")
    return bars[1 : n + 1]


def _check_each_wanted(back: Any, y_bar: Any, bars: tuple[Any, ...]) -> None:
    """Ask a pullback for each cotangent alone."""
    given = back.keywords if isinstance(back, functools.partial) else back.__kwdefaults__
    n = len(given["wanted"])
    for i, bar in enumerate(bars):
        alone = back(y_bar, wanted=tuple(j == i for j in range(n)))[i + 1]
        _assert_same(alone, bar, f"the cotangent of argument {i} where no other is wanted")


# ---- finite differences --------------------------------------------------------------------------


def _check_bars(
    f: Callable[..., Any],
    args: tuple[Any, ...],
    bars: tuple[Any, ...],
    y_bar: Any,
    y: Any,
    rtol: float,
    atol: float,
) -> None:
    eps = max(resolution_of(leaf.value) for leaf in (*leaves(args), *leaves(y)))
    resolution = max([resolution_of(leaf.value) for leaf in leaves(f(*widened(args)))], default=0.0)
    rtol, atol = max(rtol, 100 * eps), max(atol, 10 * eps if eps > 1e-10 else 0.0)
    for position, (x, bar) in enumerate(zip(args, bars, strict=True)):
        if type(bar) is Poison or (bar is None and not has_reals(x)):
            continue  # refused, or without reals
        _check_structure(x, bar, position)
        for leaf in leaves(x, (("[]", position),)):
            leaf_bar = part_at(bar, leaf.path[1:])
            if not is_inexact(leaf.value) and (leaf_bar is None or not np.any(leaf_bar)):
                continue  # an integer without a derivative
            _check_kind(leaf, leaf_bar)
            _check_leaf(f, args, leaf, leaf_bar, y_bar, (rtol, atol, resolution))


def _check_leaf(
    f: Callable[..., Any],
    args: tuple[Any, ...],
    leaf: Leaf,
    leaf_bar: Any,
    y_bar: Any,
    tolerances: tuple[float, float, float],
) -> None:
    rng = np.random.default_rng(1)
    indices = list(np.ndindex(np.shape(leaf.value)))
    directions = (1.0, 1j) if np.iscomplexobj(leaf.value) else (1.0,)
    if len(indices) > ENTRIES:
        chosen = sorted(rng.choice(len(indices), ENTRIES, replace=False))
        for direction in directions:
            chosen += _off_together(f, args, leaf, leaf_bar, y_bar, direction, tolerances)
        indices = [indices[i] for i in chosen]
    for index in indices:
        entry = np.asarray(leaf.value)[index]
        got_entry = 0.0 if leaf_bar is None else complex(np.asarray(leaf_bar)[index])
        for direction in directions:

            def along(t: float) -> float:
                moved = perturbed(args, leaf, index, t * direction)
                return inner(y_bar, f(*moved))

            expected, error = slope(along, max(1.0, float(abs(entry))), tolerances[2])
            got = got_entry.real if direction == 1.0 else got_entry.imag
            _compare(
                f"{leaf}{list(index) if index else ''}", direction, expected, error, got, tolerances
            )


def _off_together(
    f: Callable[..., Any],
    args: tuple[Any, ...],
    leaf: Leaf,
    leaf_bar: Any,
    y_bar: Any,
    direction: complex,
    tolerances: tuple[float, float, float],
) -> list[int]:
    """Return an entry of a large array that is off, found by moving many together, or none."""
    shape, size = np.shape(leaf.value), int(np.size(leaf.value))
    weights = np.random.default_rng(2).choice([-1.0, 1.0], size)
    bar = np.zeros(size, complex) if leaf_bar is None else np.ravel(leaf_bar).astype(complex)
    bar = bar.real if direction == 1.0 else bar.imag

    def excess(start: int, stop: int) -> float:
        u = np.zeros(size)
        u[start:stop] = weights[start:stop]

        def along(t: float) -> float:
            return inner(y_bar, f(*moved(args, leaf, t * direction * np.reshape(u, shape))))

        scale = max(1.0, float(np.max(np.abs(leaf.value))))
        expected, error = slope(along, scale, tolerances[2])
        terms = float(np.linalg.norm(bar * u))  # random errors do not add up
        allowed = tolerances[0] * terms + tolerances[1] + min(4 * error, 1e-4 * max(terms, 1e-2))
        return abs(expected - float(np.sum(bar * u))) - allowed

    for block in np.array_split(np.arange(size), BLOCKS):
        start, stop = int(block[0]), int(block[-1]) + 1
        if not excess(start, stop) > 0:
            continue
        return [bisected(excess, start, stop)]
    return []


def _compare(
    where: str,
    direction: complex,
    expected: float,
    error: float,
    got: float,
    tolerances: tuple[float, float, float],
) -> None:
    rtol, atol, _ = tolerances
    size = max(abs(expected), abs(got))
    if not abs(expected - got) <= rtol * size + atol + min(4 * error, 1e-4 * max(size, 1e-2)):
        part = "" if direction == 1.0 else " (imaginary part)"
        raise AssertionError(
            f"the cotangent of {where}{part} is {got:.10g}, finite differences give {expected:.10g}"
            f" (to {error:.1g}): off by {abs(expected - got):.3g}"
        )


# ---- other properties ----------------------------------------------------------------------------


def _check_forward(
    f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], bars: tuple[Any, ...], y_bar: Any, y: Any
) -> None:
    rng = np.random.default_rng(2)
    dots = tuple(
        None if bar is None else random_like(x, rng) for x, bar in zip(args, bars, strict=True)
    )
    alone = [tuple(d if i == k else None for i, d in enumerate(dots)) for k in range(len(dots))]
    for some in (dots, *(alone if len(alone) > 1 else ())):
        applied = frule(f, some, *args, **kwargs)
        if applied is None:
            return
        value, y_dot = applied
        _assert_same(value, y, "the result under the forward rule")
        if y_dot is not None and not isinstance(y, list | tuple):
            if np.shape(y_dot) != np.shape(y):
                raise AssertionError(
                    f"the tangent has shape {np.shape(y_dot)}, the result has shape {np.shape(y)}"
                )
            if isinstance(y, np.ndarray) and y.dtype.kind in "fc" and y_dot.dtype != y.dtype:
                raise AssertionError(f"the tangent is {y_dot.dtype}, the result is {y.dtype}")
        left = inner(y_bar, y_dot)
        terms = [inner(bar, dot) for bar, dot in zip(bars, some, strict=True) if dot is not None]
        eps = max(resolution_of(leaf.value) for leaf in (*leaves(args), *leaves(y)))
        size = sum(map(abs, terms)) + abs(left) + 1.0
        entries = max(1, sum(np.size(leaf.value) for leaf in leaves(y)))
        if not abs(left - sum(terms)) <= 1e3 * eps * size * entries**0.5:
            given = [i for i, dot in enumerate(some) if dot is not None]
            raise AssertionError(
                f"the forward rule disagrees with the reverse rule, tangents of arguments {given}:"
                f" <y_bar, y_dot> = {left:.12g}, sum of <x_bar, x_dot> = {sum(terms):.12g}"
            )


def _read_only(bar: Any) -> Any:
    if isinstance(bar, list):
        return [_read_only(part) for part in bar]
    if isinstance(bar, tuple):
        return as_type_of(bar, [_read_only(part) for part in bar])
    if isinstance(bar, np.ndarray):
        bar = bar.copy()
        bar.flags.writeable = False
    return bar


def _check_structure(x: Any, bar: Any, position: int) -> None:
    if bar is None or not isinstance(x, list | tuple):
        return
    if not isinstance(bar, list | tuple) or isinstance(bar, list) != isinstance(x, list):
        raise AssertionError(
            f"the cotangent of argument {position} is a {type(bar).__name__},"
            f" its primal a {type(x).__name__}"
        )
    if len(bar) != len(x):
        raise AssertionError(
            f"the cotangent of argument {position} has {len(bar)} parts, its primal has {len(x)}"
        )
    for part, part_bar in zip(x, bar, strict=True):
        _check_structure(part, part_bar, position)


def _check_kind(leaf: Leaf, bar: Any) -> None:
    """Check shape, realness and precision of the cotangent of one number or array."""
    x = leaf.value
    if bar is None:
        return
    if np.shape(bar) != np.shape(x):
        raise AssertionError(
            f"the cotangent of {leaf} has shape {np.shape(bar)}, not {np.shape(x)}"
        )
    wanted = np.asarray(x).dtype
    if wanted.kind not in "fc":
        wanted = np.dtype(float)
    if np.asarray(bar).dtype != wanted:
        raise AssertionError(f"the cotangent of {leaf} is {np.asarray(bar).dtype}, not {wanted}")
    if isinstance(bar, np.ndarray) and not isinstance(x, np.ndarray):
        raise AssertionError(f"the cotangent of {leaf}, a {type(x).__name__}, is an array")


def _assert_same(got: Any, expected: Any, what: str) -> None:
    if not same(got, expected):
        raise AssertionError(f"{what} differs: {got!r}, not {expected!r}")


def _callable(f: Any) -> Callable[..., Any]:
    """Return the function registered under ``(type, name)``: a method, or an attribute's getter."""
    if not isinstance(f, tuple):
        return f  # type: ignore[no-any-return]
    kind, name = f
    if callable(getattr(kind, name)):
        return lambda x, *args, **kwargs: getattr(x, name)(*args, **kwargs)
    return lambda x: getattr(x, name)


def _name(f: Any) -> str:
    return f"{f[0].__name__}.{f[1]}" if isinstance(f, tuple) else getattr(f, "__name__", repr(f))
