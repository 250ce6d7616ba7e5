"""What a function writes to, read from its bytecode: where it puts the very values that stood
there, as a call that is made again does, nothing differs from before."""

from __future__ import annotations

import builtins
import dis
import math
import sys
from collections import Counter, deque
from collections.abc import Iterable
from functools import cache
from inspect import (
    CO_ASYNC_GENERATOR,
    CO_COROUTINE,
    CO_GENERATOR,
    CO_VARARGS,
    CO_VARKEYWORDS,
)
from types import (
    CellType,
    CodeType,
    FrameType,
    FunctionType,
    MemberDescriptorType,
    ModuleType,
)
from typing import Any

import numpy as np

from adjoint.run.contents import elements_of, entries_of
from adjoint.run.kept import NUMBERS_KEPT, contents_of_cell, has_slots
from adjoint.run.kinds import fields_of, filled_slots

__all__ = ["may_fill_anything", "twice_in", "written_by"]

_Origin = frozenset[str]
"""The variables that something may come from, attributes with a dot before them."""
_NEW: _Origin = frozenset()
_ANY: _Origin = frozenset({"?"})
"""It may be anything that the function gets at."""
_CALLED = "()"
"""Before the name of a function that something is the result of."""

_METHODS = frozenset(
    "add append appendleft byteswap extend extendleft fill insert itemset partition put resize"
    " setdefault setfield sort update __setitem__".split()
)
_FUNCTIONS = frozenset(
    "at copyto fill_diagonal iadd iand ifloordiv ilshift imatmul imod imul ior ipow irshift isub"
    " itruediv ixor place put put_along_axis putmask setitem shuffle".split()
)
"""What writes into the array whose method it is, and what into one that it is given."""
_PARTS = frozenset("T flat imag mT real".split())
"""Attributes of an array that look at its memory."""
_VIEWS = frozenset(
    "array_split as_strided asanyarray asarray ascontiguousarray atleast_1d atleast_2d atleast_3d"
    " broadcast_arrays broadcast_to diagonal dsplit enumerate expand_dims filter get getattr"
    " getfield hsplit imag items iter list map max min moveaxis nditer next permute_dims pop"
    " popleft ravel real require reshape reversed rollaxis setdefault sliding_window_view sorted"
    " split squeeze swapaxes transpose tuple unstack values vars view vsplit zip".split()
)
"""What gives parts of what it is given, or views of it."""


@cache
def _fresh() -> frozenset[str]:
    """Methods and functions of modules whose results are new, if they are none of those; NumPy
    imports some of its modules when they are asked for."""
    owners = (np, np.ndarray, np.random, np.linalg, np.fft, math, str, bytes, float, complex)
    return frozenset(name for owner in owners for name in dir(owner)) | {"index", "count", "keys"}


_LOADS = frozenset(
    "LOAD_FAST LOAD_FAST_CHECK LOAD_FAST_AND_CLEAR LOAD_DEREF LOAD_CLASSDEREF LOAD_NAME".split()
)
_STORES = frozenset("STORE_FAST STORE_DEREF STORE_NAME STORE_GLOBAL".split())
_QUIET = frozenset(
    "CACHE COPY_FREE_VARS EXTENDED_ARG GET_ITER MAKE_CELL NOP PRECALL RESUME".split()
)
_POPS = {"COMPARE_OP": 2, "IS_OP": 2, "CONTAINS_OP": 2}
_POPS |= dict.fromkeys(("UNARY_NEGATIVE", "UNARY_NOT", "UNARY_INVERT", "TO_BOOL"), 1)


class _Reader:
    """Follows the stack of a function, as far as one block of it goes."""

    def __init__(self, consts: tuple[Any, ...]) -> None:
        self.consts = consts
        self.by_out = self.ended = False
        self.at: dict[int, list[_Origin]] = {}
        self.stack: list[_Origin] = []
        self.found: set[str] = set()
        self.returned: set[str] = set()
        self.fields: set[str] = set()
        self.sources: dict[str, set[str]] = {}

    def pop(self) -> _Origin:
        return self.stack.pop() if self.stack else _ANY

    def pops(self, n: int) -> list[_Origin]:
        return [self.pop() for _ in range(n)]

    def assign(self, name: str) -> None:
        self.sources.setdefault(name, set()).update(self.pop())

    def step(self, i: dis.Instruction) -> None:
        name, arg, value = i.opname, i.arg or 0, i.argval
        if i.offset in self.at or self.ended:
            here = self.at.pop(i.offset, [])
            self.stack = here if self.ended else _joined(self.stack, here)
        self.ended = name.startswith(
            ("JUMP_FORWARD", "JUMP_BACKWARD", "RAISE", "RERAISE", "RETURN")
        )
        if name in _LOADS:
            self.stack.append(frozenset({value}))
        elif name == "LOAD_GLOBAL":
            self.stack += [_NEW] * (arg & 1) + [frozenset({value})]
        elif name in ("LOAD_CONST", "KW_NAMES"):
            names = self.consts[arg]
            self.by_out = type(names) is tuple and "out" in names
            self.stack += [_NEW] if name == "LOAD_CONST" else []
        elif name == "LOAD_FAST_LOAD_FAST":
            self.stack += [frozenset({one}) for one in value]
        elif name in ("LOAD_ATTR", "LOAD_METHOD"):
            self.attribute(value, name == "LOAD_METHOD" or _is_method(arg))
        elif name == "BINARY_OP":
            left = self.pops(2)[-1]
            left = left if i.argrepr.endswith("=") else _NEW
            self.found |= left
            self.stack.append(left)
        elif name in ("BINARY_SUBSCR", "BINARY_SLICE"):
            self.stack.append(self.pops(2 if name == "BINARY_SUBSCR" else 3)[-1])
        elif name in ("STORE_SUBSCR", "STORE_SLICE"):
            self.found |= self.pops(3 if name == "STORE_SUBSCR" else 4)[-2]
        elif name in _STORES:
            self.assign(value)
        elif name == "STORE_ATTR":
            self.pops(2)
            self.fields.add(value)
        elif name in ("STORE_FAST_STORE_FAST", "STORE_FAST_LOAD_FAST"):
            self.assign(value[0])
            if name == "STORE_FAST_STORE_FAST":
                self.assign(value[1])
            else:
                self.stack.append(frozenset({value[1]}))
        else:
            self.move(name, arg, value)

    def attribute(self, name: str, called: bool) -> None:
        owner = self.pop()
        if name in _METHODS:  # it may be called later
            self.found |= owner
        found = frozenset({"." + name})
        if called:
            self.stack += [found, owner]
        else:
            self.stack.append(found | owner if name in _PARTS else found)

    def call(self, given: list[_Origin]) -> None:
        """A call: the function is the lowest on the stack, or stands over what
        says that it is no method."""
        callee = given[-1] or given[-2]
        names = {name.lstrip(".") for name in callee}
        if names & _FUNCTIONS or self.by_out or any(map(_is_full, names, [given] * len(names))):
            self.found |= _NEW.union(*given[:-2])
        self.by_out = False
        self.stack.append(_result_of(callee, given))

    def move(self, name: str, arg: int, value: Any) -> None:
        """What only moves things about on the stack, or makes one of several."""
        if name in ("CALL", "CALL_KW"):
            self.call(self.pops(arg + (2 if name == "CALL" else 3)))
        elif name in _DISPLAYS:
            self.stack.append(_NEW.union(*self.pops(_DISPLAYS[name] * arg)))
        elif name in ("LIST_APPEND", "LIST_EXTEND", "SET_ADD", "SET_UPDATE", "DICT_UPDATE"):
            part = self.pop()
            if arg <= len(self.stack):
                self.stack[-arg] |= part
        elif name == "MAP_ADD":
            part = _NEW.union(*self.pops(2))
            if arg <= len(self.stack):
                self.stack[-arg] |= part
        elif name == "UNPACK_SEQUENCE":
            self.stack += [self.pop()] * arg
        elif name in _POPS:
            self.pops(_POPS[name])
            self.stack.append(_NEW)
        elif name in ("POP_TOP", "END_FOR", "POP_EXCEPT"):
            self.pop()
        elif name == "RETURN_VALUE":
            self.returned |= self.pop()
        elif name.startswith(("POP_JUMP", "JUMP_FORWARD")):
            self.pops(name.startswith("POP"))
            self.at[value] = [*self.stack]
        elif name == "FOR_ITER":
            self.at[value] = [*self.stack]
            self.stack += self.stack[-1:] or [_ANY]
        elif name == "PUSH_NULL":
            self.stack.append(_NEW)
        elif name == "COPY":
            self.stack.append(self.stack[-arg] if arg <= len(self.stack) else _ANY)
        elif name == "SWAP" and arg <= len(self.stack):
            stack = self.stack
            stack[-1], stack[-arg] = stack[-arg], stack[-1]
        elif name in _MAKES:
            self.pops(_MAKES[name] + (arg.bit_count() if name == "MAKE_FUNCTION" else 0))
            self.stack.append(_NEW)
        elif name not in _QUIET:
            self.stack.clear()


_DISPLAYS = {"BUILD_TUPLE": 1, "BUILD_LIST": 1, "BUILD_SLICE": 1, "BUILD_SET": 1, "BUILD_MAP": 2}
_DISPLAYS |= {"BUILD_STRING": 0, "BUILD_CONST_KEY_MAP": 1}
_MAKES = {"MAKE_FUNCTION": 1, "IMPORT_NAME": 2, "FORMAT_SIMPLE": 1, "CONVERT_VALUE": 1}
_MAKES |= {"LOAD_CLOSURE": 0, "LOAD_BUILD_CLASS": 0, "PUSH_EXC_INFO": 0}
"""How many operands they take; what they make is new, or no array."""


def _is_full(name: str, given: list[_Origin]) -> bool:
    """Whether a ufunc of NumPy's is given its output by position."""
    f = vars(np).get(name)
    return isinstance(f, np.ufunc) and len(given) - 2 > f.nin


def _joined(xs: list[_Origin], ys: list[_Origin]) -> list[_Origin]:
    """The stack where two ways meet."""
    return [x | y for x, y in zip(xs, ys, strict=False)] if len(xs) == len(ys) else []


def _is_method(arg: int) -> bool:
    return bool(arg & 1) and sys.version_info >= (3, 12)


def _result_of(callee: _Origin, given: list[_Origin]) -> _Origin:
    """Where what a function of such names returns comes from."""
    if not callee:
        return _ANY
    names = {name.lstrip(".") for name in callee}
    parts = _NEW.union(*given) - callee if names & _VIEWS else _NEW
    return parts | {_CALLED + name for name in callee}


class _Stores:
    """The variables and attributes of which a function may write elements, the attributes that it
    assigns, and the variables outside."""

    __slots__ = ("asks_for_names", "attributes", "filled", "returned", "variables")

    def __init__(self, code: CodeType) -> None:
        reader = _Reader(code.co_consts)
        variables = set()
        for instruction in dis.get_instructions(code):
            reader.step(instruction)
            if instruction.opname in ("STORE_DEREF", "STORE_GLOBAL", "STORE_NAME"):
                variables.add(instruction.argval)
        self.attributes, self.variables = reader.fields, variables
        found = self.filled = _followed(reader.found, reader.sources)
        self.returned = _followed(reader.returned, reader.sources) - _own_variables(code)
        if code.co_flags & _SUSPENDS:
            self.returned |= _ANY
        self.asks_for_names = bool(self.attributes) or any("." in name for name in found)


def _own_variables(code: CodeType) -> set[str]:
    """The variables that are no parameters: what they hold has come from elsewhere."""
    given = code.co_argcount + code.co_kwonlyargcount
    given += bool(code.co_flags & CO_VARARGS) + bool(code.co_flags & CO_VARKEYWORDS)
    return {*code.co_varnames, *code.co_cellvars} - {*code.co_varnames[:given]}


_SUSPENDS = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR


def _followed(found: set[str], sources: dict[str, set[str]]) -> set[str]:
    """Where what variables hold comes from, too."""
    waiting = [*found]
    while waiting:
        more = sources.get(waiting.pop(), set()) - found
        found |= more
        waiting += more
    return found


_known: dict[int, tuple[CodeType, _Stores]] = {}


def _stores_of(code: CodeType) -> _Stores:
    known = _known.get(id(code))
    if known is None:
        known = _known[id(code)] = code, _Stores(code)
    return known[1]


def may_fill_anything(frame: FrameType, held: list[Any]) -> bool:
    """Whether the function that begins in `frame` may write into an array that another function has
    given it, or of which it is not known where it comes from."""
    filled = _stores_of(frame.f_code).filled
    spaces = (frame.f_locals, frame.f_globals, vars(builtins))
    return any(_is_given(name, spaces, held, _DEPTH) for name in filled)


_DEPTH = 3


def _is_given(name: str, spaces: Any, held: list[Any], depth: int) -> bool:
    """Whether what comes from there may be an array that nobody sees it come from."""
    if name == "?":
        return True
    if not name.startswith(_CALLED):
        return _computed(name, spaces, held)
    name = name[len(_CALLED) :]
    if name.startswith("."):
        name = name[1:]
        own = [f for owner in held if (f := _of_class(owner, name)) is not None]
        if not own:
            return name not in _fresh() and name not in _VIEWS
        return any(_gives(f, held, depth) for f in own)
    value = next((space[name] for space in spaces if name in space), None)
    return _gives(value, held, depth)


def _computed(name: str, spaces: Any, held: list[Any]) -> bool:
    """Whether a variable or an attribute, or what stands in it, is what code of the user's makes of
    it."""
    if name.startswith("."):
        if any(_computes(owner, name[1:]) for owner in held):
            return True
        spaces = [_names(owner) for owner in held]
        name = name[1:]
    values = [space[name] for space in spaces if name in space]
    return any(_of_class(value, special) for value in values for special in _GIVING)


_GIVING = ("__getitem__", "__iter__", "__next__", "__enter__")


def _gives(f: Any, held: list[Any], depth: int) -> bool:
    """Whether a function may return an array that was there before, other than by views."""
    package = str(getattr(f, "__module__", None)).partition(".")[0]
    if isinstance(f, type) or package in _PACKAGES:
        return False
    if type(f) is not FunctionType or not depth:
        return True
    spaces = f.__globals__, vars(builtins)
    return any(
        not name.startswith(_CALLED) or _is_given(name, spaces, held, depth - 1)
        for name in _stores_of(f.__code__).returned
    )


_PACKAGES = frozenset({"numpy", "math", "builtins", "operator", "_operator"})
"""Those whose functions give new arrays, or views by names that are known."""


def _of_class(owner: Any, name: str) -> Any:
    """What the class of an object of the user's, or a class, has under a name, in Python."""
    kind = owner if isinstance(owner, type) else type(owner)
    if not kind.__flags__ & (1 << 9):  # HEAPTYPE
        return None
    found = next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)
    found = getattr(found, "__func__", found)
    return found if type(found) is FunctionType else None


def _computes(owner: Any, name: str) -> bool:
    """Whether an attribute of an object is what code of the user's makes of it."""
    kind = type(owner)
    if not kind.__flags__ & (1 << 9) or name in (fields_of(owner) or ()):
        return False
    found = next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)
    if found is None:
        return any("__getattr__" in vars(base) for base in kind.__mro__)
    return (
        hasattr(type(found), "__get__")
        and type(found) is not FunctionType
        and (not isinstance(found, MemberDescriptorType))
    )


def written_by(frame: FrameType, held: list[Any]) -> list[tuple[Any, str | None]]:
    """What the function that begins in `frame` may write to, or where under which name, if it gets
    at what is `held`."""
    code = frame.f_code
    stores, local, namespace = _stores_of(code), frame.f_locals, frame.f_globals
    written: list[tuple[Any, str | None]] = []
    for name in stores.variables:
        if name in code.co_names:
            written.append((namespace, name))
        elif name in local:
            cells = [owner for owner in held if type(owner) is CellType]
            written += [(cell, None) for cell in cells if contents_of_cell(cell) is local[name]]
    with_names = [(owner, _names(owner)) for owner in held] if stores.asks_for_names else []
    for name in stores.attributes:
        written += [(owner, name) for owner, space in with_names if name in space]
    for name in stores.filled:
        if name.startswith("."):
            modules = [namespace.get(one) for one in code.co_names]
            spaces = [vars(one) for one in modules if isinstance(one, ModuleType)]
            spaces += [space for _, space in with_names]
            found = [space[name[1:]] for space in spaces if name[1:] in space]
        else:
            found = [space[name] for space in (local, namespace) if name in space][:1]
        for owner in found:
            arrays = [item for item in _inside(owner) if issubclass(type(item), np.ndarray)]
            written += [(item, None) for item in (owner, *arrays)]
    return written


def _names(owner: Any) -> Any:
    """What stands under which names in an object or a class."""
    if issubclass(type(owner), type):
        return vars(owner)
    fields = fields_of(owner) or {}
    return {**fields, **filled_slots(owner)} if has_slots(type(owner)) else fields


def twice_in(frame: FrameType, held: list[Any]) -> set[int]:
    """Of the numbers that the function that begins in `frame` gets at, those that stand at several
    places, by identity: one of them may be put where it stands."""
    code = frame.f_code
    own = [frame.f_locals.get(name) for name in code.co_varnames]
    own += [frame.f_globals.get(name) for name in code.co_names]
    values = [value for owner in held for value in _inside(owner)]
    counts = Counter(id(value) for value in (*own, *values) if type(value) in NUMBERS_KEPT)
    return {place for place, count in counts.items() if count > 1}


def _inside(owner: Any) -> Iterable[Any]:
    """What stands in a container, an object or a captured variable."""
    kind = type(owner)
    if issubclass(kind, list | tuple | deque):
        return elements_of(owner)
    if issubclass(kind, dict):
        return [item for _, item in entries_of(owner)]
    return [contents_of_cell(owner)] if kind is CellType else [*_names(owner).values()]
