"""From structured code with jumps to regions of the IR.

Most jumps lead to the next item, to the next iteration, or out of a loop. If several jumps lead out
of the same code to different places, each stores in a variable whether it goes to the next place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from adjoint.frontend.builder import terminates
from adjoint.frontend.bytecode.flow_graph import Block
from adjoint.frontend.bytecode.tree import Branch, Cycle, Goto, Item, Labelled
from adjoint.ir.nodes import (
    Assign,
    Break,
    Const,
    Continue,
    For,
    If,
    Op,
    Operand,
    Region,
    Span,
    Var,
    While,
)


def region_of(
    items: Sequence[Item], variable: Callable[[str], Var], temporary: Callable[[], Var]
) -> Region:
    """Return the IR of a whole function; `variable` and `temporary` make names."""
    draft, exits = _Drafter(variable, temporary).region(items, _Enclosing(None))
    assert not exits, "every path of a function ends"
    return _final(draft, tail=False)


# ---- drafts --------------------------------------------------------------------------------------


@dataclass(eq=False, slots=True)
class _Site:
    """A former jump, and the assignments before it."""

    span: Span
    moves: list[Assign]


@dataclass(eq=False, slots=True)
class _Choice:
    condition: Operand
    span: Span
    body: list[_Draft]
    orelse: list[_Draft] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class _Loop:
    iterable: Operand | None
    target: Var | None
    span: Span
    body: list[_Draft]
    orelse: list[_Draft]


_Draft: TypeAlias = "Op | _Site | _Choice | _Loop"
_Exits: TypeAlias = dict[Block, list[_Site]]
"""The labels that the end of a piece of code leads to, with the sites of the jumps."""


@dataclass(slots=True)
class _Enclosing:
    """The innermost enclosing loop, or the function.

    Attributes
    ----------
    labels
        The labels inside the loop.
    exits
        The sites that leave the loop.
    """

    head: Block | None
    labels: set[Block] = field(default_factory=set)
    exits: _Exits = field(default_factory=dict)


class _Drafter:
    def __init__(self, variable: Callable[[str], Var], temporary: Callable[[], Var]) -> None:
        self._variable, self._temporary = variable, temporary

    def region(self, items: Sequence[Item], level: _Enclosing) -> tuple[list[_Draft], _Exits]:
        out: list[_Draft] = []
        exits: _Exits = {}
        for index, item in enumerate(items):
            match item:
                case Goto(label=label, span=span, moves=moves):
                    exits = self._leave(label, _Site(span, [*moves]), out, level)
                case Branch():
                    exits = self._branch(item, out, level)
                case Cycle():
                    exits = self._cycle(item, out, level)
                case Labelled(body=body, label=label):
                    level.labels.add(label)
                    inner, exits = self.region(body, level)
                    out += inner
                    sites = exits.pop(label, [])
                    if exits:
                        # Some jumps skip the following items.
                        span = sites[0].span
                        flag = self._flag(label, {**exits, label: sites})
                        rest, more = self.region(items[index + 1 :], level)
                        out.append(_Choice(flag, span, rest))
                        return out, _joined(exits, more)
                case _:
                    out.append(item)
        return out, exits

    def _branch(self, item: Branch, out: list[_Draft], level: _Enclosing) -> _Exits:
        body, one = self.region(item.body, level)
        orelse, other = self.region(item.orelse, level)
        out.append(_Choice(item.condition, item.span, body, orelse))
        return _joined(one, other)

    def _cycle(self, item: Cycle, out: list[_Draft], level: _Enclosing) -> _Exits:
        inner = _Enclosing(item.head)
        body, never = self.region(item.body, inner)
        assert not never, "a loop is only left by jumps"
        orelse, ended = self.region(item.orelse, level)
        target = item.target
        if target is None and item.iterable is not None:
            target = self._temporary()
        out.append(_Loop(item.iterable, target, item.span, body, orelse))
        return self._go_on(_joined(inner.exits, ended), item.span, out, level)

    def _leave(self, label: Block, site: _Site, out: list[_Draft], level: _Enclosing) -> _Exits:
        """Write a jump to `label`."""
        out.append(site)
        if label is level.head:
            out.append(Continue(site.span))
        elif label in level.labels:
            return {label: [site]}
        else:
            assert level.head is not None, "a label of the function is inside the function"
            out.append(Break(site.span))
            level.exits.setdefault(label, []).append(site)
        return {}

    def _go_on(self, exits: _Exits, span: Span, out: list[_Draft], level: _Enclosing) -> _Exits:
        """Write the jumps after a loop for jumps out of the loop that lead further out."""
        inside = level.labels - {level.head}
        here = {label: sites for label, sites in exits.items() if label in inside}
        outside = [label for label in exits if label not in here]
        for number, label in enumerate(outside):
            arm: list[_Draft] = []
            self._leave(label, _Site(span, []), arm, level)
            if number == len(outside) - 1 and not here:
                out += arm
            else:
                out.append(_Choice(self._flag(label, exits), span, arm))
        return here

    def _flag(self, label: Block, exits: _Exits) -> Var:
        """Add a variable that tells whether the jump goes to `label`."""
        flag = self._variable("going")
        for goal, sites in exits.items():
            for site in sites:
                site.moves.append(Assign(flag, Const(goal is label), site.span))
        return flag


def _joined(one: _Exits, other: _Exits) -> _Exits:
    joined = {label: [*sites] for label, sites in one.items()}
    for label, sites in other.items():
        joined.setdefault(label, []).extend(sites)
    return joined


# ---- the IR --------------------------------------------------------------------------------------


def _final(draft: Sequence[_Draft], *, tail: bool) -> Region:
    """Convert a draft; `tail` means that the next iteration of the loop follows."""
    ops: list[Op] = []
    for index, item in enumerate(draft):
        last = tail and index == len(draft) - 1
        match item:
            case _Site(moves=moves):
                ops += moves
            case _Choice():
                ops += _choice(item, tail=last)
            case _Loop(iterable=None, span=span):
                body = _final(item.body, tail=True)
                ops.append(While((), Const(True), body, (), span))
            case _Loop(iterable=iterable, target=target, span=span):
                assert iterable is not None and target is not None
                body, orelse = _final(item.body, tail=True), _final(item.orelse, tail=last)
                ops.append(For(target, iterable, body, orelse, span))
            case Continue() if last:
                pass
            case _:
                ops.append(item)
    return tuple(ops)


def _choice(item: _Choice, *, tail: bool) -> Region:
    """Convert an ``if``. If one arm always leaves, the other one is written after the ``if``; if
    both do, the longer one."""
    body, orelse = _final(item.body, tail=tail), _final(item.orelse, tail=tail)
    if not body and not orelse:
        return ()
    leaving = bool(body) and terminates(body[-1]), bool(orelse) and terminates(orelse[-1])
    if leaving[0] and orelse and (not leaving[1] or len(body) <= len(orelse)):
        return (If(item.condition, body, (), item.span), *orelse)
    if leaving[1] and body:
        return (If(item.condition, (), orelse, item.span), *body)
    return (If(item.condition, body, orelse, item.span),)
