"""Whether a function differentiates others, as far as its text shows.

Reverse mode of such a function goes on a tape from the beginning: there, what is inside is as good
as what is around it. What the text does not show (an operator that is found by other ways than by
name) is put on a tape when it is met (`adjoint.levels.bridge`).
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
"""Functions that are looked at, at most."""

_known = CodeTable[dict[Any, bool]]()
"""What was found of a function, by what it was given."""
_MOST_KINDS = 64


def goes_on_a_tape(f: Any, args: tuple[Any, ...]) -> bool:
    """Whether reverse mode has nothing to generate: on a level, and of a function that
    differentiates others. There, what that one writes is as good as any other write."""
    return current.level is not None or is_operator(f) or mentions_operator(f, args)


def mentions_operator(f: Callable[..., Any], args: Iterable[Any]) -> bool:
    """Whether `f`, or a function that it refers to by name, has captured or gets by the classes of
    its arguments, names a function of this library that differentiates others."""
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
    """What tells functions of one code apart."""
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
    """What the names in the text of `f` stand for; for an operator itself, that one."""
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
        yield sys.modules["adjoint"].gradient  # which it takes


def _globals(code: CodeType) -> set[str]:
    """The global names, no attributes, that a function and those inside it read, and the modules
    that they import."""
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
    """Whether nothing in a module names an operator: that of a library, and this one's own."""
    return is_of_a_library(module) or package(module) == "adjoint"
