"""The derivative of an inner function, in the operations of the program around it.

The inner function is evaluated on copies of its differentiated arguments, so that what it has
captured, and the variables of derivatives around it, are constants in its own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace

import numpy as np

from adjoint.fast.evaluate.callees.arguments import is_none
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.types import Array, Number, bar_type, number
from adjoint.fast.evaluate.values import Abstract, DictOf, External, Flag, Known, ListOf, Ref, Tuple
from adjoint.fast.evaluate.writes.views import check_views, with_aliases
from adjoint.fast.forward.sweep import ForwardSweep
from adjoint.fast.nested.gradient_calls import as_one, finite, gradient_ops
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.passes.sequence import is_effect
from adjoint.fast.reverse.cotangent_types import abstract_of
from adjoint.fast.reverse.result import demand_real_scalar, returned
from adjoint.fast.single_assignment.primitives import same
from adjoint.fast.single_assignment.walk import is_call_of, results, walk
from adjoint.fast.support import functions as runtime
from adjoint.fast.support.printing import write_line
from adjoint.ir.single import Block, Call, Const, Operand, Value

_NUMBERS = (int, float, np.float64)


class Inner:
    """An inner function, evaluated on copies of its arguments.

    Parameters
    ----------
    wanted
        The positions of the arguments that are differentiated in.
    keywords
        Further arguments by name, constants.
    is_forward
        Whether it is differentiated in forward mode, which may read views after writes.

    Attributes
    ----------
    args
        The arguments, with copies of the differentiated ones.
    leaves
        The copies of their numbers and arrays.
    y
        The result.
    block
        The operations.
    """

    def __init__(
        self,
        ev: Evaluator,
        f: Abstract,
        args: Sequence[Abstract],
        wanted: Sequence[int],
        keywords: dict[str, Abstract],
        *,
        is_forward: bool = False,
    ) -> None:
        self.ev = ev
        self.leaves: list[Value] = []
        for i in wanted:
            _demand_once(ev, args[i])
        self.args: list[Abstract] = [
            mapped(ev, arg, self._copy) if i in wanted else arg for i, arg in enumerate(args)
        ]
        held = {address: ev.heap[address] for arg in self.args for address in addresses(ev, arg)}
        ev.orders += 1
        try:
            with ev.writing() as ops:
                self.y: Abstract = ev.call(f, self.args, keywords)
        finally:
            ev.orders -= 1
        if any(ev.heap[address] is not before for address, before in held.items()):
            raise NotCovered("an inner function that writes to its argument", ev.span)
        self.block: Block = Block(
            tuple(self.leaves), tuple(ops), tuple(map(ev.operand, _leaves(self.y)))
        )
        demand_own_writes(ev, self.block, self.leaves, may_print=True)
        if ev.written:
            self.block = with_aliases(ev, self.block)
            if not is_forward:
                self.block = check_views(ev, self.block)

    def _copy(self, x: Value | Known) -> Value:
        ev = self.ev
        if isinstance(x, Known):
            made = ev.operation(same, (Const(x.value),), number(type(x.value)), name="x")
        else:
            made = ev.operation(same, (x,), ev.types[x], name=x.name)
            if not isinstance(ev.types[x], Number | Array):
                raise NotCovered("a derivative in a list of unknown length", ev.span)
            ev.views.pop(made, None)  # a variable of its own
        self.leaves.append(made)
        return made


def demand_own_writes(
    ev: Evaluator, block: Block, leaves: Collection[Value], *, may_print: bool = False
) -> None:
    """Refuse writes of an inner function to arrays from outside of it; `leaves` are copies of its
    arguments."""
    own = {x for op in walk(block) for x in results(op)}
    own |= {x for x in block.parameters if x not in leaves}
    for op in walk(block):
        if is_call_of(op, write_line):
            if not may_print:
                raise NotCovered("a call of print in an inner function", op.span)
        elif isinstance(op, Call) and op.operands and is_effect(op):
            if not own.issuperset(ev.owners(op.operands[0])):  # type: ignore[arg-type]
                raise NotCovered("an inner function that writes to what is around it", op.span)


def gradient(
    ev: Evaluator,
    f: Abstract,
    args: Sequence[Abstract],
    wanted: Sequence[int],
    keywords: dict[str, Abstract],
) -> tuple[Abstract, list[Abstract]]:
    """Write an inner function and its reverse sweep; return its value and the cotangents of the
    wanted arguments."""
    inner = Inner(ev, f, args, wanted, keywords)
    given, _ = returned(ev, inner.y, True)
    demand_real_scalar(given[0], ev)
    found = as_one(ev, inner.block, inner.leaves)
    if found is not None:
        first, *bars = found
        y = abstract_of(first)
    else:
        y = inner.y
        ops, bars = gradient_ops(ev, inner.block, inner.leaves)
        for op in ops:
            ev.write(op)
    of_leaf = dict(zip(inner.leaves, map(abstract_of, bars), strict=True))
    return y, [mapped(ev, inner.args[i], lambda x: of_leaf[x]) for i in wanted]  # type: ignore[index]


def pushforward(
    ev: Evaluator,
    f: Abstract,
    args: Sequence[Abstract],
    dots: Sequence[Abstract],
    keywords: dict[str, Abstract],
) -> tuple[Abstract, Abstract]:
    """Write an inner function with tangents; return its value and the tangent of that."""
    wanted = [i for i, dot in enumerate(dots) if not is_none(dot)]
    inner = Inner(ev, f, args, wanted, keywords, is_forward=True)
    sweep = ForwardSweep(ev, inner.leaves)
    given: list[Operand] = []
    for i in wanted:
        _pair(ev, inner.args[i], dots[i], given)
    ops = sweep.push(inner.block, dict(zip(inner.leaves, given, strict=True)))
    with ev.writing(ops):
        ends = {x: abstract_of(finite(ev, _tangent(sweep, x))) for x in _leaves(inner.y)}
    for op in ops:
        ev.write(op)
    return inner.y, mapped(ev, inner.y, lambda x: ends[x])


def _tangent(sweep: ForwardSweep, x: Value | Known) -> Operand:
    return sweep.settle(sweep.full(x), x) if isinstance(x, Value) else Const(0.0)


def _pair(ev: Evaluator, x: Abstract, dot: Abstract, found: list[Operand]) -> None:
    """Append the tangents of the leaves of `x` to `found`."""
    if isinstance(x, Value):
        t = ev.types[x]
        if is_none(dot):
            is_array = isinstance(t, Array)
            zeros = ev.operation(runtime.zeros_like, (x,), bar_type(t)) if is_array else None
            found.append(Const(0.0) if zeros is None else zeros)
            return
        operand = ev.operand(dot)
        of_dot = ev.types[operand] if isinstance(operand, Value) else number(type(operand.value))  # type: ignore[union-attr]
        alike = of_dot == bar_type(t) if isinstance(t, Array) else isinstance(of_dot, Number)
        if not alike:
            raise NotCovered("a tangent of another kind than its primal", ev.span)
        if isinstance(operand, Const):
            operand = Const(float(operand.value))  # type: ignore[arg-type]
        found.append(operand)
        return
    inside, moves = items_of(ev, x), None if is_none(dot) else items_of(ev, dot)
    if inside is None:
        return
    if moves is None:
        moves = [Known(None)] * len(inside) if is_none(dot) else []
    if len(moves) != len(inside):
        raise NotCovered("a tangent of another structure than its primal", ev.span)
    for part, move in zip(inside, moves, strict=True):
        _pair(ev, part, move, found)


# ---- structures ----------------------------------------------------------------------------------


def mapped(ev: Evaluator, a: Abstract, new: Callable[[Value | Known], Abstract]) -> Abstract:
    """Return a structure of numbers and arrays with `new` in place of each of these; ``None`` in
    place of what has no derivative.

    Raises
    ------
    NotCovered
        It is or holds an object.
    """
    if isinstance(a, Value):
        return new(a)
    if isinstance(a, Known):
        return new(a) if _is_number(a) else a
    items = ev.sequence(a)
    if items is not None:
        made = tuple(mapped(ev, x, new) for x in items)
        kind = list if isinstance(a, Ref) else ev.class_of(a)
        assert kind is not None
        return ev.allocate(ListOf(made)) if kind is list else Tuple(made, kind)
    keys = ev.keys(a)
    if keys is None:
        raise NotCovered("a derivative in an object, inside differentiated code", ev.span)
    parts = items_of(ev, a)
    assert parts is not None
    held = ev.held(a)
    changed = tuple(mapped(ev, x, new) for x in parts)
    if isinstance(held, DictOf):
        return ev.allocate(replace(held, items=changed))
    return ev.allocate(DictOf(keys, changed))


def _is_number(a: Known) -> bool:
    return not isinstance(a, Flag) and type(a.value) in _NUMBERS


def items_of(ev: Evaluator, a: Abstract) -> Sequence[Abstract] | None:
    """Return the items of a sequence or a dict; ``None`` for others."""
    items = ev.sequence(a)
    if items is not None:
        return items
    entries = ev.entries(a)
    return None if entries is None else [*entries.values()]


def _leaves(a: Abstract) -> list[Value | Known]:
    """Return the numbers and arrays in a result."""
    if isinstance(a, Value):
        return [a]
    if isinstance(a, Known):
        return [a] if _is_number(a) else []
    if isinstance(a, Tuple):
        return [leaf for x in a.items for leaf in _leaves(x)]
    raise NotCovered("a result of another kind of an inner function")


def _demand_once(ev: Evaluator, arg: Abstract) -> None:
    """Refuse what occurs twice in an argument: both places would show its cotangent."""
    seen: set[Value | int] = set()
    for x in _containers_and_arrays(ev, arg):
        names: set[Value | int] = {*ev.aliased_by(x)} if isinstance(x, Value) else {x}
        if not ev.listed.isdisjoint(names):  # any of them may be any other
            names |= ev.listed
        if not seen.isdisjoint(names):
            raise NotCovered("something that occurs twice in an inner argument", ev.span)
        seen |= names


def _containers_and_arrays(ev: Evaluator, a: Abstract) -> Iterator[Value | int]:
    if isinstance(a, Value):
        if isinstance(ev.types[a], Array):
            yield a
        return
    if isinstance(a, Known):
        return
    if isinstance(a, Ref):
        yield a.address
    elif isinstance(a, External):
        yield id(a.source)
    for x in items_of(ev, a) or ():
        yield from _containers_and_arrays(ev, x)


def addresses(ev: Evaluator, a: Abstract) -> list[int]:
    """Return the addresses of the containers in a structure."""
    found = [a.address] if isinstance(a, Ref) else []
    for x in items_of(ev, a) or () if not isinstance(a, Value | Known) else ():
        found += addresses(ev, x)
    return found
