"""Whether a function may store something that outlives it: a conservative answer from its bytecode.

Functions that C calls back are not differentiated. One that may store something is refused.
"""

from __future__ import annotations

import builtins
import cmath
import dis
import functools
import inspect
import math
import sys
from collections import deque
from collections.abc import Iterator
from types import CodeType, GeneratorType
from typing import Any, NamedTuple

import numpy as np

from adjoint.primal.memo_by_code import by_code

CACHED_PROPERTY: CodeType = functools.cached_property.__get__.__code__
"""Stores the result of its function once; the function is entered by itself."""

_WRITES = frozenset(
    "STORE_ATTR DELETE_ATTR STORE_SUBSCR DELETE_SUBSCR STORE_SLICE STORE_GLOBAL DELETE_GLOBAL"
    " STORE_NAME IMPORT_NAME LOAD_BUILD_CLASS BEFORE_WITH CALL_FUNCTION_EX SEND".split()
)
_CELLS = ("STORE_DEREF", "DELETE_DEREF")
_READERS = frozenset(
    name
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException)
) | frozenset(
    "abs all any ascii bin bool bytes callable chr complex dict divmod enumerate filter float"
    " format frozenset getattr hasattr hash hex id int isinstance issubclass iter len list map max"
    " min oct ord pow print range repr reversed round set slice sorted str sum super tuple type"
    " vars zip".split()
)
"""Builtin functions that store nothing themselves."""
_FROZEN = frozenset((*dir(tuple), *dir(frozenset), *dir(bytes)))
_WRITERS = frozenset(
    name
    for kind in (list, dict, set, bytearray, deque, GeneratorType)
    for name in dir(kind)
    if name not in _FROZEN
) - frozenset("__iter__ __reversed__ get items keys values".split()) | frozenset(
    "__delattr__ __setattr__ at byteswap copyto delattr delitem fill fill_diagonal itemset"
    " partition place put put_along_axis putmask resize setattr setfield setflags setitem shuffle"
    " iadd iand iconcat ifloordiv ilshift imatmul imod imul ior ipow irshift isub itruediv"
    " ixor".split()
)
"""Functions and methods that write into their operands, also when foreign code calls them."""
_UFUNCS = frozenset(name for name, f in vars(np).items() if type(f) is np.ufunc)


def _public(*owners: Any) -> frozenset[str]:
    names = frozenset(name for owner in owners for name in dir(owner) if name[0] != "_")
    return names - _WRITERS


READING = (
    _public(str, bytes, tuple, frozenset, int, float, complex, math)
    | frozenset("__eq__ __ne__ __lt__ __hash__ __str__ __repr__ __format__ __len__".split())
    | frozenset("__getitem__ copy get items keys values tolist item".split())
)
"""Methods that read values; methods written in Python are entered by themselves."""
_ALLOWED = (READING | _public(np, np.ndarray, np.linalg, math, cmath) | {"__array_function__"}) - {
    "vectorize"
}
"""Methods and functions of modules that write into nothing but what is named as their output."""


class Calls(NamedTuple):
    """The effects of a function: whether its own instructions store something that may outlive it,
    or fill the object that it initialises, and the names of unknown functions and methods that it
    calls."""

    stores: bool
    fills: bool
    functions: frozenset[str]
    methods: frozenset[str]


@by_code
def calls_of(code: CodeType) -> Calls:
    """Return the effects of a function, from its bytecode."""
    tuples = [const if type(const) is tuple else (const,) for const in code.co_consts]
    stores = any(_names_output(word) for words in tuples for word in words)
    functions, methods = set[str](), set[str]()
    of_module = fills = False
    begun: list[tuple[str, bool]] = []  # the calls whose arguments are on the stack
    ended = ""  # the function whose result was pushed last
    found = [*steps(code)]
    own = _own_variables(code, found)
    filled = _filled_variable(code, found)
    for i, before, after in found:
        function, method = called(i)
        goes_on = after is not None and after.opname == "LOAD_ATTR"
        of_module |= function is not None and goes_on
        if of_module and i.opname in ("LOAD_GLOBAL", "LOAD_ATTR"):  # a function of a module
            if goes_on:
                continue
            function, method = None, i.argval
        if i.opname in _CELLS:
            stores |= i.argval in code.co_freevars
        elif i.opname == "LOAD_ATTR" and method is None and i.argval in _WRITERS:
            methods.add(i.argval)  # a method that is passed on, or a number of that name
        elif _is_accounted_for(code, i, before, ended):
            pass
        elif i.opname == "STORE_ATTR" and _loaded(before, "LOAD_FAST") in filled:
            fills = True
        elif _writes(i) or ((function, method) == (None, None) and _passes_ufunc(i, before, after)):
            stores |= not (i.opname == "BINARY_OP" and _loaded(after, "STORE_FAST") in own)
        elif i.opname == "PUSH_NULL":  # the call of what a variable holds
            variable = before if sys.version_info >= (3, 13) else after
            name = "" if variable is None else str(variable.argval)
            if variable is not None and variable.opname == "LOAD_ATTR":  # 3.13, of a module too
                begun.append((name, True))
                methods.update({name} - _ALLOWED)
            else:
                begun.append(("", False))
                is_named = variable is not None and variable.opname.startswith("LOAD_")
                functions.add(name if is_named else "")
        elif function is not None:
            begun.append((function, False))
            if function not in _READERS:
                functions.add(function)
        elif method is not None:
            is_global = before is not None and before.opname == "LOAD_GLOBAL"
            begun.append((method, is_global or of_module))
            of_module = False
            if filled and _fills_own(i, before, after, ended, filled[0]):
                fills = True
            elif method in INITIALISERS:
                stores = True  # another object, which may be filled already
            elif method in _WRITERS:  # of a container behind it, whatever else has that name
                stores |= _loaded(before, "LOAD_FAST") not in own
            elif method not in _ALLOWED:
                methods.add(method)
        elif i.opname in ("CALL", "CALL_KW") and begun:
            ended, is_global = begun.pop()
            name = ended
            stores |= name in _ALLOWED and (i.arg or 0) > _most_inputs(name, is_global)
    return Calls(stores, fills, frozenset(functions), frozenset(methods))


INITIALISERS = frozenset({"__init__", "__post_init__"})


def _filled_variable(code: CodeType, found: list[Any]) -> tuple[str, ...]:
    """Return the name of the new object that an initialiser fills, unless it assigns to it."""
    first = code.co_varnames[: min(code.co_argcount, 1)]
    is_assigned = any("STORE_FAST" in i.opname and {*first} & {*_names(i)} for i, *_ in found)
    return first if code.co_name in INITIALISERS and not is_assigned else ()


def _fills_own(i: dis.Instruction, before: Any, after: Any, ended: str, new: str) -> bool:
    """Return whether a method is the initialiser of a base, of the object in the variable `new`, or
    is ``object.__setattr__``, which frozen classes call for it."""
    is_given = _loaded(after, "LOAD_FAST") == new
    if i.argval == "__setattr__":
        return is_given
    of_super = i.opname == "LOAD_SUPER_ATTR" or (ended == "super" and before.opname == "CALL")
    of_new = is_given or of_super or _loaded(before, "LOAD_FAST") == new
    return of_new and i.argval in INITIALISERS


def _names(i: dis.Instruction) -> tuple[str, ...]:
    return i.argval if type(i.argval) is tuple else (i.argval,)


def _own_variables(code: CodeType, found: list[Any]) -> set[str]:
    """Return the local variables that hold nothing but text, numbers and containers that the
    function has made: what it adds to these is gone with it, or in its result."""
    assigned = [(before, i) for i, before, _ in found if "STORE_FAST" in i.opname]
    others = {
        name
        for before, i in assigned
        if i.opname != "STORE_FAST" or not _is_new(before)
        for name in _names(i)
    }
    others.update(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + 2])
    return {i.argval for _, i in assigned if type(i.argval) is str} - others


def _is_new(before: dis.Instruction | None) -> bool:
    if before is None:
        return False
    return before.opname in _DISPLAYS or (
        before.opname == "BINARY_OP" and before.argrepr[-1] == "="
    )


_DISPLAYS = frozenset("BUILD_LIST BUILD_MAP BUILD_SET BUILD_STRING FORMAT_VALUE LOAD_CONST".split())


def _loaded(i: dis.Instruction | None, opname: str) -> str | None:
    """Return the variable of an instruction of that name, else ``None``."""
    if i is not None and i.opname == f"{opname}_{opname}":
        return str(i.argval[1])
    return str(i.argval) if i is not None and i.opname == opname else None


def _is_accounted_for(
    code: CodeType, i: dis.Instruction, before: dis.Instruction | None, ended: str
) -> bool:
    """Return whether ``__array_finalize__`` sets an attribute of the new array, which
    `adjoint.runtime.memory.subclass_attributes` accounts for, or ``__hash__`` keeps a hash."""
    if i.opname != "STORE_ATTR" or _loaded(before, "LOAD_FAST") not in code.co_varnames[:1]:
        return False
    keeps_hash = code.co_name == "__hash__" and ended == "hash" and "hash" in str(i.argval)
    return keeps_hash or code.co_name == "__array_finalize__"


def _passes_ufunc(i: dis.Instruction, before: Any, after: Any) -> bool:
    """Return whether an instruction loads the name of a ufunc, as a global variable or an attribute
    of one, of which nothing is read: foreign code may call it with an output."""
    is_global = i.opname == "LOAD_GLOBAL" or (
        i.opname == "LOAD_ATTR" and before is not None and before.opname == "LOAD_GLOBAL"
    )
    is_used = after is not None and after.opname in ("LOAD_ATTR", "LOAD_METHOD", "PUSH_NULL")
    return is_global and not is_used and i.argval in _UFUNCS


def _writes(i: dis.Instruction) -> bool:
    """Return whether an instruction stores something, or loads a method that does."""
    if i.opname == "BINARY_OP":
        return i.argrepr.endswith("=")
    loads = i.opname in ("LOAD_ATTR", "LOAD_GLOBAL") and called(i)[1] is None
    return i.opname in _WRITES or i.opname in _CELLS or (loads and i.argval in _WRITERS)


def is_harmless(i: dis.Instruction) -> bool:
    """Return whether an instruction stores nothing and begins no call that may."""
    function, method = called(i)
    if _writes(i) or i.opname in ("PUSH_NULL", "LOAD_SUPER_ATTR"):
        return False
    return (function is None or function in _READERS) and (method is None or method in READING)


def is_reader(name: str) -> bool:
    """Return whether the builtin function of that name stores nothing itself."""
    return name in _READERS


def is_writer(name: str) -> bool:
    """Return whether functions and methods of that name write into their operands."""
    return name in _WRITERS


def _names_output(word: Any) -> bool:
    """Return whether `word` is the name of an output argument."""
    return type(word) is str and (
        word in ("out", "output", "copy", "where") or word.startswith("overwrite_")
    )


def _most_inputs(name: str, of_module: bool) -> int:
    """Return how many positional arguments a NumPy function or method has before an output."""
    f = getattr(np, name, None)
    if type(f) is np.ufunc and not hasattr(np.ndarray, name):
        return f.nin
    if of_module and type(f) is not np.ufunc and (places := _places_of_outputs(f)) is not None:
        return places
    if not hasattr(np.ndarray, name) and "out" not in str(getattr(f, "__doc__", "")):
        return 255
    return _INPUTS.get(name, 2) if of_module else _INPUTS.get(name, 2) - 1


def _places_of_outputs(f: Any) -> int | None:
    """Return the place of the first parameter of `f` that is an output, or asks for one; ``None``
    for functions without signature."""
    try:
        names = list(inspect.signature(f).parameters)
    except (TypeError, ValueError):
        return None
    return next((n for n, name in enumerate(names) if _names_output(name)), 255)


_INPUTS = {"clip": 3, "reshape": 255, "transpose": 255, "swapaxes": 255, "__array_function__": 255}


@by_code
def may_store(code: CodeType) -> bool:
    """Return whether a function may store something, or calls a function that may."""
    return code is CACHED_PROPERTY or any(calls_of(code))


@by_code
def hands_out(code: CodeType) -> bool:
    """Return whether a function does more with its arguments than read and set their attributes and
    test their classes."""
    given = {*code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]}
    found = [*steps(code)]
    for (i, before, after), (_, _, behind) in zip(found, [*found[1:], found[-1]], strict=True):
        if not i.opname.startswith(("LOAD_FAST", "LOAD_DEREF", "LOAD_CLOSURE")):
            continue
        names = _names(i)
        follows = "" if after is None else after.opname
        if before is not None and before.opname == "LOAD_GLOBAL" and before.argval in _ASK_NOTHING:
            names = names[1:]
        elif follows == "STORE_ATTR":
            names = ()
        elif follows.startswith("LOAD_FAST") and behind and behind.opname == "STORE_ATTR":
            names = names[:-1]
        if not given.isdisjoint(names[:-1] if follows in _OF_ATTRIBUTES else names):
            return True
    return False


_ASK_NOTHING = frozenset({"id", "isinstance", "type"})
_OF_ATTRIBUTES = frozenset("DELETE_ATTR LOAD_ATTR LOAD_METHOD STORE_ATTR".split())


@by_code
def is_closed(code: CodeType) -> bool:
    """Return whether a function only reads attributes: it calls no special method."""
    reads = all(map(is_harmless, dis.get_instructions(code)))
    return reads and not may_store(code) and not hands_out(code)


# ---- instructions --------------------------------------------------------------------------------


def steps(
    code: CodeType,
) -> Iterator[tuple[dis.Instruction, dis.Instruction | None, dis.Instruction | None]]:
    """Yield each effective instruction with the one before and the one after it."""
    found = [i for i in dis.get_instructions(code) if i.opname not in _NOTHING]
    for n, i in enumerate(found):
        yield i, found[n - 1] if n else None, found[n + 1] if n + 1 < len(found) else None


_NOTHING = frozenset("PRECALL CACHE EXTENDED_ARG NOP RESUME KW_NAMES COPY_FREE_VARS".split())


def called(instruction: dis.Instruction) -> tuple[Any, Any]:
    """Return the global function and the method, by name, that an instruction loads for a call."""
    name, arg = instruction.opname, instruction.arg or 0
    if name == "LOAD_GLOBAL" and arg & 1:
        return instruction.argval, None
    if name in ("LOAD_METHOD", "LOAD_SUPER_ATTR"):
        return None, instruction.argval
    if name == "LOAD_ATTR" and arg & 1 and sys.version_info >= (3, 12):
        return None, instruction.argval
    return None, None
