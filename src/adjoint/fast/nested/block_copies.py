"""Copies of blocks, with values of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.single_assignment.walk import defined_values, mapped, results
from adjoint.ir.single import Block, Call, Loop, Op, Operand, Value


def copied(ev: Evaluator, block: Block, given: Mapping[Value, Operand]) -> Block:
    """Return a block without parameters that computes the same with operands `given` in place of
    the parameters of `block`: with new values, about which the evaluator knows as much."""
    names: dict[Value, Operand] = dict(given)
    made = {x: _new(ev, x) for x in defined_values(block) if x not in names}
    names |= made

    def new(x: Operand) -> Operand:
        return names.get(x, x) if isinstance(x, Value) else x

    for x, y in made.items():
        _note(ev, x, y, new)
    return replace(_copied(block, new), parameters=())


def _new(ev: Evaluator, x: Value) -> Value:
    made = Value(x.name)
    ev.types[made] = ev.types[x]
    return made


def _note(ev: Evaluator, x: Value, made: Value, new: Callable[[Operand], Any]) -> None:
    """Record of `made` what the evaluator knows of `x`."""
    for values in (ev.fresh, ev.written, ev.shown, ev.maybe, ev.nones):
        if x in values:
            values.add(made)
    for kept in (ev.dims, ev.row_lengths):
        if x in kept:
            kept[made] = kept[x]
    if x in ev.places:
        ev.places[made] = ev.places[x]
    for tuples in (ev.packs, ev.indices):
        if x in tuples:
            tuples[made] = tuple(map(new, tuples[x]))
    if x in ev.negated:
        ev.negated[made] = new(ev.negated[x])
    if x in ev.aliases:
        ev.note_alias(made, map(new, ev.aliases[x]))
    for calls in (ev.built, ev.views):
        if x in calls:
            calls[made] = _copied_op(calls[x], new)  # type: ignore[assignment]
    if x in ev.rule_pairs:
        pair = ev.rule_pairs[x]
        ev.rule_pairs[made] = pair._replace(y=new(pair.y))


def _copied(block: Block, new: Callable[[Operand], Any]) -> Block:
    ends = None if block.results is None else tuple(map(new, block.results))
    ops = tuple(_copied_op(op, new) for op in block.ops)
    return Block(tuple(map(new, block.parameters)), ops, ends)


def _copied_op(op: Op, new: Callable[[Operand], Any]) -> Op:
    made = mapped(op, new, lambda inner: _copied(inner, new))
    if isinstance(made, Call):
        return made if made.result is None else replace(made, result=new(made.result))
    if isinstance(made, Loop) or results(made):
        return replace(made, results=tuple(map(new, results(made))))  # type: ignore[arg-type]
    return made
