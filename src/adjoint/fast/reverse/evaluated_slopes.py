"""Partial derivatives that are Python functions, inlined into a program.

The operations of one are evaluated once for each kind of operands in a program. Where they are
arithmetic of each element, they are copied for other operands of this kind.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeGuard

from adjoint.fast.evaluate.call_frames import Frame, single_of
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.result_types.elementwise import is_broadcast
from adjoint.fast.evaluate.types import Array, Number, Type, has_integer
from adjoint.fast.evaluate.values import Closure, Origin
from adjoint.fast.reverse.arithmetic import inexact
from adjoint.fast.reverse.cotangent_types import abstract_of
from adjoint.fast.single_assignment.walk import callee_of, result_of
from adjoint.ir.node import node
from adjoint.ir.single import Call, Const, Op, Operand, Value


@node(eq=False)
class _Slope:
    """The operations of a slope, the types of their results, and its value."""

    closure: Closure
    operands: tuple[Operand, ...]
    ops: tuple[Call, ...]
    types: tuple[Type, ...]
    result: Operand


def evaluated_slope(ev: Evaluator, p: Callable[..., Any], operands: tuple[Operand, ...]) -> Operand:
    """Write a partial derivative by inlining the Python function `p`."""
    given = tuple(inexact(ev, x) for x in operands)
    ev.hint = "slope"
    key = None if ev.keeps_branches else _key_of(ev, p, given)
    known = None if key is None else ev.slopes.get(key)
    if known is not None:
        return _copied(ev, known, given)
    closure, start, caller = ev.outside.own(p), len(ev.block), ev.origin_now()
    found = ev.operand(ev.call(closure, [*map(abstract_of, given)], {}))
    if key is not None and isinstance(closure, Closure):
        ops = [op for op in ev.block[start:] if _may_be_copied(op, ev, caller)]
        if len(ops) == len(ev.block) - start:
            types = tuple(ev.types[op.result] for op in ops if op.result is not None)
            ev.slopes[key] = _Slope(closure, given, tuple(ops), types, found)
    return found


def _key_of(ev: Evaluator, p: Callable[..., Any], given: Sequence[Operand]) -> Any:
    """Return all that the evaluation of a slope depends on: the function, the types of different
    values, and numbers; ``None`` if it may depend on more."""
    key: list[Any] = [p]
    seen: set[Value] = set()
    for x in given:
        if type(x) is Const and type(x.value) in (int, float):
            key.append((type(x.value), repr(x.value)))
            continue
        if type(x) is not Value or x in seen:
            return None
        seen.add(x)
        t = ev.types[x]
        if type(t) is Array:
            key.append((t.dtype, t.shape))
        elif type(t) is Number and not has_integer(t):
            key.append(t.kinds)
        else:
            return None
        if x in ev.dims or x in ev.nones or x in ev.contents or x in ev.outside.fixed:
            return None
    return tuple(key)


def _may_be_copied(op: Op, ev: Evaluator, caller: Origin | None) -> TypeGuard[Call]:
    """Return whether an operation is arithmetic of each element, which the function itself does."""
    if type(op) is not Call or op.result is None or op.keywords:
        return False
    f, origin = callee_of(op), ev.origins.get(op.result)
    is_elementwise = is_broadcast(f) or getattr(f, "__module__", None) == math.__name__
    return is_elementwise and origin is not None and origin[2] == caller


def _copied(ev: Evaluator, known: _Slope, given: Sequence[Operand]) -> Operand:
    """Write the operations of a slope for other operands."""
    names: dict[Operand, Operand] = {
        x: y for x, y in zip(known.operands, given, strict=True) if type(x) is Value
    }
    span, hint = ev.span, ev.hint
    frame = Frame(single_of(known.closure), known.closure)
    frame.caller = ev.origin_now()
    ev.frames.append(frame)
    for op, t in zip(known.ops, known.types, strict=True):
        ev.span = op.span
        operands = [names.get(x, x) if type(x) is Value else x for x in op.operands]
        names[result_of(op)] = ev.operation(callee_of(op), operands, t, name=result_of(op).name)
    ev.frames.pop()
    ev.span, ev.hint = span, hint
    return names.get(known.result, known.result) if type(known.result) is Value else known.result
