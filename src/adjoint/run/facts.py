"""What the text of a function could do to memory, read from its bytecode."""

from __future__ import annotations

import builtins
import dis
import functools
import math
import sys
from dataclasses import dataclass
from types import CodeType
from typing import Any

from adjoint.run.by_code import by_code

__all__ = [
    "CACHED_PROPERTY",
    "INTO_THE_OBJECT",
    "Facts",
    "called",
    "facts_of",
    "is_harmless",
]


@dataclass(frozen=True, slots=True)
class Facts:
    """What a function could do.

    Attributes
    ----------
    quiet
        It can store nothing that outlives it. It may still enter other functions, which have facts
        of their own.
    names
        The attributes that it may follow; ``None`` for any.
    into_containers
        It may take elements out of containers.
    assigned
        The captured variables that it assigns.
    takes_any_variable
        It may take global variables by other names than those in its text.
    """

    quiet: bool
    names: frozenset[str] | None
    into_containers: bool
    assigned: frozenset[str]
    takes_any_variable: bool = False

    def joined(self, other: Facts) -> Facts:
        """What two functions could do together, of which this one runs."""
        both = self.names is not None and other.names is not None
        return Facts(
            self.quiet and other.quiet,
            self.names | other.names if both else None,  # type: ignore[operator]
            self.into_containers or other.into_containers,
            self.assigned,
            self.takes_any_variable,
        )


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
"""What attributes of classes of the standard library, whose code is not looked at, give: the
members of enumerations."""
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
"""Those among them that give parts of what they are given, or call it."""
_METHODS = (
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
"""Methods that store nothing, of whatever class of C they are; Python's are entered themselves."""
_WRITERS = frozenset(
    "__setitem__ add append appendleft clear copyto difference_update discard extend extendleft"
    " fill insert intersection_update itemset pop popitem popleft put remove setdefault setitem"
    " symmetric_difference_update update".split()
)
"""Methods and functions that store something, also where they are given to code in C."""
_FILLS = (_METHODS - frozenset("get items values union".split())) | frozenset(
    "add append appendleft clear close critical debug difference_update discard error exception"
    " extend extendleft flush info insert log remove reverse sort update warning write"
    " writelines".split()
)
"""Methods that give nothing of what a container holds."""


CACHED_PROPERTY: CodeType = functools.cached_property.__get__.__code__
"""It stores what its function gives in the object that it is given, and writes into nothing else;
the function is entered itself."""
INTO_THE_OBJECT = Facts(False, frozenset(), False, frozenset())
"""What a function does that stores something in an object that it is given, and nowhere else."""


@by_code
def facts_of(code: CodeType) -> Facts:
    """What a function with that code could do."""
    if code is CACHED_PROPERTY:
        return INTO_THE_OBJECT
    instructions = [*dis.get_instructions(code)]
    names = frozenset(code.co_names)
    names |= {_BEHIND[name] for name in names & _BEHIND.keys()}
    stores = [i.argval for i in instructions if i.opname in ("STORE_DEREF", "DELETE_DEREF")]
    return Facts(
        quiet=all(map(is_harmless, instructions)),
        names=None if names & _ANY_NAME else names,
        into_containers=any(map(_takes_elements, instructions)),
        assigned=frozenset(stores) & frozenset(code.co_freevars),
        takes_any_variable=any(
            i.opname in ("LOAD_GLOBAL", "LOAD_ATTR") and i.argval in _NAMESPACES[i.opname]
            for i in instructions
        ),
    )


def is_harmless(instruction: dis.Instruction) -> bool:
    """Whether an instruction can store nothing that outlives its function."""
    name = instruction.opname
    if name in _WRITES or name == "PUSH_NULL":  # the call of something that a variable holds
        return False
    if name == "LOAD_ATTR" and instruction.argval in _WRITERS:  # which others may call
        return False
    if name == "BINARY_OP":
        return not instruction.argrepr.endswith("=")
    function, method = called(instruction)
    if function is not None:
        return function in _READERS
    return method is None or method in _METHODS


def _takes_elements(instruction: dis.Instruction) -> bool:
    if instruction.opname in _TAKES or instruction.opname == "PUSH_NULL":
        return True
    function, method = called(instruction)
    if function is not None:
        return function in _GIVES or function not in _READERS
    return method is not None and method not in _FILLS


def called(instruction: dis.Instruction) -> tuple[Any, Any]:
    """The names of the global function, and of the method, that an instruction loads for a call."""
    name, arg = instruction.opname, instruction.arg or 0
    if name == "LOAD_GLOBAL" and arg & 1:
        return instruction.argval, None
    if name == "LOAD_METHOD" or (name == "LOAD_ATTR" and arg & 1 and sys.version_info >= (3, 12)):
        return None, instruction.argval
    return None, None
