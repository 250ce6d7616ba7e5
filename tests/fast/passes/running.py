"""What the tests of all passes take for pure, and how they look at a result."""

from __future__ import annotations

import operator

from adjoint.fast.single_assignment.printer import format_function
from adjoint.fast.single_assignment.walk import walk
from adjoint.ir import primitives
from adjoint.ir.single import Call, Const, Global, Path

ARITHMETIC = (
    operator.add,
    operator.iadd,
    operator.mul,
    operator.mod,
    operator.eq,
    operator.lt,
    operator.gt,
    operator.truth,
)
ALWAYS_PURE = (operator.is_, operator.is_not, primitives.current_globals)


def is_arithmetic(call):
    """Pure and safe where all numbers are integers, and no divisor is 0."""
    return isinstance(call.callee, Const) and any(call.callee.value is f for f in ARITHMETIC)


def is_always_pure(call):
    """Pure whatever it is given; globals may change between two reads."""
    known = isinstance(call.callee, Const) and any(call.callee.value is f for f in ALWAYS_PURE)
    return known and not any(isinstance(x, Global | Path) for x in call.operands)


def lines(function):
    """The text of the body, one level to the left, without the numbers of lines."""
    text = format_function(function).splitlines()[1:]
    return [line.partition("  #")[0].rstrip()[4:] for line in text]


def size(function):
    """How many calls a function consists of."""
    return sum(isinstance(op, Call) for op in walk(function.body))
