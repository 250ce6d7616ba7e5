"""Origins of the values that a function writes into, stores and returns, read from its bytecode."""

from __future__ import annotations

import dis
import sys
from inspect import (
    CO_ASYNC_GENERATOR,
    CO_COROUTINE,
    CO_GENERATOR,
    CO_VARARGS,
    CO_VARKEYWORDS,
)
from types import CodeType
from typing import Any, NamedTuple

from adjoint.primal.memo_by_code import by_code

Origin = frozenset[str]
"""The variables that a value may come from; attributes begin with a dot."""
_NEW: Origin = frozenset()
_ANY: Origin = frozenset({"?"})
"""Any value that the function reaches."""
CALLED = "()"
"""Prefix of a function's name: the value is a result of that function."""
COPIED = "copy of "
"""Prefix of a name: the value is a copy of what the name stands for, with the same elements."""
_TRUE: Origin = frozenset({"True"})
"""The constant ``True``."""
_OUT: Origin = frozenset({"'out'"})
"""The string ``"out"``, or keyword names that contain it."""
_MADE: Origin = frozenset({"def"})
"""A function made here; combined with what it returns."""

_METHODS = frozenset(
    "add append appendleft byteswap extend extendleft fill insert itemset partition put resize"
    " setdefault setfield sort update __setitem__".split()
)
_FUNCTIONS = frozenset(
    "at copyto fill_diagonal iadd iand ifloordiv ilshift imatmul imod imul ior ipow irshift isub"
    " itruediv ixor place put put_along_axis putmask setitem shuffle".split()
)
"""Methods that write into their array, and functions that write into an operand."""
_PASSED = _FUNCTIONS - {"at", "place", "put"}
"""Functions that count by their names also as operands of others (`partial`, `map`)."""
_PARTS = frozenset("T base data flat imag mT operands real".split())
"""Attributes of an array that are aliases of it."""
VIEWS = frozenset(
    "array_split as_strided asanyarray asarray asarray_chkfinite ascontiguousarray"
    " asfortranarray asmatrix atleast_1d atleast_2d atleast_3d broadcast_arrays broadcast_to cast"
    " chain cycle deque diagonal dict dsplit enumerate expand_dims filter frombuffer frozenset get"
    " getattr getfield hsplit imag islice items iter list map max memoryview min moveaxis nditer"
    " next permute_dims pop popleft ravel real repeat require reshape reversed rollaxis set"
    " setdefault sliding_window_view sorted split squeeze swapaxes transpose tuple unstack values"
    " vars view vsplit zip".split()
)
"""Functions and methods that return parts of their operands, or aliases of them."""
_COPIES = frozenset("array astype masked_array matrix nan_to_num".split())
"""Functions and methods that return an alias only where ``copy`` is not true."""


_LOADS = frozenset(
    "LOAD_FAST LOAD_FAST_CHECK LOAD_FAST_AND_CLEAR LOAD_DEREF LOAD_CLASSDEREF LOAD_NAME".split()
)
_STORES = frozenset("STORE_FAST STORE_DEREF STORE_NAME STORE_GLOBAL".split())
_QUIET = frozenset(
    "CACHE CALL_INTRINSIC_1 COPY_FREE_VARS DELETE_DEREF DELETE_FAST DELETE_GLOBAL DELETE_NAME"
    " EXTENDED_ARG GET_ITER LIST_TO_TUPLE MAKE_CELL NOP PRECALL RESUME".split()
)
_POPS = {"COMPARE_OP": 2, "IS_OP": 2, "CONTAINS_OP": 2}
_POPS |= dict.fromkeys(("UNARY_NEGATIVE", "UNARY_NOT", "UNARY_INVERT", "TO_BOOL"), 1)


class _Reader:
    """Follow the stack of a function through its instructions."""

    def __init__(self, consts: tuple[Any, ...]) -> None:
        self.consts = consts
        self.last: Any = None
        self.word = ""
        self.owners: dict[str, set[str]] = {}
        self.names: tuple[str, ...] = ()
        self.ended = False
        self.at: dict[int, list[Origin]] = {}
        self.stack: list[Origin] = []
        self.found: set[str] = set()
        self.outputs: list[tuple[Origin, Origin]] = []
        self.overwritten: set[str] = set()
        self.calls: list[Call] = []
        self.bound: list[Origin] = []
        self.returned: set[str] = set()
        self.fields: set[str] = set()
        self.sources: dict[str, set[str]] = {}

    def pop(self) -> Origin:
        return self.stack.pop() if self.stack else _ANY

    def pops(self, n: int) -> list[Origin]:
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
        elif name == "KW_NAMES":
            self.names = self.consts[arg]
        elif name == "LOAD_CONST":
            self.last = const = self.consts[arg]
            self.word = const if type(const) is str else self.word
            is_code = type(const) is CodeType
            names_output = const == "out" or (type(const) is tuple and "out" in const)
            plain = _TRUE if const is True else _OUT if names_output else _NEW
            self.stack.append(_MADE | stores_of(const).returned if is_code else plain)
        elif name == "LOAD_FAST_LOAD_FAST":
            self.stack += [frozenset({one}) for one in value]
        elif name in ("LOAD_ATTR", "LOAD_METHOD"):
            self.attribute(value, name == "LOAD_METHOD" or _is_method(arg))
        elif name == "BINARY_OP":
            right, left = self.pops(2)
            if i.argrepr.endswith("="):
                self.found |= left
                self.stack.append(left)
            else:  # the sum of lists, the union of dicts: holds the same elements
                self.stack.append(_copied(left | right))
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
        if name in _METHODS:  # may be called later
            self.found |= owner
        found = frozenset({"." + name})
        self.owners.setdefault("." + name, set()).update(owner)
        if called:
            self.stack += [found, owner]
        else:
            self.stack.append(found | owner if name in _PARTS else found)

    def call(
        self, given: list[Origin], by_name: tuple[str, ...] = (), starred: bool = False
    ) -> None:
        """Follow a call. `given` holds the top of the stack, last operand first: operands by name,
        operands by position, then the owner and the function (or the function and a null)."""
        callee = given[-1] or given[-2]
        owner = given[-2] if given[-1] else _NEW
        if not owner:  # of a module: no method
            owner = _NEW.union(*(self.owners.get(name, ()) for name in callee))
        names = {name.lstrip(".") for name in callee}
        named = dict(zip(by_name[::-1], given, strict=False))
        if "out" in named:
            self.outputs.append((callee, named["out"]))
        if "output" in named:
            self.overwritten |= named["output"]
        if any(name.startswith("overwrite_") and of == _TRUE for name, of in named.items()):
            self.overwritten |= _NEW.union(*given[:-2])
        in_place = named.get("copy", _TRUE) != _TRUE and not names.isdisjoint(_COPIES)
        if in_place and "nan_to_num" in names:
            self.found |= _NEW.union(*given[:-2])
        by_place = given[len(by_name) : -2][::-1]
        if "partial" in names:
            self.bound = by_place
        elif self.bound and any(name in callee for name in _PARTIAL):  # bound operands first
            callee, *first = self.bound
            owner = _NEW.union(*(self.owners.get(name, ()) for name in callee))
            by_place = [*first, *by_place]
        if any(given[:-2]):
            self.calls.append(Call(callee, owner, by_place, _NEW.union(*given[:-2]), starred))
        result = _result_of(callee, given, in_place)
        if callee == {"getattr"} and not any(given[:-3]):  # the last string is the name
            result |= {"." + self.word}
        self.stack.append(result)

    def grow(self, arg: int, part: Origin) -> None:
        """Add `part` to a container on the stack, also for the state after the filling loop."""
        place = len(self.stack) - arg
        for stack in (self.stack, *self.at.values()):
            if 0 <= place < len(stack):
                stack[place] |= part

    def move(self, name: str, arg: int, value: Any) -> None:
        """Follow an instruction that moves values on the stack, or makes one of several."""
        if name == "CALL":
            names, self.names = self.names, ()
            self.call(self.pops(arg + 2), names)
        elif name == "CALL_KW":
            self.pop()
            self.call(self.pops(arg + 2), self.last)
        elif name == "CALL_FUNCTION_EX":
            given = self.pops(3 + (arg & 1))
            if arg & 1 and given[0] >= _OUT:
                self.outputs.append((given[-1] or given[-2], given[0] - _OUT))
            self.call(given, starred=True)
        elif name in _DISPLAYS:
            n = _DISPLAYS[name] * arg + (name == "BUILD_CONST_KEY_MAP")
            self.stack.append(_NEW.union(*self.pops(n)))
        elif name in _GROWS:
            self.grow(arg, _NEW.union(*self.pops(2 if name == "MAP_ADD" else 1)))
        elif name in ("UNPACK_SEQUENCE", "UNPACK_EX"):
            n = arg if name == "UNPACK_SEQUENCE" else (arg & 0xFF) + 1 + (arg >> 8)
            self.stack += [self.pop()] * n
        elif name == "BEFORE_WITH":
            entered = self.pop()
            self.stack += [_NEW, entered | {CALLED + ".__enter__"}]
        elif name == "LOAD_SUPER_ATTR":
            self.stack.append(self.pops(3)[0])
            self.attribute(value, bool(arg & 1))
        elif name == "LOAD_CLOSURE":
            self.stack.append(frozenset({value}))
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
        elif name == "FOR_ITER":  # the stack after a loop depends on the version of Python
            self.at[value] = self.stack[:-1] if sys.version_info < (3, 12) else [*self.stack]
            self.at[value] += [_NEW] * (sys.version_info >= (3, 13))
            self.stack += self.stack[-1:] or [_ANY]
        elif name == "PUSH_NULL":
            self.stack.append(_NEW)
        elif name == "COPY":
            self.stack.append(self.stack[-arg] if arg <= len(self.stack) else _ANY)
        elif name == "SWAP" and arg <= len(self.stack):
            stack = self.stack
            stack[-1], stack[-arg] = stack[-arg], stack[-1]
        elif name == "MAKE_FUNCTION":
            self.stack.append(_NEW.union(*self.pops(1 + arg.bit_count())))
        elif name == "SET_FUNCTION_ATTRIBUTE":
            self.stack.append(_NEW.union(*self.pops(2)))
        elif name in _MAKES:
            self.pops(_MAKES[name] + (arg >> 2 & 1 if name == "FORMAT_VALUE" else 0))
            self.stack.append(_NEW)
        elif name not in _QUIET:
            self.stack.clear()


_DISPLAYS = {"BUILD_TUPLE": 1, "BUILD_LIST": 1, "BUILD_SLICE": 1, "BUILD_SET": 1, "BUILD_MAP": 2}
_DISPLAYS |= {"BUILD_STRING": 1, "BUILD_CONST_KEY_MAP": 1}
_MAKES = {"IMPORT_NAME": 2, "FORMAT_SIMPLE": 1, "FORMAT_VALUE": 1, "FORMAT_WITH_SPEC": 2}
_MAKES |= {"CONVERT_VALUE": 1, "UNARY_POSITIVE": 1, "CHECK_EXC_MATCH": 1}
_MAKES |= {"LOAD_ASSERTION_ERROR": 0, "LOAD_BUILD_CLASS": 0, "PUSH_EXC_INFO": 0}
_MAKES |= {"WITH_EXCEPT_START": 0}
"""How many operands instructions take whose result is new, or no array."""
_GROWS = frozenset(
    "LIST_APPEND LIST_EXTEND MAP_ADD SET_ADD SET_UPDATE DICT_UPDATE DICT_MERGE".split()
)


def _joined(xs: list[Origin], ys: list[Origin]) -> list[Origin]:
    """Return the stack where two branches meet."""
    return [x | y for x, y in zip(xs, ys, strict=False)] if len(xs) == len(ys) else []


def _is_method(arg: int) -> bool:
    return bool(arg & 1) and sys.version_info >= (3, 12)


def _result_of(callee: Origin, given: list[Origin], in_place: bool) -> Origin:
    """Return the origin of the result of a function with these names."""
    if not callee:
        return _ANY
    if callee >= _MADE:
        return _NEW.union(*given) - _MADE
    names = {name.lstrip(".") for name in callee}
    parts = _NEW.union(*given) - callee if in_place or names & VIEWS else _NEW
    if "copy" in names:
        parts |= _copied(_NEW.union(*given))
    if "einsum" in names and sum(map(bool, given[:-2])) == 1:  # a single array: a view
        parts |= _NEW.union(*given) - callee
    return parts | {CALLED + name for name in callee}


def _copied(given: Origin) -> Origin:
    """Return the origin of a copy, with the same elements."""
    return frozenset(
        name if name.startswith(COPIED) else COPIED + name
        for name in given
        if not name.startswith(CALLED)
    )


_PARTIAL = (CALLED + "partial", CALLED + ".partial")


class Call(NamedTuple):
    """A call of `callee`, an attribute of `owner` if that is not empty, with the origins of its
    operands by position and of `every` operand; `starred` if operands are unpacked."""

    callee: Origin
    owner: Origin
    by_position: list[Origin]
    every: Origin
    starred: bool

    def followed(self, sources: dict[str, set[str]]) -> Call:
        """Return the call with the origins of what variables hold added."""
        by_position = [frozenset(_followed({*one}, sources)) for one in self.by_position]
        callee, owner, every = (
            frozenset(_followed({*one}, sources)) for one in (self.callee, self.owner, self.every)
        )
        return Call(callee, owner, by_position, every, self.starred)

    def writes(self) -> bool:
        """Return whether the function, or a function among the operands, writes into an operand."""
        callee = {name.lstrip(".") for name in self.callee}
        given = {name.lstrip(".") for name in self.every}
        return not (callee.isdisjoint(_FUNCTIONS) and given.isdisjoint(_PASSED))


class Stores:
    """Writes and results of a function.

    It holds the variables and attributes whose elements it may write (`filled`), the `attributes`
    and outer `variables` that it assigns, the results that it lets other functions write
    (`outputs`, `overwritten`), whether it assigns by string (`sets_by_words`, as `setattr` does),
    and the origins of what it returned.
    """

    __slots__ = (
        *("asks_for_names", "attributes", "calls", "filled", "outputs", "returned"),
        *("overwritten", "runs_text", "sets_by_words", "variables"),
    )

    def __init__(self, code: CodeType) -> None:
        reader = _Reader(code.co_consts)
        variables = set()
        instructions = [*dis.get_instructions(code)]
        restored = _restored(instructions)
        for instruction in instructions:
            if instruction.offset not in restored:
                reader.step(instruction)
            if instruction.opname in ("STORE_DEREF", "STORE_GLOBAL", "STORE_NAME"):
                variables.add(instruction.argval)
        self.attributes, self.variables = reader.fields, variables
        calls = [call.followed(reader.sources) for call in reader.calls]
        reader.found.update(*(call.every for call in calls if call.writes()))
        self.calls = [call for call in calls if call.starred or len(call.by_position) > 1]
        self.overwritten = frozenset(_followed(reader.overwritten, reader.sources))
        self.runs_text = any(call.callee & {"eval", "exec"} for call in reader.calls)
        found = self.filled = _followed(reader.found, reader.sources)
        self.outputs = [
            (f, frozenset(_followed({*out}, reader.sources))) for f, out in reader.outputs
        ]
        self.returned = (
            _followed(reader.returned, reader.sources) - _own_variables(code) - _TRUE - _OUT
        )
        if code.co_flags & _SUSPENDS:
            self.returned |= _ANY
        found = found.union(*(out for _, out in self.outputs), *(one.every for one in calls))
        self.sets_by_words = not _SETS_BY_WORDS.isdisjoint(code.co_names)
        self.asks_for_names = (
            bool(self.attributes) or self.sets_by_words or any("." in name for name in found)
        )


_SETS_BY_WORDS = frozenset("__dict__ __setattr__ setattr vars".split())


def _restored(instructions: list[dis.Instruction]) -> set[int]:
    """Return the offsets where an exception out of a comprehension restores its variables."""
    found: set[int] = set()
    restores = False
    for instruction in reversed(instructions):
        restores = instruction.opname == "RERAISE" or (
            restores and instruction.opname in ("STORE_FAST", "STORE_FAST_STORE_FAST")
        )
        if restores and instruction.opname != "RERAISE":
            found.add(instruction.offset)
    return found


def _own_variables(code: CodeType) -> set[str]:
    """Return the variables that are no parameters; their values come from elsewhere."""
    given = code.co_argcount + code.co_kwonlyargcount
    given += bool(code.co_flags & CO_VARARGS) + bool(code.co_flags & CO_VARKEYWORDS)
    return {*code.co_varnames, *code.co_cellvars} - {*code.co_varnames[:given]}


_SUSPENDS = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR


def _followed(found: set[str], sources: dict[str, set[str]]) -> set[str]:
    """Return `found` with the origins of what these variables hold."""
    waiting = [*found]
    while waiting:
        name = waiting.pop()
        more = sources.get(name, set())
        if name.startswith(COPIED):
            inner = sources.get(name.removeprefix(COPIED), set())
            more = {*_copied(frozenset(inner))}
        more = more - found
        found |= more
        waiting += more
    return found


stores_of = by_code(Stores)


@by_code
def gives_out(code: CodeType) -> bool:
    """Return whether a function may return something that existed before its call."""
    return bool(stores_of(code).returned)
