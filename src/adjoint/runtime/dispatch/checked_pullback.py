"""Check pullbacks of rules in closure form, and adapt them to memory.

Rules see plain, finished cotangents; those of containers, objects and written arrays are in memory.
The number of cotangents that a rule returns, and the shape of each, are checked here for all rules.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import ref as weakref

import numpy as np

from adjoint.cotangents.accumulate import Scattered, accumulate
from adjoint.cotangents.form import Form, fitted_cotangent, form_of
from adjoint.cotangents.poison import Poison
from adjoint.cotangents.structural_zeros import pulled
from adjoint.diagnostics.no_derivative import name_of
from adjoint.diagnostics.user_place import current_place
from adjoint.errors import CotangentError, NoDerivativeError, RuleError
from adjoint.primal.array_memory import root_of
from adjoint.primal.exposed_arrays import note_made
from adjoint.primal.value_kinds import NUMBERS, PLAIN, by_value, is_array_of_others, is_objects
from adjoint.rulekit.refusal import demand_known
from adjoint.rulekit.rule import Rule
from adjoint.runtime.memory.collect import collect
from adjoint.runtime.memory.deposit import deposit
from adjoint.runtime.memory.memory import Memory
from adjoint.runtime.memory.poisoning import poison

ndarray = np.ndarray
Back = Callable[[Any], tuple[Any, ...]]


_DIRECT = frozenset({float, ndarray, np.float64})


def checked_trusted(memory: Memory, y: Any, back: Back, args: tuple[Any, ...]) -> Back | None:
    """Wrap the pullback of a trusted rule, whose result is new; return ``None`` unless each
    argument is a number or an unwritten array."""
    written = memory.written
    for arg in args:
        if type(arg) is ndarray:
            if (written and memory.is_written(arg)) or arg.dtype.char == "O":
                return None
        elif type(arg) not in PLAIN:
            return None
    if type(y) is ndarray and y.dtype.char == "O":
        return None  # cotangents of objects are in memory
    n = len(args) + 1
    result = result_of(memory, y)

    def direct_back(y_bar: Any) -> tuple[Any, ...]:
        if (type(y_bar) is not ndarray and type(y_bar) not in _DIRECT) or memory.buffers:
            y_bar = finished_cotangent(memory, result, y_bar)
            if type(y_bar) is Poison or y_bar is None:
                return (None, *(y_bar,) * (n - 1))
        bars = pulled(back, y_bar) if memory.careful else back(y_bar)
        return bars if len(bars) == n else bars[:n]

    return direct_back


def result_of(memory: Memory, y: Any) -> Callable[[], Any]:
    """Return a function that gives a new result `y` without keeping it alive.

    The result is needed only if it was written later, and then memory keeps it alive.
    """
    if not isinstance(y, ndarray):
        return _by_value_only
    base = y.base
    if base is None:
        return note_made(memory, y)
    # A view may be freed while its memory is written through another view.
    if not (_is_whole(base, y) and base.dtype is y.dtype):
        return lambda: y
    owner, shape = weakref(base), y.shape

    def reshaped() -> Any:
        array = owner()
        return None if array is None else array.reshape(shape)

    return reshaped


def _is_whole(base: Any, y: Any) -> bool:
    """Return whether `y` is all of `base` in another shape."""
    return (
        type(base) is ndarray
        and base.base is None
        and base.size == y.size
        and base.flags.c_contiguous
        and y.flags.c_contiguous
    )


def _by_value_only() -> None:
    """Return ``None``: a number is never written."""


def finished_cotangent(memory: Memory, result: Callable[[], Any], y_bar: Any) -> Any:
    """Return the finished cotangent of a new result: `y_bar` plus its shadow."""
    if type(y_bar) is Scattered:
        y_bar = y_bar.finish()
    if memory.buffers and type(y_bar) is not Poison:
        y = result()
        if y is not None and memory.is_written(y):
            y_bar = accumulate(y_bar, memory.take_array(y))
    return y_bar


def checked(memory: Memory, f: Any, rule: Rule, y: Any, back: Back, args: tuple[Any, ...]) -> Back:
    """Wrap a rule's pullback for the call ``y = f(*args)``."""
    if rule.foreign:
        memory.runs_user_code = True
    fresh = not rule.alias or not _shares(y, args)
    sealed = _checked_by_value(memory, f, rule, y, back, args, fresh)
    if fresh or not isinstance(y, ndarray) or not any(arg is y for arg in args):
        return sealed
    return _same_as_argument(
        memory, sealed, back, y, next(i for i, arg in enumerate(args, 1) if arg is y)
    )


def _same_as_argument(memory: Memory, sealed: Back, back: Back, y: Any, place: int) -> Back:
    """Wrap the pullback of a call whose result is the argument at `place`: the shadow belongs to
    that argument, unless the rule gives the argument no cotangent."""

    def handed_on_back(y_bar: Any) -> tuple[Any, ...]:
        bars = sealed(y_bar)
        if memory.is_written(y) and id(root_of(y)) in memory.buffers:
            if back(np.zeros_like(y))[place] is None:
                bars = tuple(map(accumulate, bars, sealed(memory.take_array(y))))
        return bars

    return handed_on_back


def _checked_by_value(
    memory: Memory, f: Any, rule: Rule, y: Any, back: Back, args: tuple[Any, ...], fresh: bool
) -> Back:
    if (
        not by_value(y)
        or not all(type(arg) in PLAIN or isinstance(arg, np.generic | str) for arg in args)
        or any(map(is_objects, args))
        or (
            memory.written
            and any(isinstance(arg, ndarray) and memory.is_written(arg) for arg in args)
        )
    ):
        return _general(memory, f, rule, y, back, args, fresh)
    n, own = len(args) + 1, not rule.foreign
    result = result_of(memory, y) if fresh else _by_value_only
    carriers = tuple([type(arg) not in (bool, int, str, type(None)) for arg in args])
    checked: Any = None if rule.trusted else tuple(map(_form_of, args))

    def sealed(y_bar: Any) -> tuple[Any, ...]:
        if type(y_bar) not in _DIRECT or memory.buffers:
            y_bar = finished_cotangent(memory, result, y_bar)
            if y_bar is None:
                return (None,) * n
            if type(y_bar) is Poison:
                return (None, *(y_bar if carrier else None for carrier in carriers))
        if not own:
            demand_known(y_bar)
        bars = pulled(back, y_bar) if own and memory.careful else back(y_bar)
        return bars[:n] if checked is None else _checked(f, rule, bars, checked, n)

    return sealed


def _general(
    memory: Memory, f: Any, rule: Rule, y: Any, back: Back, args: tuple[Any, ...], fresh: bool
) -> Back:
    """Wrap the pullback of a call with containers, objects or written arrays."""
    nones = (None,) * (len(args) + 1)
    forms = tuple(map(_form_of, args))
    written = tuple(
        isinstance(arg, ndarray) and bool(memory.written) and memory.is_written(arg) for arg in args
    )

    def sealed(y_bar: Any) -> tuple[Any, ...]:
        y_bar = collect(memory, y, y_bar, arrays=fresh)
        spoiled: list[Poison | None] = []
        if (poisoned := _poison_in(y_bar)) is not None:
            if not rule.partwise or type(y_bar) is Poison or len(y_bar) != len(args):
                return _poisoned(memory, poisoned, args)
            spoiled = [_poison_in(part) for part in y_bar]
            y_bar = [None if found else part for found, part in zip(spoiled, y_bar, strict=True)]
        if y_bar is None:
            return nones
        if rule.foreign:
            demand_known(y_bar)
        own = memory.careful and not rule.foreign
        bars = pulled(back, y_bar) if own else back(y_bar)
        bars = _checked(f, rule, bars, forms, len(args) + 1)
        out = [deposit(memory, f, bars[0])]
        for arg, bar, is_written in zip(args, bars[1:], written, strict=True):
            if is_written:
                memory.add_array(arg, bar)
                out.append(None)
            elif bar is not None and is_array_of_others(arg):
                out.append(_poisoned(memory, Poison(_of_others(f, arg)), (arg,))[1])
            else:
                out.append(bar if by_value(arg) else _of_rule(f, deposit, memory, arg, bar))
        for i, found in enumerate(spoiled):
            if found is not None:
                out[i + 1] = _poisoned(memory, found, (args[i],))[1]
        return tuple(out)

    return sealed


def _of_others(f: Any, arg: Any) -> NoDerivativeError:
    return NoDerivativeError(
        f"a derivative of '{name_of(f)}' is needed in a '{type(arg).__name__}' of another library",
        hint="give a NumPy array of its numbers",
    )


def _of_rule(f: Any, check: Callable[..., Any], *operands: Any) -> Any:
    """Return ``check(*operands)``; turn a `CotangentError` into an error of the rule of `f`."""
    try:
        return check(*operands)
    except CotangentError as error:
        raise _rule_error(
            f"the rule of '{name_of(f)}' returned a cotangent that does not fit: {error.problem}",
            "return a cotangent with the structure and the shapes of the argument",
        ) from None


def _poison_in(bar: Any) -> Poison | None:
    """Return poison that a cotangent is or holds, because rules cannot calculate with poison."""
    if type(bar) is Poison:
        return bar
    if is_objects(bar):
        bar = [*bar.flat]
    if isinstance(bar, list | tuple):
        return next((found for part in bar if (found := _poison_in(part)) is not None), None)
    return None


def _poisoned(memory: Memory, bar: Poison, args: tuple[Any, ...]) -> tuple[Any, ...]:
    out: list[Any] = [None]
    for arg in args:
        if by_value(arg) and not (isinstance(arg, ndarray) and memory.is_written(arg)):
            out.append(bar if type(arg) not in (bool, int) else None)
        else:
            poison(memory, arg, bar)
            out.append(None)
    return tuple(out)


def _shares(y: Any, args: tuple[Any, ...]) -> bool:
    """Return whether the result aliases memory of an argument."""
    if not isinstance(y, ndarray):
        return isinstance(y, list | tuple) and any(_shares(item, args) for item in y)
    root = root_of(y)
    for arg in args:
        if isinstance(arg, ndarray) and root_of(arg) is root:
            return True
        if isinstance(arg, list | tuple) and _shares(y, tuple(arg)):
            return True
    return False


def _form_of(arg: Any) -> Form | None:
    """Return the form of cotangents of a number or an array, ``None`` for other arguments."""
    if (isinstance(arg, ndarray | np.generic) and by_value(arg)) or type(arg) in NUMBERS:
        return form_of(arg)
    return None


def _checked(
    f: Any, rule: Rule, bars: Any, forms: tuple[Form | None, ...], n: int
) -> tuple[Any, ...]:
    """Check what a rule returned, and return one cotangent per argument of the call, without those
    of further optional parameters."""
    if type(bars) is not tuple or not n <= len(bars) <= max(n, rule.positional + 1):
        found = f"{len(bars)} cotangents" if isinstance(bars, tuple) else f"a {type(bars).__name__}"
        raise _rule_error(
            f"the rule of '{name_of(f)}' returned {found} instead of a tuple of {n}",
            "return (f_bar, *one cotangent per argument); None for arguments without derivative",
        )
    fitted = [bars[0]]
    for i in range(1, n):
        bar, form = bars[i], forms[i - 1]
        if bar is not None and form is not None and type(bar) not in _UNFINISHED:
            if (given := np.shape(bar)) != form.shape:
                raise _rule_error(
                    f"the rule of '{name_of(f)}' returned a cotangent of shape {given} for"
                    f" argument {i}, whose shape is {form.shape}",
                    "sum over the axes along which the argument was broadcast",
                )
            bar = _of_rule(f, fitted_cotangent, form, bar)
        fitted.append(bar)
    return tuple(fitted)


_UNFINISHED = (Scattered, Poison)


def _rule_error(problem: str, hint: str) -> RuleError:
    return RuleError(problem, hint=hint, place=current_place())


def value_and_back(f: Any, result: Any) -> tuple[Any, Back]:
    """Check that a rule returned a pair (value, pullback), and return the pair."""
    if type(result) is tuple and len(result) == 2 and callable(result[1]):
        return result
    raise _rule_error(
        f"the rule of '{name_of(f)}' returned a {type(result).__name__}"
        " instead of (value, pullback)",
        "return the value and a function that takes its cotangent and returns"
        " (f_bar, *one cotangent per argument)",
    )


def unruled_keyword(f: Any, name: str) -> NoDerivativeError:
    """Return the error for a derivative in a keyword argument that the rule does not give."""
    return NoDerivativeError(
        f"a derivative of '{name_of(f)}' in its keyword argument {name!r} is needed, which its"
        " rule does not give",
        hint=f"write a rule for it: @ad.rrule.register({name_of(f)}, keyword_bars=True)",
        place=current_place(),
    )
