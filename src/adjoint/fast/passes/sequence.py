"""The sequence of passes over a program, and the facts about functions that they use."""

from __future__ import annotations

import builtins
import cmath
import math
import operator
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any

import numpy as np

from adjoint.diagnostics.dump import Stages
from adjoint.fast.evaluate.types import Array, IntegersOrFloats, Number, Type
from adjoint.fast.passes.common import share_common
from adjoint.fast.passes.dead_code import remove_dead
from adjoint.fast.passes.loop_invariants import move_invariant
from adjoint.fast.single_assignment.primitives import same
from adjoint.fast.single_assignment.printer import format_block
from adjoint.fast.single_assignment.substitution import without_copies
from adjoint.fast.single_assignment.walk import blocks, callee_of, is_call_of, results, walk
from adjoint.fast.support import functions as runtime
from adjoint.fast.support import rows
from adjoint.fast.support.members import members
from adjoint.fast.support.opaque import Opaque
from adjoint.fast.support.printing import write_line
from adjoint.fast.support.result_memory import MADE_EACH_TIME
from adjoint.ir import primitives
from adjoint.ir.single import Block, Call, Const, Function, Loop, Operand, Unpack, Value

Types = Mapping[Value, Type]


def boundary() -> None:
    """Mark the boundary between the forward and the reverse sweep."""


_EFFECTS: frozenset[Any] = frozenset(
    {
        boundary,
        runtime.leave,
        runtime.demand_view,
        runtime.push,
        runtime.draw,
        runtime.read_clock,
        write_line,
        *runtime.WRITES,
        *runtime.BUFFER_WRITES,
        *rows.EFFECTS,
    }
)


_MAY_RAISE: frozenset[Any] = frozenset(
    {operator.truediv, operator.floordiv, operator.mod, operator.pow, operator.getitem, rows.item}
)


def is_effect(call: Call) -> bool:
    """Return whether a call has an effect besides its result."""
    return type(call.callee) is not Const or call.callee.value in _EFFECTS


_NOT_SHARED = _EFFECTS | MADE_EACH_TIME
"""Functions of which equal calls must not share a result."""

_TOTAL = members(operator, "add sub neg pos eq ne lt le gt ge not_ is_ is_not truth")
"""Functions that neither raise nor warn for numbers."""

_STRUCTURE: frozenset[Any] = frozenset(
    {
        same,
        primitives.build_tuple,
        primitives.build_list,
        primitives.build_slice,
        runtime.length,
        runtime.shape_of,
        runtime.behind_rows,
        runtime.shape_of_row,
        runtime.with_count,
        runtime.new_tape,
        zip,
        enumerate,
        reversed,
    }
)


def _is_silent(call: Call, types: Types) -> bool:
    """Return whether a call neither raises nor warns, so that its removal is not observable."""
    f = callee_of(call)
    if f in _STRUCTURE:
        return True
    if f is operator.neg and call.result is not None and _is_of_floats(call.operands[0], types):
        return True
    kinds = _OF_PRODUCTS if f is operator.mul else _PLAIN if f in _TOTAL else frozenset()
    if not kinds:
        return False
    for x in call.operands:
        if type(x) is Const:
            if type(x.value) not in kinds:
                return False
        else:
            t = types.get(x) if type(x) is Value else None
            if type(t) is not Number or not t.kinds <= kinds:
                return False
    return True


def _read_again(block: Block) -> set[Value]:
    """Return the parts that are read before an addition to them in the same block, which raises
    where the read does."""
    found: set[Value] = set()
    pending = [block]
    while pending:
        ops = pending.pop().ops
        pending += [inner for op in ops if type(op) is not Call for inner in blocks(op)]
        writes = [op for op in ops if type(op) is Call and op.result is None]
        added = [op.operands[:2] for op in writes if callee_of(op) in _ADDITIONS]
        reads = [op for op in ops if is_call_of(op, operator.getitem)] if added else []
        found.update(op.result for op in reads if op.result and op.operands in added)
    return found


_ADDITIONS = frozenset({runtime.add_part, runtime.add_at})


def _is_of_floats(x: Operand, types: Types) -> bool:
    """Return whether an operand is a number or an array of floats."""
    t = types.get(x) if type(x) is Value else None
    if isinstance(t, Array):
        return not isinstance(t, IntegersOrFloats) and t.dtype.kind in "fc"
    return isinstance(t, Number) and all(issubclass(kind, float | np.floating) for kind in t.kinds)


_PLAIN: frozenset[type] = frozenset({float, int, bool, complex})
_OF_PRODUCTS = _PLAIN - {int}  # an integer may be too large for a float


def _removable(block: Block, types: Types) -> Callable[[Call], bool]:
    """Return whether a call may be removed if its result is not needed: the calls of `block`, the
    user computation, only if they cannot raise or warn."""
    own: set[Value] = set()
    for op in walk(block):
        if type(op) is not Call:
            own.update(results(op))
        elif op.result is not None:
            own.add(op.result)
    own -= _read_again(block)

    def is_removable(call: Call) -> bool:
        if type(call.callee) is not Const or call.callee.value in _EFFECTS:
            return False
        return (call.result is not None and call.result not in own) or _is_silent(call, types)

    return is_removable


def _sharing(written: Collection[Operand | None]) -> Callable[[Call], bool]:
    """Return the predicate whether equal calls may share a result, given the written values."""
    is_never_written = not written

    def is_shared(call: Call) -> bool:
        callee = call.callee
        if type(callee) is not Const or callee.value in _NOT_SHARED:
            return False
        if type(callee.value) is Opaque:
            return False
        if is_never_written:
            return True
        if call.result in written:
            return False
        for x in call.operands:  # a generator would cost more
            if type(x) is Value and x in written:
                return False
        return True

    return is_shared


_OF_NUMBERS = (math.__name__, cmath.__name__)


def _is_safe(call: Call) -> bool:
    """Return whether a call cannot raise."""
    f = callee_of(call)
    if f in _MAY_RAISE or getattr(f, "__module__", None) in _OF_NUMBERS:
        return False
    return getattr(builtins, getattr(f, "__name__", ""), None) is not f


def _is_finite(loop: Loop) -> bool:
    """Return whether a loop ends: each iterable of a program is finite."""
    return loop.iterable is not None


def simplified(
    block: Block,
    name: str,
    types: Types,
    written: Collection[Operand | None],
    stages: Stages,
    own: Block | None = None,
) -> Block:
    """Run the passes over a block; reads of `written` values do not move.

    `own` is the user computation in it, by default all of it.
    """
    function = Function(name, (), (), without_copies(block), "")
    return _passes(function, _removable(own or block, types), written, stages).body


def _with_whole(block: Block, written: Collection[Operand | None]) -> Collection[Operand | None]:
    """Return the values that are written to, with the tuples that they are parts of."""
    if not written:
        return written
    unpacked = [op for op in walk(block) if isinstance(op, Unpack)]
    return {*written, *(op.value for op in unpacked if not set(op.results).isdisjoint(written))}


def _passes(
    function: Function,
    is_removable: Callable[[Call], bool],
    written: Collection[Operand | None],
    stages: Stages,
) -> Function:
    is_shared = _sharing(_with_whole(function.body, written))
    passes: tuple[tuple[str, Callable[[Function], Function]], ...] = (
        ("common", lambda f: share_common(f, is_shared)),
        ("dead", lambda f: remove_dead(f, is_removable, _is_finite)),
        ("invariant", lambda f: move_invariant(f, is_shared, _is_safe)),
    )
    for what, apply in passes:
        function = apply(function)
        stages(what, partial(format_block, function.name, function.body))
    return function


def together(forward: Block, reverse: Block, run: Callable[[Block], Block]) -> tuple[Block, Block]:
    """Run a pass over both sweeps as one block."""
    assert forward.results is not None and reverse.results is not None
    mark = Call(None, Const(boundary), ())
    count = len(forward.results)
    whole = Block(
        (*forward.parameters, *reverse.parameters),
        (*forward.ops, mark, *reverse.ops),
        (*forward.results, *reverse.results),
    )
    body = run(whole)
    at = next(i for i, op in enumerate(body.ops) if is_call_of(op, boundary))
    assert body.results is not None
    return (
        Block(forward.parameters, body.ops[:at], body.results[:count]),
        Block(reverse.parameters, body.ops[at + 1 :], body.results[count:]),
    )
