"""What a function writes to, read from its bytecode: where it puts the very values that stood
there, as a call that is made again does, nothing differs from before."""

from __future__ import annotations

import dis
import sys
from collections import Counter, deque
from collections.abc import Iterable
from types import CellType, CodeType, FrameType
from typing import Any

import numpy as np

from adjoint.run.contents import elements_of, entries_of
from adjoint.run.kept import NUMBERS_KEPT, contents_of_cell, has_slots
from adjoint.run.kinds import fields_of, filled_slots

__all__ = ["twice_in", "written_by"]

_Origin = frozenset[str]
"""The variables that something may come from, attributes with a dot before them."""
_NEW: _Origin = frozenset()

_METHODS = frozenset(
    "add append appendleft byteswap extend extendleft fill insert itemset partition put resize"
    " setdefault setfield sort update __setitem__".split()
)
_FUNCTIONS = frozenset("at copyto fill_diagonal place put put_along_axis putmask shuffle".split())
"""What writes into the array whose method it is, and what into one that it is given."""
_PARTS = frozenset("T flat imag mT real".split())
"""Attributes of an array that look at its memory."""
_VIEWS = frozenset(
    "asanyarray asarray ascontiguousarray atleast_1d atleast_2d atleast_3d broadcast_arrays"
    " broadcast_to diagonal expand_dims get imag moveaxis ravel real require reshape rollaxis"
    " squeeze swapaxes transpose view".split()
)
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
        self.fields: set[str] = set()
        self.sources: dict[str, set[str]] = {}

    def pop(self) -> _Origin:
        return self.stack.pop() if self.stack else _NEW

    def pops(self, n: int) -> list[_Origin]:
        return [self.pop() for _ in range(n)]

    def assign(self, name: str) -> None:
        self.sources.setdefault(name, set()).update(self.pop())

    def step(self, i: dis.Instruction) -> None:
        name, arg, value = i.opname, i.arg or 0, i.argval
        if self.ended:
            self.stack = self.at.pop(i.offset, [])
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
        if name in _METHODS and called:
            self.found |= owner
        found = frozenset({"." + name})
        if called:
            self.stack += [found, owner]
        else:
            self.stack.append(found | owner if name in _PARTS else found)

    def call(self, given: list[_Origin]) -> None:
        """A call: the function is the lowest on the stack, or stands over what
        says that it is no method."""
        names = {name.lstrip(".") for name in given[-1] | given[-2]}
        if names & _FUNCTIONS or self.by_out:
            self.found |= _NEW.union(*given[:-2])
        self.by_out = False
        self.stack.append(_result_of(names, given))

    def move(self, name: str, arg: int, value: Any) -> None:
        """What only moves things about on the stack, or makes one of several."""
        if name in ("CALL", "CALL_KW"):
            self.call(self.pops(arg + (2 if name == "CALL" else 3)))
        elif name in ("BUILD_TUPLE", "BUILD_LIST", "BUILD_SLICE"):
            self.stack.append(_NEW.union(*self.pops(arg)))
        elif name in _POPS:
            self.pops(_POPS[name])
            self.stack.append(_NEW)
        elif name == "POP_TOP":
            self.pop()
        elif name.startswith(("POP_JUMP", "JUMP_FORWARD")):
            self.pops(name.startswith("POP"))
            self.at[value] = [*self.stack]
        elif name == "FOR_ITER":
            self.stack += self.stack[-1:]
        elif name == "PUSH_NULL":
            self.stack.append(_NEW)
        elif name == "COPY":
            self.stack.append(self.stack[-arg] if arg <= len(self.stack) else _NEW)
        elif name == "SWAP" and arg <= len(self.stack):
            stack = self.stack
            stack[-1], stack[-arg] = stack[-arg], stack[-1]
        elif name not in _QUIET:
            self.stack.clear()


def _is_method(arg: int) -> bool:
    return bool(arg & 1) and sys.version_info >= (3, 12)


def _result_of(names: set[str], given: list[_Origin]) -> _Origin:
    """Where what a function of such a name returns comes from."""
    return _NEW.union(*given) if names & _VIEWS else _NEW


class _Stores:
    """The variables and attributes of which a function may write elements, the attributes that it
    assigns, and the variables outside."""

    __slots__ = ("asks_for_names", "attributes", "filled", "variables")

    def __init__(self, code: CodeType) -> None:
        reader = _Reader(code.co_consts)
        variables = set()
        for instruction in dis.get_instructions(code):
            reader.step(instruction)
            if instruction.opname in ("STORE_DEREF", "STORE_GLOBAL", "STORE_NAME"):
                variables.add(instruction.argval)
        self.attributes, self.variables = reader.fields, variables
        found = self.filled = reader.found
        waiting = [*found]
        while waiting:
            more = reader.sources.get(waiting.pop(), set()) - found
            found |= more
            waiting += more
        self.asks_for_names = bool(self.attributes) or any("." in name for name in found)


_known: dict[int, tuple[CodeType, _Stores]] = {}


def written_by(frame: FrameType, held: list[Any]) -> list[tuple[Any, str | None]]:
    """What the function that begins in `frame` may write to, or where under which name, if it gets
    at what is `held`."""
    code = frame.f_code
    known = _known.get(id(code))
    if known is None:
        known = _known[id(code)] = code, _Stores(code)
    stores, local, namespace = known[1], frame.f_locals, frame.f_globals
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
            found = [space[name[1:]] for _, space in with_names if name[1:] in space]
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
