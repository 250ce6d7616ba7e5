"""What a call does: a rule if there is one, else the callee's own source, else it runs with a
poisoned result.

Every function here has the form ``(record, slot, …) -> value``: it runs the operation and leaves
its pullback in ``record[slot]``; ``record[0]`` is the memory. A slot that is left alone says that
the result carries no derivative.
"""

from __future__ import annotations

from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from adjoint.errors import SourceError
from adjoint.public import PublicFunction
from adjoint.rules.projection import REALS
from adjoint.rules.registry import Direct, Rules, direct, direct_rule, lookup, table
from adjoint.run.accumulate import Poison
from adjoint.run.files import flush
from adjoint.run.functions import call_unit, known_unit, unit_of
from adjoint.run.generators import as_written_for
from adjoint.run.kinds import by_value, plain_on
from adjoint.run.memory import Memory, refused
from adjoint.run.misfits import calls_rules, fits, is_misfit
from adjoint.run.native import native, watched
from adjoint.run.reach import reaches
from adjoint.run.seal import PLAIN, seal, seal_direct, unruled_keyword, value_and_back
from adjoint.run.snapshot import LEAVES
from adjoint.run.specials import class_attribute
from adjoint.run.unknown import name_of, poison, run_unknown
from adjoint.run.unseen import changed, snapshot
from adjoint.run.watch import LEFT_ALONE

__all__ = [
    "DECLINED",
    "HANDLERS",
    "INERT",
    "NO_KEYWORDS",
    "bridge",
    "call",
    "call_direct",
    "call_function",
    "call_keywords",
    "call_left",
    "call_operator",
    "call_right",
    "is_inert",
    "linked",
    "run_closure_rules",
    "run_rules",
    "run_structural",
]

DECLINED: Any = object()
"""No rule was written for such arguments."""

NO_KEYWORDS: dict[str, Any] = {}

HANDLERS: dict[type, Any] = {}
"""By the type of the callee; `object` stands for all others. `callables` and `engine` fill it."""
INERT = LEFT_ALONE
"""Packages of which nothing is lowered: they return no reals."""

ARGUMENTS = ("Signature.bind", "Signature._bind", "BoundArguments")
"""What `inspect` has that hands values on."""

COMPILED = ("numpy.fft", "scipy.fft")
"""Python that only prepares what gufuncs and C write into: of no use without rules of its own."""

OWN = tuple(
    f"adjoint.{part}"
    for part in (
        "api",
        "looking",
        "registering",
        "results",
        "run",
        "transform",
        "frontend",
        "emit",
        "ir",
        "testing",
    )
)
"""The library itself, which is not differentiated."""

OPERATORS = frozenset(
    {
        "adjoint.api",
        "adjoint.levels.reverse",
        "adjoint.levels.transforms",
        "adjoint.derivatives.linear",
        "adjoint.derivatives.jacobians",
        "adjoint.derivatives.hessians",
        "adjoint.derivatives.sparse",
        "adjoint.fast.pullback",
    }
)
"""Functions that differentiate others, and stand on what differentiates them."""


def call(record: list[Any], slot: int, f: Any, *args: Any) -> Any:
    """``f(*args)``."""
    kind = type(f)
    if kind is FunctionType:
        rules = table.get(f)
        if rules is None:
            return call_function(record, slot, f, args, NO_KEYWORDS)
        y = run_rules(record, slot, f, rules, args, NO_KEYWORDS)
        return call_function(record, slot, f, args, NO_KEYWORDS) if y is DECLINED else y
    if kind in _NAMED and record[0].level is None:
        try:
            known = direct[f]
        except KeyError:
            known = direct_rule(f)
        if known is not None:
            if len(args) == known[4]:
                y = known[5](record, slot, *args)  # type: ignore[misc]
                if y is not NotImplemented:
                    return y
            y = _run_direct(record, slot, known, args)
            if y is not DECLINED:
                return y
    return (HANDLERS.get(kind) or HANDLERS[object])(record, slot, f, args, NO_KEYWORDS)


def call_direct(record: list[Any], slot: int, key: Any, args: tuple[Any, ...]) -> Any:
    """The fast lane of what `key` stands for; `DECLINED` if it has none for such arguments."""
    known = direct[key] if key in direct else direct_rule(key)
    if known is None or record[0].level is not None:
        return DECLINED
    if len(args) == known[4]:
        y = known[5](record, slot, *args)  # type: ignore[misc]
        if y is not NotImplemented:
            return y
    return _run_direct(record, slot, known, args)


def _run_direct(record: list[Any], slot: int, known: Direct, args: tuple[Any, ...]) -> Any:
    """Apply a trusted rule to numbers and arrays."""
    rule, fewest, most = known[:3]
    n = len(args)
    if not fewest <= n <= most:
        return DECLINED
    if n and n < 3 and type(args[0]) in REALS and type(args[-1]) in REALS:
        result = rule(*args)
        if result is NotImplemented:
            return DECLINED
        y, back = result
        if type(y) in REALS:

            def scalar_back(y_bar: Any) -> Any:
                if not y_bar or type(y_bar) is Poison:  # zero stays zero
                    return (None, *(y_bar,) * n)
                return back(y_bar)

            record[slot] = scalar_back
            return y
    else:
        for arg in args:
            if type(arg) not in PLAIN:
                return DECLINED  # C would ask it for a number
        result = rule(*args)
        if result is NotImplemented:
            return DECLINED
        y, back = result
    sealed = seal_direct(record[0], y, back, args)
    if sealed is None:
        return DECLINED
    record[slot] = sealed
    return y


def call_left(record: list[Any], slot: int, f: Any, a: Any, b: Any) -> Any:
    """``f(a, b)`` where `b` has no derivative."""
    return _call_one_sided(record, slot, f, a, b, 0)


def call_right(record: list[Any], slot: int, f: Any, a: Any, b: Any) -> Any:
    """``f(a, b)`` where `a` has no derivative."""
    return _call_one_sided(record, slot, f, a, b, 1)


def _call_one_sided(record: list[Any], slot: int, f: Any, a: Any, b: Any, side: int) -> Any:
    memory: Memory = record[0]
    if type(f) in _NAMED and not memory.globals_written:
        known = direct[f] if f in direct else direct_rule(f)
        sides = None if known is None else getattr(known[0], "only", None)
        if sides is not None and sides[side] is not None and type(a) in PLAIN and type(b) in PLAIN:
            result = sides[side](a, b)
            if result is not NotImplemented:
                y, back = result
                sealed = seal_direct(memory, y, back, (a, b))
                if sealed is not None:
                    record[slot] = sealed
                    return y
    return call(record, slot, f, a, b)


def call_keywords(
    record: list[Any], slot: int, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """``f(*args, **kwargs)``; the pullback returns the cotangents of the keyword arguments after
    the others."""
    if kwargs and type(f) in _NAMED and record[0].level is None:
        y = _direct_keywords(record, slot, f, args, kwargs)
        if y is not DECLINED:
            return y
    rules = table.get(f) if type(f) is FunctionType else None
    if rules is not None:
        y = run_rules(record, slot, f, rules, args, kwargs)
        if y is not DECLINED:
            return y
    return (HANDLERS.get(type(f)) or HANDLERS[object])(record, slot, f, args, kwargs)


def _direct_keywords(
    record: list[Any], slot: int, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """The fast lane of `call`, for keyword arguments that carry no derivative."""
    known = direct[f] if f in direct else direct_rule(f)
    if known is None or not known[1] <= len(args) <= known[2] or not known[3].issuperset(kwargs):
        return DECLINED
    for value in kwargs.values():
        if type(value) not in _SETTINGS:
            return DECLINED
    for arg in args:
        if type(arg) not in PLAIN:
            return DECLINED
    result = known[0](*args, **kwargs)
    if result is NotImplemented:
        return DECLINED
    y, back = result
    sealed = seal_direct(record[0], y, back, args)
    if sealed is None:
        return DECLINED
    none = (None,) * len(kwargs)
    record[slot] = lambda y_bar: (*sealed(y_bar), *none)
    return y


_SETTINGS = frozenset({int, bool, str, tuple, type(None)})
"""Types of axes, flags and modes."""


_NAMED = frozenset({BuiltinFunctionType, np.ufunc, type(np.mean)})
"""Types of callables of C that a rule is registered for by themselves."""


# ---- rules ---------------------------------------------------------------------------------------


def run_rules(
    record: list[Any],
    slot: int,
    f: Any,
    rules: Rules,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Apply the first rule that takes such a call; `DECLINED` if there is none."""
    try:
        level = record[0].level
        if level is not None and rules.leveled is not None:
            if rules.overridden:
                y = _run_overriding(record, slot, f, rules, args, kwargs)
                if y is not DECLINED:
                    return y
            y = rules.leveled(level, record, slot, *args, **kwargs)
            if y is not NotImplemented:
                return y
        if rules.primitive is not None:
            y = rules.primitive(record, slot, *args, **kwargs)
            if y is not NotImplemented:
                return y
        if rules.inactive:
            if rules.overridden or (level is not None and rules.frules):
                y = _run_overriding(record, slot, f, rules, args, kwargs)
                if y is not DECLINED:
                    return y
            if record[0].files:
                flush(record[0])
            return native(record, slot, f, args, kwargs)
        first = args[0] if args and level is None else None
        if type(first) is np.ndarray and first.dtype.names is not None:
            if (rules.rrules or rules.substitute) and not rules.makes_views:
                return DECLINED  # of an array with named fields, rules know views at most
        if rules.overridden:
            y = _run_overriding(record, slot, f, rules, args, kwargs)
            if y is not DECLINED:
                return y
        if rules.structural is not None and (level is None or not rules.rrules):
            result = rules.structural(record[0], *args, **kwargs)
            if result is not NotImplemented:
                y, back = result
                if back is not None:
                    record[slot] = _fitted(back, len(args) + len(kwargs) + 1)
                return y
        y = run_closure_rules(record, slot, f, rules, args, kwargs)
        if y is DECLINED and rules.substitute is not None and fits(rules.substitute, args, kwargs):
            y = call_function(record, slot, rules.substitute, args, kwargs)
            if type(f) is type:
                y = as_written_for(f, y)  # ``filter``, ``itertools.cycle``
        return y
    except TypeError as error:
        if not is_misfit(error):
            raise
        return DECLINED  # Python itself says what is wrong with the arguments


calls_rules(run_rules)


def run_structural(
    record: list[Any], slot: int, rules: Rules, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Apply the rule in the engine's own form, which runs nothing of the user's by itself."""
    alone = Rules(structural=rules.structural)
    return run_rules(record, slot, None, alone, args, kwargs)


def _fitted(back: Callable[..., Any], n: int) -> Callable[..., Any]:
    """Structural rules return a cotangent for each argument that they know, given or not."""

    def fitted_back(y_bar: Any) -> tuple[Any, ...]:
        bars = back(y_bar)
        return bars if len(bars) == n else (*bars[:n], *(None,) * (n - len(bars)))

    return fitted_back


def _run_overriding(
    record: list[Any],
    slot: int,
    f: Any,
    rules: Rules,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Rules from outside this library: what they wrote into a container would not be undone."""
    if rules.structural is None:
        return run_closure_rules(record, slot, f, rules, args, kwargs)
    before = [snapshot(arg) for arg in args]
    y = run_closure_rules(record, slot, f, rules, args, kwargs)
    for arg, saved in zip(args, before, strict=True):
        if saved is not None and changed(arg, saved):
            raise refused(
                f"the rule of '{name_of(f)}' changed the {type(arg).__name__} that it was given",
                "a rule leaves its arguments as they are: decline (return NotImplemented),"
                " and the write is run as without the rule",
            )
    return y


def run_closure_rules(
    record: list[Any],
    slot: int,
    f: Any,
    rules: Rules,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Apply the first rule in closure form that takes such a call; `DECLINED` if there is none."""
    if not rules.rrules and (record[0].level is None or not rules.frules):
        return DECLINED
    for arg in (*args, *kwargs.values()) if kwargs else args:
        kind = type(arg)
        if kind in PLAIN or kind in LEAVES:
            continue
        if (kind is list or kind is tuple) and _ELEMENTS.issuperset(map(type, arg)):
            continue
        return _with_care(record, slot, f, rules, args, kwargs)
    return _first_rule(record, slot, f, rules, args, kwargs)


_ELEMENTS = LEAVES | {np.ndarray}
"""Types of which C asks nothing."""


def _with_care(
    record: list[Any],
    slot: int,
    f: Any,
    rules: Rules,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Arguments that a rule may ask for numbers."""
    from adjoint.run.conversion import as_operand, special_names, with_numbers
    from adjoint.run.subclasses import apply_to_plain, holds_subclassed  # they need what is here

    values = (*args, *kwargs.values())
    subclassed = holds_subclassed(values)
    names = special_names(f, args, kwargs)
    if any(as_operand(names, value) for value in values):
        n = len(args)

        def again(record: list[Any], slot: int, *values: Any) -> Any:
            named = dict(zip(kwargs, values[n:], strict=True))
            return call_keywords(record, slot, f, values[:n], named)

        return with_numbers(record, slot, names, again, values)

    def run(*args: Any, **kwargs: Any) -> Any:
        if not subclassed:
            special = f"__{getattr(f, '__name__', '')}__"
            if not any(type(class_attribute(type(arg), special)) is FunctionType for arg in args):
                module = str(getattr(f, "__module__", None))
                of_numpy = isinstance(f, np.ufunc) or module.partition(".")[0] == "numpy"
                # Rules calculate with them.
                args = tuple([plain_on(record[0], x, of_numpy) for x in args])
            return _first_rule(record, slot, f, rules, args, kwargs)

        def apply(record: list[Any], slot: int, args: Any, kwargs: Any) -> Any:
            return _first_rule(record, slot, f, rules, args, kwargs)

        return apply_to_plain(record, slot, f, apply, args, kwargs)

    if rules.overridden or not reaches(values):
        return run(*args, **kwargs)  # a user's rule may change what is its own

    return watched(record, slot, f, run, args, kwargs)


def _first_rule(
    record: list[Any],
    slot: int,
    f: Any,
    rules: Rules,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    memory = record[0]
    if memory.level is not None:
        return memory.level.by_rules(record, slot, f, rules, args, kwargs)
    for rule in rules.rrules:
        if rule.accepts(args, kwargs):
            if kwargs or rule.keyword_bars:
                y = _run_with_keywords(record, slot, f, rule, args, kwargs)
                if y is not DECLINED:
                    return y
                continue
            result = rule.function(*args)
            if result is not NotImplemented:
                y, back = result if rule.trusted else value_and_back(f, result)
                if type(y) is np.ndarray and y.dtype.kind in "OV":
                    return DECLINED  # what it holds is not seen
                record[slot] = seal(memory, f, rule, y, back, args)
                return y
    return DECLINED


def _run_with_keywords(
    record: list[Any], slot: int, f: Any, rule: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    arranged, rest = rule.arrange(args, kwargs)
    result = rule.function(*arranged, **rest)
    if result is NotImplemented:
        return DECLINED
    memory = record[0]
    y, back = result if rule.trusted else value_and_back(f, result)
    # Operands by name are operands: of whatever type they are, like those by position.
    by_name = tuple(rest) if rule.keyword_bars else ()
    if rule.keyword_bars:
        given = back

        def back(y_bar: Any) -> tuple[Any, ...]:
            *bars, named = given(y_bar)
            if len(bars) <= rule.positional + 1:
                bars = bars[: len(arranged) + 1]
            return (*bars, *map(named.get, by_name))

    operands = (*arranged, *(rest[name] for name in by_name))
    sealed = seal(memory, f, rule, y, back, operands)
    place_of = {name: i for i, name in enumerate(by_name, len(arranged) + 1)}
    index = {name: i for i, name in enumerate(rule.names)}
    n = len(args)
    # What the rule says nothing about must not be lost in silence, should a derivative be asked
    # for.
    poisons = (
        {}
        if rule.keyword_bars
        else {
            name: Poison(unruled_keyword(f, name))
            for name, value in rest.items()
            if _holds_reals(value)
        }
    )

    def keywords_back(y_bar: Any) -> tuple[Any, ...]:
        bars = sealed(y_bar)
        asked = y_bar is not None or any(bar is not None for bar in bars)
        out = list(bars[: n + 1])
        for name in kwargs:
            if name not in rest:
                out.append(bars[index[name] + 1])
            elif rule.keyword_bars:
                out.append(bars[place_of[name]])
            else:
                bar = poisons.get(name) if asked else None
                if bar is not None and not by_value(rest[name]):
                    poison(memory, rest[name], bar)
                    bar = None
                out.append(bar)
        return tuple(out)

    record[slot] = keywords_back
    return y


def _holds_reals(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_holds_reals, value))
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fc"
    return isinstance(value, float | complex | np.inexact)


# ---- Python functions ----------------------------------------------------------------------------


def call_function(
    record: list[Any], slot: int, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """A Python function, by its own source."""
    level = record[0].level
    unit = known_unit(f) if level is None else level.known_unit(f)
    if unit is None:
        return _first_call(record, slot, f, args, kwargs)
    return call_unit(record[0], record, slot, unit, f, args, kwargs)


def home_of(f: Any) -> str:
    """The module that a function was written in, or that a class belongs to.

    Anybody may have set the ``__module__`` of a function: a decorator, whoever made it.
    """
    known = f.__globals__.get("__name__") if type(f) is FunctionType else f.__module__
    return known if isinstance(known, str) else ""


def is_operator(f: Any) -> bool:
    """Whether `f` is a function of this library that differentiates others, or says so."""
    return type(f) in _OF_OURS and f.__module__ in OPERATORS


_OF_OURS = frozenset({FunctionType, PublicFunction})


def is_inert(f: Any) -> bool:
    """Whether a function or class is of a package that is left alone."""
    package = home_of(f).partition(".")[0]
    return package in INERT and not (package == "inspect" and f.__qualname__.startswith(ARGUMENTS))


def _first_call(
    record: list[Any], slot: int, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """A Python function that was not compiled yet: the rules of its library may not be loaded
    either."""
    known = f in table
    rules = lookup(f)
    if rules is not None and not known:
        y = run_rules(record, slot, f, rules, args, kwargs)
        if y is not DECLINED:
            return y
    module = home_of(f)
    if module in OPERATORS:
        return call_operator(record, slot, f, args, kwargs)
    if is_inert(f) or module.startswith((*OWN, *COMPILED)):
        return run_unknown(
            record[0],
            record,
            slot,
            f,
            args,
            kwargs,
            f"belongs to '{module}', which is left alone",
            trusted=f.__name__ != "__setattr__",  # that of a mock keeps what it is given
        )
    level = record[0].level
    try:
        unit = unit_of(f) if level is None else level.unit_of(f)
    except SourceError as error:
        return run_unknown(
            record[0], record, slot, f, args, kwargs, f"cannot be read ({error.problem})"
        )
    return call_unit(record[0], record, slot, unit, f, args, kwargs)


def call_operator(
    record: list[Any], slot: int, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """A function of this library that differentiates others."""
    level = record[0].level
    if level is not None:
        return level.run_operator(f, args, kwargs)
    return bridge[0](record, slot, f, args, kwargs)


bridge: list[Callable[..., Any]] = []
"""Runs such a function where there is no level yet (`adjoint.levels.bridge`)."""


# ---- calls within calls --------------------------------------------------------------------------


def linked(
    record: list[Any],
    slot: int,
    arrange: Callable[[tuple[Any, ...]], tuple[Any, ...]],
    run: Callable[..., Any],
    *operands: Any,
) -> Any:
    """Run as an inner call whose cotangents are re-arranged; linked beforehand, for an exception
    may leave it."""
    inner: list[Any] = [record[0], None]
    blank = record[slot]

    def linked_back(y_bar: Any) -> Any:
        return arrange(inner[1](y_bar))

    record[slot] = linked_back
    try:
        return run(inner, 1, *operands)
    finally:
        if inner[1] is None:
            record[slot] = blank
