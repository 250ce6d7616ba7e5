"""CPython's ``CALL_INTRINSIC`` instructions (from 3.12 on), which no Python syntax reaches by
name."""

from __future__ import annotations

import builtins
import dis
import functools
from collections.abc import Callable
from types import FunctionType
from typing import Any


@functools.cache
def intrinsic(number: int, operands: int) -> Callable[..., Any]:
    """Return a function of `operands` operands (1 or 2) that runs the intrinsic `number`. The
    instruction replaces the operator in the bytecode of a small lambda."""
    one: Any = lambda a: ~a
    two: Any = lambda a, b: a | b
    code = (one if operands == 1 else two).__code__
    place, *rest = dis.get_instructions(code, show_caches=True)
    operator = "UNARY_INVERT" if operands == 1 else "BINARY_OP"
    while place.opname != operator:
        place, *rest = rest
    end = next(step.offset for step in rest if step.opname != "CACHE")
    text = bytearray(code.co_code)
    nothing = bytes([dis.opmap["NOP"], 0])
    text[place.offset : end] = nothing * ((end - place.offset) // 2)
    text[place.offset : place.offset + 2] = dis.opmap[f"CALL_INTRINSIC_{operands}"], number
    return FunctionType(code.replace(co_code=bytes(text)), {"__builtins__": builtins})
