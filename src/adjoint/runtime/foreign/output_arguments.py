"""Arrays that functions of C write their results into."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterable
from functools import cache, lru_cache
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from adjoint.primal.code_owner import is_the_users
from adjoint.primal.memo_by_code import CodeTable
from adjoint.primal.packages import is_of_a_library
from adjoint.runtime.foreign.value_origins import CALLED, Call, Origin, stores_of

_NAMES = ("out", "output")
_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_FUNCTIONS = (FunctionType, BuiltinFunctionType, np.ufunc, type(np.mean))


def outputs_in(code: CodeType, spaces: Any) -> list[tuple[Origin, Origin]]:
    """Return pairs of a callee and the operand that it may write by position, for the calls in a
    function. Pairs that depend only on its module are cached."""
    given = {*code.co_varnames, *code.co_freevars}
    known = _known.get(id(code))
    if known is None:
        calls = stores_of(code).calls
        own = [call for call in calls if given.isdisjoint(call.callee | call.owner)]
        found = [(call.callee, _output_of(call, code, ({}, *spaces[1:]))) for call in own]
        others = [
            call
            for call in calls
            # `__array_ufunc__` passes its operands on to the function that it is given
            if not call.starred and not given.isdisjoint(call.callee | call.owner)
        ]
        found, others = _known.put(code, ([one for one in found if one[1]], others))
    else:
        found, others = known[1]
    if not others:
        return found
    more = [(call.callee, _output_of(call, code, spaces)) for call in others]
    return [*found, *(one for one in more if one[1])]


_known = CodeTable[tuple[list[tuple[Origin, Origin]], list[Call]]]()


def _output_of(call: Call, code: CodeType, spaces: Any) -> Origin:
    """Return the origin of what a call may write."""
    places = {place for f in _called(call, code, spaces) if (place := _place_of_output(f)) >= 0}
    places |= _places_in_methods(call, code, spaces)
    given = call.by_position
    if call.starred:  # their number is unknown; in a library they are only passed on
        may_be_given = places and _is_the_users_own(spaces)
        return call.every if may_be_given else frozenset()
    return frozenset().union(*(given[place] for place in places if place < len(given)))


def _called(call: Call, code: CodeType, spaces: Any) -> list[Any]:
    """Return the functions in variables and modules that a call may be of."""
    modules = [value for value in _named(call.owner, code, spaces) if type(value) is ModuleType]
    if not _is_known(call.owner, code, spaces):
        modules.append(np)
    found = []
    for name in call.callee:
        if not name.startswith("."):
            found += [space[name] for space in spaces if name in space][:1]
        else:
            found += [vars(module).get(name[1:]) for module in modules]
    by_user = _is_the_users_own(spaces)
    return [f for f in found if type(f) in _FUNCTIONS and not _is_followed(f, by_user)]


def _is_followed(f: Any, by_user: bool) -> bool:
    """Return whether writes of `f` are found when `f` is entered: not where a library function
    hands arrays of user code on to C."""
    if type(f) is not FunctionType or not is_the_users(f.__code__, f.__globals__):
        return False
    return not (by_user and is_of_a_library(f.__globals__.get("__name__")))


def _is_the_users_own(spaces: Any) -> bool:
    """Return whether a function with these local and global variables is user code."""
    return not is_of_a_library(spaces[1].get("__name__"))


def _places_in_methods(call: Call, code: CodeType, spaces: Any) -> set[int]:
    """Return the positions of the output in methods of arrays with the name of the callee."""
    if not call.owner:
        return set()
    if any(type(value) is ModuleType for value in _named(call.owner, code, spaces)):
        return set()
    found = [_methods().get(name[1:], ()) for name in call.callee if name.startswith(".")]
    return {place for places in found for place in places}


def _is_known(owner: Origin, code: CodeType, spaces: Any) -> bool:
    """Return whether the owner of a method is known: not a module imported in the function."""
    local = {*code.co_varnames, *code.co_cellvars} - {*spaces[0]}
    return bool(owner) and owner.isdisjoint(local)


def _named(origin: Origin, code: CodeType, spaces: Any) -> Iterable[Any]:
    """Yield the values of variables, and of the named attributes of modules."""
    for name in origin:
        if name.startswith("."):
            named = [space.get(one) for one in code.co_names for space in spaces]
            modules = [vars(value) for value in named if type(value) is ModuleType]
            modules += [vars(one) for one in map(sys.modules.get, code.co_names) if one]
            yield from (module[name[1:]] for module in modules if name[1:] in module)
        elif not name.startswith(CALLED):
            yield from [space[name] for space in spaces if name in space][:1]


@lru_cache(maxsize=1024)
def _place_of_output(f: Any) -> int:
    """Return the position of the array that a function writes into; -1 if there is none."""
    if type(f) is np.ufunc:
        return f.nin
    try:
        parameters = inspect.signature(f).parameters.values()
        names = [one.name for one in parameters if one.kind in _BY_POSITION]
    except (TypeError, ValueError):
        names = _names_in_text(f)
    return next((names.index(name) for name in _NAMES if name in names), -1)


def _names_in_text(f: Any) -> list[str]:
    """Return the names of parameters from the first line of the docstring."""
    line = (f.__doc__ or "").strip().partition("\n")[0]
    listed = re.search(r"\((.*)\)", line)
    text = re.sub(r"\([^()]*\)", "group", listed.group(1)) if listed else ""
    return [part.partition("=")[0].strip() for part in text.split(",") if part.strip() != "/"]


@cache
def _methods() -> dict[str, set[int]]:
    """Return the positions of the output of methods of arrays, ufuncs and random generators."""
    found: dict[str, set[int]] = {}
    for kind in (np.ndarray, np.ufunc, np.random.Generator):
        for name in dir(kind):
            method = None if name.startswith("_") else getattr(kind, name)
            if callable(method) and (place := _place_of_output(method)) >= 0:
                found.setdefault(name, set()).add(place - _has_signature(method))
    return found


def _has_signature(method: Any) -> bool:
    try:
        return "self" in inspect.signature(method).parameters
    except (TypeError, ValueError):
        return False
