"""Calls by rules: choice of the rule, and preparation of its arguments."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType, MethodDescriptorType
from typing import Any

import numpy as np

from adjoint.cotangents.poison import Poison
from adjoint.diagnostics.no_derivative import name_of
from adjoint.diagnostics.refusals import refused
from adjoint.primal.array_classes import has_array_wrap, holds_subclassed, overrides_method
from adjoint.primal.childless_types import CHILDLESS_TYPES
from adjoint.primal.exposed_arrays import note_made
from adjoint.primal.special_methods import class_attribute
from adjoint.primal.value_kinds import PLAIN, by_value, is_objects, is_one_object
from adjoint.rulekit.registry import Rules
from adjoint.runtime.dispatch import source_call
from adjoint.runtime.dispatch.argument_mismatch import calls_rules, fits, is_misfit
from adjoint.runtime.dispatch.checked_pullback import checked, unruled_keyword, value_and_back
from adjoint.runtime.dispatch.generators import as_type
from adjoint.runtime.dispatch.linked import DECLINED
from adjoint.runtime.dispatch.number_protocols import as_operand, special_names, with_numbers
from adjoint.runtime.dispatch.plain_numbers import plain_on
from adjoint.runtime.dispatch.source_call import call_function
from adjoint.runtime.foreign.checked_run import changed, package_of, snapshot
from adjoint.runtime.foreign.native_call import foreign_call, run_monitored
from adjoint.runtime.foreign.open_files import flush
from adjoint.runtime.foreign.user_code_reach import reaches
from adjoint.runtime.memory.poisoning import poison
from adjoint.runtime.memory.subclass_attributes import link_attributes

call_wrapped: Any = None
apply_to_plain: Any = None
wraps_result: Any = None
call_keywords: Any = None
"""Hooks for calls and for calls with arrays of subclasses, set by `adjoint.runtime.dispatch.call`
and `adjoint.runtime.arrays`."""


def run_rules(
    record: list[Any],
    slot: int,
    f: Any,
    rules: Rules,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Apply the first rule that takes the call; return `DECLINED` if there is none."""
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
            if type(f) is np.ufunc and any(map(_gives_objects, args)):
                return DECLINED  # the operators of the elements give what they like
            if type(f) in _OVERRIDABLE:
                y = _overridden(record, slot, f, args, kwargs)
                if y is not NotImplemented:
                    return y
            if record[0].files:
                flush(record[0])
            y = foreign_call(record, slot, f, args, kwargs)
            if level is not None:
                y = level.constant(y, (*args, *kwargs.values()))
            if type(y) is np.ndarray:
                if y.base is None and package_of(f) == "numpy" and not any(y is x for x in args):
                    note_made(record[0], y)
            elif issubclass(type(y), np.ndarray):
                values = (*args, *kwargs.values())
                if record[slot] is None:
                    record[slot] = lambda y_bar: (None,) * (len(values) + 1)
                link_attributes(record, slot, y, values)
            return y
        first = args[0] if args and level is None else None
        if type(first) is np.ndarray and first.dtype.names is not None:
            if (rules.rrules or rules.substitute) and not rules.makes_views:
                return DECLINED  # of structured arrays, rules take views only
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
                y = as_type(f, y)  # ``filter``, ``itertools.cycle``
        return y
    except TypeError as error:
        if not is_misfit(error):
            raise
        return DECLINED  # the call without a rule raises Python's own error


calls_rules(run_rules)

_DISPATCHER: Any = type(np.mean)
_OVERRIDABLE = frozenset({np.ufunc, _DISPATCHER, MethodDescriptorType})
"""Types of NumPy functions that classes of operands may override."""


def _overridden(
    record: list[Any], slot: int, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Call a function without derivative as classes of its operands override it or its result;
    return `NotImplemented` if they override neither."""
    values = (*args, *kwargs.values()) if kwargs else args
    if _ELEMENTS.issuperset(map(type, values)):
        return NotImplemented
    if type(f) is MethodDescriptorType and f.__objclass__ is not np.ndarray:
        return NotImplemented
    if overrides_method(f, values):
        return DECLINED
    if not any(map(has_array_wrap, values)):
        return NotImplemented
    if type(f) is _DISPATCHER:  # functions in Python consult the classes themselves
        return DECLINED if type(f.__wrapped__) is FunctionType else NotImplemented
    if not wraps_result(f, args, kwargs):
        return NotImplemented
    return call_wrapped(record, slot, f, args, kwargs)


def _gives_objects(x: Any) -> bool:
    """Return whether NumPy converts an operand to an array of objects."""
    if type(x) is list or type(x) is tuple:
        return any(map(_gives_objects, x))
    return is_objects(x) or (not by_value(x) and x is not None and is_one_object(x))


def _hold_objects(values: Any) -> bool:
    """Return whether a list holds an array of objects; fast for long lists."""
    kinds = set(map(type, values))
    return any(issubclass(kind, np.ndarray) for kind in kinds) and any(map(is_objects, values))


def run_structural(
    record: list[Any], slot: int, rules: Rules, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Apply the structural rule, and no other."""
    alone = Rules(structural=rules.structural)
    return run_rules(record, slot, None, alone, args, kwargs)


def _fitted(back: Callable[..., Any], n: int) -> Callable[..., Any]:
    """Fit the pullback of a structural rule to `n` entries: it knows parameters, not arguments."""

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
    """Apply external rules; refuse one that changes a container, as a sweep could not undo it."""
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
    """Apply the first rule in closure form that takes the call; return `DECLINED` if none does."""
    if not rules.rrules and (record[0].level is None or not rules.frules):
        return DECLINED
    careful = False
    for arg in (*args, *kwargs.values()) if kwargs else args:
        kind = type(arg)
        if kind is np.ndarray:
            if arg.dtype.char == "O" and not rules.overridden:
                return DECLINED
        elif arg is object and not rules.overridden:
            return DECLINED  # the dtype of the result
        elif kind in PLAIN or kind in CHILDLESS_TYPES:
            continue
        elif (kind is list or kind is tuple) and _ELEMENTS.issuperset(map(type, arg)):
            if not rules.overridden and _hold_objects(arg):
                return DECLINED
        elif is_objects(arg) and not rules.overridden:
            return DECLINED
        elif issubclass(kind, np.dtype) and arg.char == "O" and not rules.overridden:
            return DECLINED
        else:
            careful = True
    if careful:
        return _with_conversions(record, slot, f, rules, args, kwargs)
    return first_rule(record, slot, f, rules, args, kwargs)


_ELEMENTS = CHILDLESS_TYPES | {np.ndarray}
"""Types on which C calls no methods of user code."""


def _with_conversions(
    record: list[Any],
    slot: int,
    f: Any,
    rules: Rules,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Apply the rules to arguments that may be converted by user code, or are of subclasses."""
    values = (*args, *kwargs.values())
    subclassed = holds_subclassed(values)
    names = special_names(f, args, kwargs)
    if any(as_operand(names, value) for value in values):
        if overrides_method(f, values):
            return DECLINED
        if names[0] == "__array__" and any(
            has_array_wrap(value) and as_operand(names, value) for value in values
        ):
            return call_wrapped(record, slot, f, args, kwargs)
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
                args = tuple([plain_on(record[0], x, of_numpy) for x in args])
            y = first_rule(record, slot, f, rules, args, kwargs)
            if isinstance(y, np.ndarray) and type(y) is not np.ndarray:
                link_attributes(record, slot, y, values)
            return y

        def apply(record: list[Any], slot: int, args: Any, kwargs: Any) -> Any:
            return first_rule(record, slot, f, rules, args, kwargs)

        return apply_to_plain(record, slot, f, apply, args, kwargs)

    if rules.overridden or not reaches(values):
        return run(*args, **kwargs)  # an external rule may change its own state

    return run_monitored(record, slot, f, run, args, kwargs)


def first_rule(
    record: list[Any],
    slot: int,
    f: Any,
    rules: Rules,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Apply the first rule that was written for such a call; `adjoint.testing.checked_rules` puts
    one here that compares."""
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
                    return DECLINED  # parts of such arrays have their cotangents in memory
                record[slot] = checked(memory, f, rule, y, back, args)
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
    if is_objects(y):
        return DECLINED  # parts of such arrays have their cotangents in memory
    # Operands by name may be of any type, like those by position.
    by_name = tuple(rest) if rule.keyword_bars else ()
    if rule.keyword_bars:
        given = back

        def back(y_bar: Any) -> tuple[Any, ...]:
            *bars, named = given(y_bar)
            if len(bars) <= rule.positional + 1:
                bars = bars[: len(arranged) + 1]
            return (*bars, *map(named.get, by_name))

    operands = (*arranged, *(rest[name] for name in by_name))
    sealed = checked(memory, f, rule, y, back, operands)
    place_of = {name: i for i, name in enumerate(by_name, len(arranged) + 1)}
    index = {name: i for i, name in enumerate(rule.names)}
    n = len(args)
    # A derivative in a keyword that the rule does not give must be an error, not zero.
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


source_call.run_rules = run_rules
