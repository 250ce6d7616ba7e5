"""Calls of Python functions by their own source."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adjoint.errors import SourceError
from adjoint.primal.compiled_functions import refuse_compiled_containers
from adjoint.rulekit.registry import lookup, table
from adjoint.runtime.cache.units import known_unit, unit_of
from adjoint.runtime.dispatch.inert_packages import (
    COMPILED,
    DIFFERENTIATED,
    OPERATORS,
    OWN,
    home_of,
    is_inert,
)
from adjoint.runtime.dispatch.linked import DECLINED
from adjoint.runtime.dispatch.observed_results import note, wanted
from adjoint.runtime.dispatch.unit_call import call_unit
from adjoint.runtime.foreign.unknown_call import run_unknown

run_rules: Any = None
"""Hook that runs a call by rules, set by `adjoint.runtime.dispatch.rule_call`."""


def call_function(
    record: list[Any], slot: int, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Call `f` by running its generated forward function; compile `f` first if needed."""
    level = record[0].level
    unit = known_unit(f) if level is None else level.known_unit(f)
    if wanted and f.__code__ in wanted:
        y = _call_source(record, slot, unit, f, args, kwargs)
        note(f.__code__, args, kwargs, y)
        return y
    return _call_source(record, slot, unit, f, args, kwargs)


def _call_source(
    record: list[Any], slot: int, unit: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    if unit is None:
        return _first_call(record, slot, f, args, kwargs)
    return call_unit(record[0], record, slot, unit, f, args, kwargs)


def _first_call(
    record: list[Any], slot: int, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Call a function without a unit: load the rules of its library, then decide how to run `f`."""
    known = f in table
    rules = lookup(f)
    if rules is not None and not known:
        y = run_rules(record, slot, f, rules, args, kwargs)
        if y is not DECLINED:
            return y
    module = home_of(f)
    if module in OPERATORS:
        return call_operator(record, slot, f, args, kwargs)
    refuse_compiled_containers(module, f)
    is_own = module.startswith(OWN) and module not in DIFFERENTIATED
    if is_inert(f) or is_own or module.startswith(COMPILED):
        return run_unknown(
            record[0],
            record,
            slot,
            f,
            args,
            kwargs,
            f"belongs to '{module}', which is left alone",
            trusted=True,
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
    """Call a function of this library that differentiates others."""
    level = record[0].level
    if level is not None:
        return level.run_operator(f, args, kwargs)
    return bridge[0](record, slot, f, args, kwargs)


bridge: list[Callable[..., Any]] = []
"""Hook of one entry for `call_operator` without a level (`adjoint.levels.bridge`)."""
