"""The attributes and elements that a function may read, from its bytecode."""

from __future__ import annotations

import dis
from types import CodeType

from adjoint.ir.node import node
from adjoint.primal.memo_by_code import by_code
from adjoint.runtime.foreign.may_store import READING, called, is_reader


@node
class Followed:
    """The values that a function reaches from those that it names.

    Attributes
    ----------
    names
        The attributes that it may follow; ``None`` for any.
    into_containers
        It may take elements out of containers.
    """

    names: frozenset[str] | None
    into_containers: bool

    def joined(self, other: Followed) -> Followed:
        """Return what two functions reach together."""
        both = self.names is not None and other.names is not None
        return Followed(
            self.names | other.names if both else None,  # type: ignore[operator]
            self.into_containers or other.into_containers,
        )


NOWHERE = Followed(frozenset(), False)

_ANY_NAME = frozenset(
    "__dict__ __getattribute__ __setattr__ attrgetter delattr getattr setattr vars".split()
)
_BEHIND = {"value": "_value_"}
"""Names under which members of enumerations store what their attributes give."""


@by_code
def followed_by(code: CodeType) -> Followed:
    """Return what a function with that code reaches."""
    names = frozenset(code.co_names)
    names |= {_BEHIND[name] for name in names & _BEHIND.keys()}
    takes = any(map(_takes_elements, dis.get_instructions(code)))
    return Followed(None if names & _ANY_NAME else names, takes)


def followed_by_all(codes: tuple[CodeType, ...]) -> Followed:
    """Return what several functions reach together."""
    first, *others = map(followed_by, codes)
    for other in others:
        first = first.joined(other)
    return first


_TAKES = frozenset(
    "BINARY_SUBSCR BINARY_SLICE FOR_ITER GET_ITER UNPACK_SEQUENCE UNPACK_EX BEFORE_WITH"
    " CALL_FUNCTION_EX IMPORT_NAME MATCH_SEQUENCE MATCH_KEYS SEND PUSH_NULL".split()
)
_GIVES = frozenset("filter getattr map max min vars".split())
"""Builtin functions that return parts of their operands, or call them."""
_FILLS = (READING - frozenset("__getitem__ get items keys values union".split())) | frozenset(
    "add append appendleft clear close critical debug difference_update discard error exception"
    " extend extendleft flush info insert log remove reverse sort update warning write"
    " writelines".split()
)
"""Methods that return no element of a container."""


def _takes_elements(instruction: dis.Instruction) -> bool:
    if instruction.opname in _TAKES:
        return True
    function, method = called(instruction)
    if function is not None:
        return function in _GIVES or not is_reader(function)
    return method is not None and method not in _FILLS
