"""Effects on memory that the bytecode of a function allows."""

from __future__ import annotations

import builtins
import dis
import functools
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType
from typing import Any

from adjoint.primal.memo_by_code import by_code


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts about what a function may do.

    Attributes
    ----------
    quiet
        It can store nothing that outlives it. Functions that it calls have facts of their own.
    names
        The attributes that it may read; ``None`` for any.
    into_containers
        It may take elements out of containers.
    assigned
        The captured variables that it assigns.
    takes_any_variable
        It may read global variables whose names are not in its code.
    """

    quiet: bool
    names: frozenset[str] | None
    into_containers: bool
    assigned: frozenset[str]
    takes_any_variable: bool = False

    def joined(self, other: Facts) -> Facts:
        """Return what this function and a caller, `other`, may do together."""
        both = self.names is not None and other.names is not None
        return Facts(
            self.quiet and other.quiet,
            self.names | other.names if both else None,  # type: ignore[operator]
            self.into_containers or other.into_containers,
            self.assigned,
            self.takes_any_variable,
        )


Path = tuple[str, ...]
"""A parameter, or a parameter and one of its attributes."""


@dataclass(frozen=True, slots=True)
class Effects:
    """Effects of a function besides reading.

    Attributes
    ----------
    stored
        The attributes that it stores in its first argument.
    builtins
        The builtin functions that it calls.
    functions
        The other global variables that it calls.
    modules
        The modules and classes of which it calls something, each with the name of that.
    methods
        The methods that it calls on a `Path`, subscripts included.
    """

    stored: frozenset[str]
    builtins: frozenset[str]
    functions: frozenset[str]
    modules: frozenset[tuple[str, str]]
    methods: frozenset[tuple[Path, str]]

    def is_of_numbers(self) -> bool:
        """Return whether it calls only builtin functions and those of `math` and `cmath`."""
        of_math = all(name in ("cmath", "math") for name, _ in self.modules)
        return of_math and not (self.stored or self.functions or self.methods)


_WRITES = frozenset(
    {
        "STORE_ATTR",
        "DELETE_ATTR",
        "STORE_SUBSCR",
        "DELETE_SUBSCR",
        "STORE_SLICE",
        "STORE_GLOBAL",
        "DELETE_GLOBAL",
        "STORE_NAME",
        "STORE_DEREF",
        "DELETE_DEREF",
        "IMPORT_NAME",
        "LOAD_BUILD_CLASS",
        "BEFORE_WITH",
    }
)
_TAKES = frozenset(
    {
        "BINARY_SUBSCR",
        "BINARY_SLICE",
        "FOR_ITER",
        "GET_ITER",
        "UNPACK_SEQUENCE",
        "UNPACK_EX",
        "BEFORE_WITH",
        "CALL_FUNCTION_EX",
        "IMPORT_NAME",
        "MATCH_SEQUENCE",
        "MATCH_KEYS",
        "SEND",
    }
)
_ANY_NAME = frozenset(
    "__dict__ __getattribute__ __setattr__ attrgetter delattr getattr setattr vars".split()
)
_BEHIND = {"value": "_value_"}
"""Fields behind attributes of standard classes, whose code is not read (members of `enum`)."""
_NAMESPACES = {
    "LOAD_GLOBAL": frozenset({"eval", "exec", "globals"}),
    "LOAD_ATTR": frozenset({"__globals__", "f_globals"}),
}
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
_GIVES = frozenset("filter getattr map max min vars".split())
"""Builtin functions among `_READERS` that return parts of their operands, or call them."""
METHODS = (
    frozenset(
        name
        for kind in (str, bytes, tuple, frozenset, int, float, complex)
        for name in dir(kind)
        if not name.startswith("__")
    )
    | frozenset(name for name in dir(math) if not name.startswith("_"))
    | frozenset("__eq__ __ne__ __lt__ __hash__ __str__ __repr__ __format__ __len__".split())
    | frozenset("copy get items keys values tolist item".split())
)
"""Methods that store nothing in any class of C; those in Python are entered themselves."""
_WRITERS = frozenset(
    "__setitem__ add append appendleft clear copyto difference_update discard extend extendleft"
    " fill insert intersection_update itemset pop popitem popleft put remove setdefault setitem"
    " symmetric_difference_update update".split()
)
"""Methods and functions that store something, also where code in C calls them."""
_FILLS = (METHODS - frozenset("get items values union".split())) | frozenset(
    "add append appendleft clear close critical debug difference_update discard error exception"
    " extend extendleft flush info insert log remove reverse sort update warning write"
    " writelines".split()
)
"""Methods that return nothing of what a container holds."""


CACHED_PROPERTY: CodeType = functools.cached_property.__get__.__code__
"""The code of ``cached_property.__get__``, which stores the result in the given object only."""
INTO_THE_OBJECT = Facts(False, frozenset(), False, frozenset())
"""Facts of a function that stores in an object that it is given, and nowhere else."""


@by_code
def facts_of(code: CodeType) -> Facts:
    """Return what a function with that code may do."""
    if code is CACHED_PROPERTY:
        return INTO_THE_OBJECT
    instructions, effects = [*dis.get_instructions(code)], effects_of(code)
    names = frozenset(code.co_names)
    names |= {_BEHIND[name] for name in names & _BEHIND.keys()}
    stores = [i.argval for i in instructions if i.opname in ("STORE_DEREF", "DELETE_DEREF")]
    return Facts(
        quiet=effects is not None and effects.is_of_numbers(),
        names=None if names & _ANY_NAME else names,
        into_containers=any(map(_takes_elements, instructions)),
        assigned=frozenset(stores) & frozenset(code.co_freevars),
        takes_any_variable=any(
            i.opname in ("LOAD_GLOBAL", "LOAD_ATTR") and i.argval in _NAMESPACES[i.opname]
            for i in instructions
        ),
    )


def is_harmless(instruction: dis.Instruction) -> bool:
    """Return whether an instruction can store nothing that outlives its function."""
    name = instruction.opname
    if name in _WRITES or name in (
        "PUSH_NULL",
        "LOAD_SUPER_ATTR",
    ):  # calls something in a variable
        return False
    if name == "LOAD_ATTR" and instruction.argval in _WRITERS:  # may be passed on and called
        return False
    if name == "BINARY_OP":
        return not instruction.argrepr.endswith("=")
    function, method = called(instruction)
    if function is not None:
        return function in _READERS
    return method is None or method in METHODS


def _takes_elements(instruction: dis.Instruction) -> bool:
    if instruction.opname in _TAKES or instruction.opname == "PUSH_NULL":
        return True
    function, method = called(instruction)
    if function is not None:
        return function in _GIVES or function not in _READERS
    return method is not None and method not in _FILLS


def called(instruction: dis.Instruction) -> tuple[Any, Any]:
    """Return the names of the global function and the method that an instruction loads to call."""
    name, arg = instruction.opname, instruction.arg or 0
    if name == "LOAD_GLOBAL" and arg & 1:
        return instruction.argval, None
    if name == "LOAD_METHOD" or (name == "LOAD_ATTR" and arg & 1 and sys.version_info >= (3, 12)):
        return None, instruction.argval
    return None, None


# ---- effects of a function -----------------------------------------------------------------------


@by_code
def effects_of(code: CodeType) -> Effects | None:
    """Return what a function does besides reading; ``None`` if its bytecode does not tell all."""
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    stored, functions, builtins = set[str](), set[str](), set[str]()
    modules = set[tuple[str, str]]()
    methods = set[tuple[Path, str]]()
    bound = set[str]()
    behind = mapping = False
    for i, names, stack in _steps(code):
        bound.update(names[: _BINDS.get(i.opname, 0)])
        function, method = called(i)
        top = stack[-1] if stack else None
        if i.opname == "STORE_ATTR":
            if top is None or top != parameters[:1] or i.argval.startswith("__"):
                return None
            stored.add(i.argval)
        elif i.opname in ("BINARY_SUBSCR", "BINARY_SLICE"):
            below = stack[-2] if len(stack) > 1 and i.opname == "BINARY_SUBSCR" else None
            if type(below) is not tuple or below[0] not in parameters:
                return None
            methods.add((below, "__getitem__"))
        elif i.opname == "CALL_FUNCTION_EX":
            return None
        elif i.opname == "LOAD_SUPER_ATTR" or (behind and method is not None):
            methods.add(((*parameters[:1], *SUPER), i.argval))
            behind = False
        elif function == "super" and parameters:
            behind = True
            builtins.add(function)
        elif function in _MAPPING:
            mapping = True
            builtins.add(function)
            continue
        elif mapping:  # the function that is mapped
            if i.opname != "LOAD_GLOBAL":
                return None
            (builtins if i.argval in _READERS - _GIVES else functions).add(i.argval)
        elif function is not None:
            if function == "iter" or (function in _WITH_KEYS and "key" in _words(code)):
                return None  # its operand is called
            (builtins if is_harmless(i) else functions).add(function)
        elif method is not None:
            if type(top) is tuple and top[0] in parameters:
                methods.add((top, method))
            elif type(top) is str:
                modules.add((top, method))
            elif top is not _CONSTANT or not is_harmless(i):
                return None
        elif not is_harmless(i):
            return None
        mapping = False
    if bound & {path[0] for path, _ in methods} or (stored and parameters[0] in bound):
        return None  # a parameter that is assigned may be another object by then
    if stored & {name for path, method in methods for name in (*path[1:], method)}:
        return None
    return Effects(*map(frozenset, (stored, builtins, functions, modules, methods)))  # type: ignore[arg-type]


READING = METHODS | {"__getitem__"}
"""Methods that only read plain values."""
_CONSTANT: Any = object()
_MAPPING = frozenset({"filter", "map"})
_WITH_KEYS = frozenset({"max", "min", "sorted"})


@by_code
def exchanges_parts(code: CodeType) -> bool:
    """Return whether a function replaces all attributes of an object, its class, or the defaults of
    a function."""
    return any(i.opname == "STORE_ATTR" and i.argval in _PARTS for i in dis.get_instructions(code))


_PARTS = frozenset("__bases__ __class__ __defaults__ __dict__ __kwdefaults__".split())


@by_code
def assigns_globals(code: CodeType) -> bool:
    """Return whether a function assigns global variables."""
    return any(i.opname == "STORE_GLOBAL" for i in dis.get_instructions(code))


SUPER = ("super()",)
"""After a parameter in a `Path`: the object that ``super()`` gives."""
_BINDS = {"STORE_FAST": 1, "DELETE_FAST": 1, "STORE_FAST_LOAD_FAST": 1, "STORE_FAST_STORE_FAST": 2}
"""How many of the variables that it names an instruction assigns."""
_LEAVE_THE_STACK = frozenset({"PRECALL", "CACHE", "EXTENDED_ARG", "NOP", "RESUME", "KW_NAMES"})


def _steps(code: CodeType) -> Iterator[tuple[dis.Instruction, tuple[Any, ...], list[Any]]]:
    """Yield the instructions, the variables that each names, and the known top of the stack before
    it: parameters and their attributes, constants, global variables."""
    stack: list[Any] = []
    for i in dis.get_instructions(code):
        names = i.argval if type(i.argval) is tuple else (i.argval,)
        if i.is_jump_target:
            stack = []
        yield i, names, stack
        if i.opname in ("LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_LOAD_FAST"):
            stack += [(name,) for name in names]
        elif i.opname == "STORE_FAST_LOAD_FAST":
            stack = [*stack[:-1], (names[1],)]
        elif i.opname == "LOAD_CONST":
            stack.append(_CONSTANT)
        elif i.opname == "LOAD_GLOBAL" and called(i) == (None, None):
            stack.append(i.argval)
        elif i.opname == "LOAD_ATTR" and called(i) == (None, None):
            top = stack.pop() if stack else None
            stack.append((*top, i.argval) if type(top) is tuple and len(top) == 1 else None)
        elif i.opname not in _LEAVE_THE_STACK:
            stack = []


@by_code
def _words(code: CodeType) -> frozenset[str]:
    """Return the strings in a function, keyword names included."""
    consts = [const if type(const) is tuple else (const,) for const in code.co_consts]
    return frozenset(part for const in consts for part in const if type(part) is str)


@by_code
def is_closed(code: CodeType) -> bool:
    """Return whether a function uses its operands only to read attributes, or to ask for identity
    or class, so that no special method runs."""
    effects = effects_of(code)
    if effects is None or effects.stored or effects.functions or hands_out(code):
        return False
    if any(name not in ("cmath", "math") for name, _ in effects.modules):
        return False
    return all(len(path) > 1 and name in READING for path, name in effects.methods)


@by_code
def hands_out(code: CodeType) -> bool:
    """Return whether a function passes an operand on, or uses more of it than attributes."""
    if any(isinstance(const, CodeType) for const in code.co_consts):
        return True
    asked: str | None = None
    for i, _, stack in _steps(code):
        function, method = called(i)
        if function is not None or method is not None:
            asked = function
        if not any(type(top) is tuple and len(top) == 1 for top in stack):
            continue
        if i.opname in _LEAVE_THE_STACK or (i.opname in _PUSHES and function is None):
            continue
        if i.opname not in _ASK_FOR_ATTRIBUTES and not (
            i.opname == "CALL" and asked in _ASK_NOTHING
        ):
            return True
    return False


_PUSHES = frozenset("LOAD_CONST LOAD_FAST LOAD_FAST_CHECK LOAD_FAST_LOAD_FAST LOAD_GLOBAL".split())
_ASK_FOR_ATTRIBUTES = frozenset("DELETE_ATTR IS_OP LOAD_ATTR LOAD_METHOD STORE_ATTR".split())
_ASK_NOTHING = frozenset({"id", "isinstance", "type"})
