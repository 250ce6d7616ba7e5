"""What a function does itself, where that is all in its text: methods that are asked for a hash, or
whether they are equal, mostly read, call others, and keep what they found in their object."""

from __future__ import annotations

import dis
from dataclasses import dataclass
from types import CodeType, FrameType, FunctionType
from typing import Any

from adjoint.run.by_class import ByClass
from adjoint.run.by_code import by_code
from adjoint.run.facts import CACHED_PROPERTY, called, is_harmless
from adjoint.run.kinds import fields_of
from adjoint.run.specials import class_attribute
from adjoint.run.watch import is_the_users

__all__ = ["may_store", "stored_by"]

_NOTHING = frozenset[str]()


@dataclass(frozen=True, slots=True)
class _Effects:
    """What a function does besides reading.

    Attributes
    ----------
    stored
        The attributes that it stores in its first argument.
    functions
        The global variables that it calls.
    methods
        The methods that it calls, with the parameters whose they are.
    """

    stored: frozenset[str]
    functions: frozenset[str]
    methods: frozenset[tuple[str, str]]


def stored_by(frame: FrameType) -> tuple[Any, frozenset[str]] | None:
    """The attributes that the function in `frame` stores in an object that it is given, with that,
    where it stores nothing else itself; ``None`` where it may. What it calls is entered itself."""
    code, local = frame.f_code, frame.f_locals
    if code is CACHED_PROPERTY:
        return local.get("instance"), frozenset((local["self"].attrname,))
    effects = _effects_of(code)
    if effects is None:
        return None
    space = frame.f_globals
    if not all(name in space and _is_entered(space[name]) for name in effects.functions):
        return None
    if not all(name in local and _is_method(local[name], asked) for name, asked in effects.methods):
        return None
    return local.get(code.co_varnames[0]) if effects.stored else None, effects.stored


def may_store(frame: FrameType) -> bool:
    """Whether a function may store something itself, into what another gives it."""
    return stored_by(frame) is None


# ---- what its text says --------------------------------------------------------------------------


@by_code
def _effects_of(code: CodeType) -> _Effects | None:
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    stored, functions, methods = set[str](), set[str](), set[tuple[str, str]]()
    bound = set[str]()
    on_top: str | None = None
    for i in dis.get_instructions(code):
        names = i.argval if type(i.argval) is tuple else (i.argval,)
        own = on_top if not i.is_jump_target and on_top in parameters else None
        on_top = names[-1] if i.opname in _LOADS else None
        if i.opname in _BINDS:
            bound.update(names[: _BINDS[i.opname]])
        if is_harmless(i):
            continue
        function, method = called(i)
        if i.opname == "STORE_ATTR" and own is not None and own == parameters[0]:
            stored.add(i.argval)
        elif function is not None:
            functions.add(function)
        elif method is not None and own is not None:
            methods.add((own, method))
        else:
            return None
    if bound & {name for name, _ in methods} or (stored and parameters[0] in bound):
        return None  # it may be something else by then
    return _Effects(frozenset(stored), frozenset(functions), frozenset(methods))


_LOADS = frozenset({"LOAD_FAST", "LOAD_FAST_LOAD_FAST", "STORE_FAST_LOAD_FAST"})
_BINDS = {"STORE_FAST": 1, "DELETE_FAST": 1, "STORE_FAST_LOAD_FAST": 1, "STORE_FAST_STORE_FAST": 2}
"""How many of the variables that it names an instruction assigns."""


# ---- what it calls -------------------------------------------------------------------------------


def _is_users(f: Any) -> bool:
    f = getattr(f, "__func__", f) if type(f) in (staticmethod, classmethod) else f
    return type(f) is FunctionType and is_the_users(f.__code__, f.__globals__)


def _is_made_by_python(kind: type) -> bool:
    """Whether nothing but the user's functions is run where an instance of a class is made."""
    call = class_attribute(type(kind), "__call__")
    if _is_users(call):
        return True
    made = class_attribute(kind, "__new__"), class_attribute(kind, "__init__")
    return call is type.__dict__["__call__"] and all(
        _is_users(f) or f in _MAKERS or (issubclass(kind, BaseException) and type(f) in _OF_C)
        for f in made
    )


_MAKERS = object.__new__, object.__dict__["__init__"]
_OF_C = (type(_MAKERS[0]), type(_MAKERS[1]))
_IS_MADE_BY_PYTHON = ByClass(_is_made_by_python)


def _is_entered(value: Any) -> bool:
    """Whether calling something enters functions of the user's, and does nothing else."""
    return _IS_MADE_BY_PYTHON(value) if isinstance(value, type) else _is_users(value)


def _is_method(owner: Any, name: str) -> bool:
    """Whether a method of an object is a function of the user's, of its class."""
    kind = type(owner)
    if class_attribute(kind, "__getattribute__") is not object.__getattribute__:
        return False
    return _is_users(class_attribute(kind, name)) and name not in (fields_of(owner) or ())
