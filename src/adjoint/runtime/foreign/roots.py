"""Values that a function reaches without being given them; callers that may store its result."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable, Iterator
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

from adjoint.primal.childless_types import CHILDLESS_TYPES
from adjoint.primal.code_owner import is_user_code
from adjoint.primal.memo_by_code import by_code
from adjoint.primal.reachability import spaces_of
from adjoint.primal.value_kinds import content_of
from adjoint.runtime.foreign.entered_functions import stores_itself
from adjoint.runtime.foreign.followed_names import followed_by
from adjoint.runtime.foreign.may_store import assigned_outside, takes_any_variable

# ---- callers of a function -----------------------------------------------------------------------


def is_importing(frame: FrameType, last: CodeType) -> bool:
    """Return whether an import that began after `last` runs the function in `frame`."""
    caller = frame.f_back
    while caller is not None and caller.f_code is not last:
        if caller.f_code.co_filename.startswith("<frozen importlib"):
            return True
        caller = caller.f_back
    return False


def callers_of(frame: FrameType, last: CodeType) -> list[FrameType]:
    """Return the user functions between `frame` and `last`, if one of them may store what the
    function in `frame` returns (as ``current().total = x`` does)."""
    found = []
    caller = frame.f_back
    while caller is not None and caller.f_code is not last:
        if is_user_code(caller.f_code, caller.f_globals):
            found.append(caller)
        caller = caller.f_back
    return found if any(map(stores_itself, found)) else []


# ---- values that a function reaches --------------------------------------------------------------


@by_code
def words_in(code: CodeType) -> tuple[str, ...]:
    """Return the strings in a function, which may name variables: ``globals()["total"]``."""
    return tuple(const for const in code.co_consts if type(const) is str)


def _names_of(code: CodeType) -> tuple[str, ...]:
    """Return the names of the global variables that a function may read."""
    words = words_in(code) if takes_any_variable(code) else ()
    return (*code.co_names, *words)


def variables_of(frame: FrameType) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield the global variables, also of modules, that the function in `frame` may assign."""
    return _variables(frame.f_code, frame.f_globals, modules_of(frame))


def variables_asked_for(f: FunctionType) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield the global variables that `f`, which does not run yet, may assign, if it looks
    variables up by name or imports modules."""
    code, namespace = f.__code__, f.__globals__
    by_name = takes_any_variable(code) or "modules" in code.co_names
    if by_name or any(name in sys.modules for name in code.co_names):
        captured = map(content_of, f.__closure__ or ())
        yield from _variables(code, namespace, _modules(code, namespace, captured))


def _variables(
    code: CodeType, namespace: dict[str, Any], modules: list[dict[str, Any]]
) -> Iterator[tuple[dict[str, Any], str]]:
    names = _names_of(code)
    if takes_any_variable(code):
        names = (*names, *namespace)
    for name in names:
        if name in namespace or name not in code.co_names:
            yield namespace, name
    for other in modules:
        for name in dict.fromkeys((*names, *words_in(code))):
            yield other, name


def modules_of(frame: FrameType) -> list[dict[str, Any]]:
    """Return the namespaces of user modules that a function names, imports or has captured."""
    local = frame.f_locals
    captured = [local.get(name) for name in frame.f_code.co_freevars]
    return _modules(frame.f_code, frame.f_globals, captured)


def _modules(
    code: CodeType, namespace: dict[str, Any], captured: Iterable[Any]
) -> list[dict[str, Any]]:
    named = [namespace.get(name) for name in code.co_names]
    imported = [sys.modules.get(name) for name in (*code.co_names, *words_in(code))]
    spaces = spaces_of((*captured, *named, *imported))
    return list({id(space): space for space in spaces}.values())


def outer_roots(frame: FrameType, given: tuple[Any, ...]) -> list[Any]:
    """Return the captured and global values that a function reaches. `given` may hold the function
    itself, which `gc` does not find when frozen."""
    code, namespace, local = frame.f_code, frame.f_globals, frame.f_locals
    modules = modules_of(frame)
    roots = [local[name] for name in code.co_freevars if name in local]
    for name in _names_of(code):
        value = namespace.get(name)
        if isinstance(value, ModuleType):
            modules.append(vars(value))
        else:
            roots.append(value)
    roots += [space[name] for space in modules for name in code.co_names if name in space]
    everything = [namespace] if takes_any_variable(code) else []
    everything += modules_of(frame) if followed_by(code).names is None else []
    for space in everything:
        roots += [value for value in space.values() if not isinstance(value, ModuleType)]
    if not assigned_outside(code).isdisjoint(code.co_freevars):
        for f in (*given, *gc.get_referrers(code)):
            if type(f) is FunctionType and f.__code__ is code:
                roots += f.__closure__ or ()
    return [root for root in roots if type(root) not in CHILDLESS_TYPES and root is not sys.modules]


def all_around(frame: FrameType, held: list[Any]) -> list[Any]:
    """Return the classes of `held`, and the global values that the function in `frame`, the user
    functions found and the functions nested in them name."""
    roots: list[Any] = [type(one) for one in held if type(one).__flags__ & (1 << 9)]  # HEAPTYPE
    own, namespace = [frame.f_code], frame.f_globals
    for code in own:  # `own` grows in the loop
        own += [part for part in code.co_consts if isinstance(part, CodeType)]
    named = [namespace.get(name) for code in own for name in code.co_names]
    functions = [f for f in (*held, *named) if type(f) is FunctionType]
    codes = [
        (f.__code__, f.__globals__) for f in functions if is_user_code(f.__code__, f.__globals__)
    ]
    for code, namespace in codes:
        named += [namespace.get(name) for name in code.co_names]
        codes += [(part, namespace) for part in code.co_consts if isinstance(part, CodeType)]
    roots += named
    return [root for root in roots if type(root) not in CHILDLESS_TYPES]
