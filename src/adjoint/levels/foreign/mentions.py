"""Static search for functions that differentiate others.

Reverse mode of such a function runs on a tape from the start, which treats the inner derivatives
like all other code. An operator that the search does not find, because it is not reached by a name,
goes on a tape when it is called (`adjoint.levels.bridge`).
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dis import EXTENDED_ARG, opmap
from functools import partial
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from adjoint.levels.current import current
from adjoint.primal.memo_by_code import CodeTable
from adjoint.primal.packages import is_of_a_library, package
from adjoint.primal.reachability import names_in
from adjoint.primal.value_kinds import content_of
from adjoint.runtime.dispatch.inert_packages import is_operator

MANY = 400
"""The largest number of functions and classes to search."""

_known = CodeTable[dict[Any, bool]]()
"""By code object, the results of earlier searches, keyed by argument classes and captured
values."""
_MOST_KINDS = 64


def goes_on_a_tape(f: Any, args: tuple[Any, ...]) -> bool:
    """Return whether reverse mode of `f` runs on a tape rather than as generated code. True on a
    level, and for functions that differentiate others."""
    return current.level is not None or is_operator(f) or mentions_operator(f, args)


def mentions_operator(f: Callable[..., Any], args: Iterable[Any]) -> bool:
    """Return whether `f` mentions a function of this library that differentiates others. The search
    covers the functions that `f` names or has captured, and the classes of its arguments."""
    code = getattr(f, "__code__", None)
    kinds = [type(arg) for arg in args if type(arg).__flags__ & _OF_PYTHON]
    if type(f) is not FunctionType or type(code) is not CodeType:
        return _mention([f, *kinds])
    known = _known.get(id(code))
    found = _known.put(code, {}) if known is None or len(known[1]) >= _MOST_KINDS else known[1]
    key: Any = (*kinds, *_captured(f))
    if key not in found:
        found[key] = _mention([f, *kinds])
    return found[key]


_OF_PYTHON = 1 << 9  # Py_TPFLAGS_HEAPTYPE


def _captured(f: FunctionType) -> Iterator[Any]:
    """Yield what distinguishes functions with the same code."""
    for cell in f.__closure__ or ():
        value = content_of(cell)
        yield getattr(value, "__code__", None) or type(value)


def _mention(start: list[Any]) -> bool:
    seen: set[int] = set()
    queue = deque(start)
    while queue and len(seen) < MANY:
        value = queue.popleft()
        if is_operator(value):
            return True
        if id(value) in seen:
            continue
        if isinstance(value, MethodType):
            queue += (value.__func__, type(value.__self__))
        elif isinstance(value, partial):
            queue += (value.func, *value.args, *value.keywords.values())
        elif type(value) is FunctionType:
            if not _knows_nothing(value.__module__):
                seen.add(id(value))
                queue += _named(value)
                queue += map(content_of, value.__closure__ or ())
                queue += value.__defaults__ or ()
        elif isinstance(value, type):
            if value.__flags__ & _OF_PYTHON and not _knows_nothing(value.__module__):
                seen.add(id(value))
                queue += value.__bases__
                queue += map(_function_of, list(vars(value).values()))
        elif type(value).__flags__ & _OF_PYTHON:
            queue.append(type(value))
    return False


def _function_of(value: Any) -> Any:
    if isinstance(value, staticmethod | classmethod):
        return value.__func__
    return value.fget if isinstance(value, property) else value


def _named(f: FunctionType) -> Iterator[Any]:
    """Yield the values of the global names in `f`, and the attributes of modules that it names."""
    names = names_in(f.__code__)
    for name in _globals(f.__code__):
        value = sys.modules.get(name) if name == "adjoint" else f.__globals__.get(name)
        if value is None:
            continue
        if isinstance(value, ModuleType):
            if value.__name__ == "adjoint" or not _knows_nothing(value.__name__):
                known = vars(value)
                yield from (known[part] for part in names if part in known)
        else:
            yield value
    if "gradient_descent" in names:
        yield sys.modules["adjoint"].gradient  # its default


def _globals(code: CodeType) -> set[str]:
    """Return the global names that a function and its inner functions read, and imported
    modules."""
    found: set[str] = set()
    text, high = code.co_code, 0
    for i in range(0, len(text), 2):
        op, arg = text[i], text[i + 1] | high
        high = arg << 8 if op == EXTENDED_ARG else 0
        if op == _LOAD_GLOBAL:
            found.add(code.co_names[arg >> 1])
        elif op in _LOAD_NAME:
            found.add(code.co_names[arg])
    return found.union(*(_globals(part) for part in code.co_consts if isinstance(part, CodeType)))


_LOAD_GLOBAL = opmap["LOAD_GLOBAL"]
_LOAD_NAME = {
    opmap[name]
    for name in ("LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS", "IMPORT_NAME")
    if name in opmap
}


def _knows_nothing(module: Any) -> bool:
    """Return whether no function of a module mentions an operator: libraries, and this package."""
    return is_of_a_library(module) or package(module) == "adjoint"
