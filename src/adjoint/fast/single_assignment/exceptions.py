"""``try`` as an ``if``, and ``finally`` before each way out.

Before, after::

    try:                             trying = attempt(True)
        y = f(x)                     if trying:
        return y                         y = f(x)
    except KeyError:                     completed(trying)
        y = 0                            g()
    finally:                             return y
        g()                          else:
                                         error = caught_exception()
                                         … y = 0 if error is a KeyError
                                     g()

A program runs the body as if nothing were raised: an exception sends the call to the generic tier.
Where the evaluator knows that the body raises, or a branch of it, it runs the handler. The handler
begins with the variables as they were before the body, so `wrote` follows each write of the body to
a variable that the handler, or what comes after it, may read.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from dataclasses import replace

from adjoint.fast.single_assignment.primitives import (
    attempt,
    caught_exception,
    completed,
    returned_by,
    wrote,
)
from adjoint.ir.node import node
from adjoint.ir.nodes import (
    Assign,
    Break,
    Call,
    Const,
    Continue,
    Delete,
    For,
    Function,
    If,
    Op,
    Raise,
    Region,
    Return,
    Span,
    Try,
    Var,
    While,
    Yield,
)
from adjoint.ir.walk import operands, targets, walk

TEMPORARY = re.compile(r"_\d+")


def user_names(function: Function) -> frozenset[str]:
    """Return the names in the code of a function; others, like ``_1``, are temporaries."""
    code = function.code
    return frozenset((*code.co_varnames, *code.co_cellvars, *code.co_freevars, *code.co_names))


def without_tries(function: Function) -> Function:
    """Return the function with each `Try` as an `If`."""
    if not any(isinstance(op, Try) for op in walk(function.body)):
        return function
    return replace(function, body=_Rewriter(function).region(function.body, _Place()))


@node
class _Exit:
    """A ``try`` that a jump leaves: its attempt, if it has one, and its ``finally`` with the place
    of it."""

    attempt: Var | None
    final: Region
    place: _Place


@node
class _Place:
    """What surrounds a region.

    Attributes
    ----------
    watched
        Attempts around the region, each with the variables whose writes end it.
    returning, jumping
        What ``return`` leaves, and ``break`` or ``continue``, innermost first.
    in_loop
        Whether the region is run several times.
    """

    watched: tuple[tuple[Var, frozenset[str]], ...] = ()
    returning: tuple[_Exit, ...] = ()
    jumping: tuple[_Exit, ...] = ()
    in_loop: bool = False

    def inside(self, attempt: Var, final: Region = ()) -> _Place:
        """Return the place of the body of a ``try`` at this place."""
        left = _Exit(attempt, final, self)
        return replace(self, returning=(left, *self.returning), jumping=(left, *self.jumping))

    def before(self, final: Region) -> _Place:
        """Return the place of what a ``finally`` follows that writes local variables only: these
        matter after ``break`` and ``continue``, and no more after ``return``."""
        return replace(self, jumping=(_Exit(None, final, self), *self.jumping))

    def loop(self) -> _Place:
        """Return the place of the body of a loop at this place."""
        return replace(self, jumping=(), in_loop=True)


class _Rewriter:
    def __init__(self, function: Function) -> None:
        self._users = user_names(function)
        self._reads = _reads(function.body)
        self._numbers = itertools.count(1)

    def region(self, region: Region, place: _Place) -> Region:
        """Return a new region; nothing in it is shared with another."""
        ops: list[Op] = []
        for op in region:
            match op:
                case Try() if (delegated := _delegated(op)) is not None:
                    ops += self.region(delegated, place)
                case Try():
                    ops += self._try(op, place)
                case If():
                    body, orelse = self.region(op.body, place), self.region(op.orelse, place)
                    ops.append(replace(op, body=body, orelse=orelse))
                case For():
                    inside = (*_noted(op, place), *self.region(op.body, place.loop()))
                    ops.append(replace(op, body=inside, orelse=self.region(op.orelse, place)))
                case While():
                    test = self.region(op.test, place.loop())
                    body, orelse = self.region(op.body, place.loop()), self.region(op.orelse, place)
                    ops.append(replace(op, test=test, body=body, orelse=orelse))
                case Return():
                    ops += self._return(op, place)
                case Break() | Continue():
                    ops += [*self._left(place.jumping, op.span), op]
                case _:
                    ops += [replace(op), *_noted(op, place)]
        return tuple(ops)

    # ---- ways out --------------------------------------------------------------------------------

    def _return(self, op: Return, place: _Place) -> list[Op]:
        left = self._left(place.returning, op.span)
        if not left or isinstance(op.value, Const):
            return [*left, op]
        value = Var(f"_returned {next(self._numbers)}")
        return [Assign(value, op.value, op.span), *left, Return(value, op.span)]

    def _left(self, exits: tuple[_Exit, ...], span: Span | None) -> list[Op]:
        """Return what runs on the way out of some ``try``."""
        ops: list[Op] = []
        if any(one.final for one in exits):
            for one in exits:
                if one.attempt is not None:
                    ops.append(_call(completed, one.attempt, span))
                ops += self.region(one.final, one.place)
        return ops

    # ---- try -------------------------------------------------------------------------------------

    def _try(self, op: Try, place: _Place) -> list[Op]:
        final = self.region(op.final, place)
        if not op.final:
            return self._handled(op, place)
        if all(isinstance(x, Assign | Delete) for x in op.final):
            if _is_clean_up(op.final) or not _noted_targets(op.final, place):
                return [*self._handled(op, place.before(op.final)), *final]
        begin, trying = self._begin(handles=False, span=op.span)
        body = self._handled(op, place.inside(trying, op.final))
        ended = _call(completed, trying, op.span)
        never = Raise(None, None, op.span)
        return [begin, If(trying, (*body, ended), (never,), op.span), *final]

    def _handled(self, op: Try, place: _Place) -> list[Op]:
        """Return a ``try`` without its ``finally``."""
        if op.caught is None:
            return [*self.region(op.body, place)]
        begin, trying = self._begin(handles=True, span=op.span)
        watched = (*place.watched, (trying, self._shared(op, place)))
        body = self.region(op.body, replace(place.inside(trying), watched=watched))
        orelse = self.region(op.orelse, place)
        caught = Call(op.caught, Const(caught_exception), (), (), op.span)
        handler = self.region(op.handler, place)
        ended = _call(completed, trying, op.span)
        return [begin, If(trying, (*body, ended, *orelse), (caught, *handler), op.span)]

    def _begin(self, handles: bool, span: Span | None) -> tuple[Call, Var]:
        trying = Var(f"_trying {next(self._numbers)}")
        return Call(trying, Const(attempt), (Const(handles),), (), span), trying

    def _shared(self, op: Try, place: _Place) -> frozenset[str]:
        """Return the variables that the body writes and that may be read after an exception."""
        inside = _reads(op.body)
        written = {target.name for one in walk(op.body) for target in targets(one)}
        return frozenset(
            name
            for name in written
            if name in self._users or not TEMPORARY.fullmatch(name)
            if self._reads[name] > (0 if place.in_loop else inside[name])
        )


def _delegated(op: Try) -> Region | None:
    """Return the ``try`` of a ``yield from`` (`frontend.templates`) as a loop, in which nothing is
    sent or thrown into the generator; ``None`` for any other ``try``."""
    loop = op.orelse[0] if op.orelse else None
    inner = loop.body[0] if isinstance(loop, While) and loop.body else None
    waiting = inner.body[0] if isinstance(inner, Try) and inner.body else None
    if not isinstance(waiting, Yield) or waiting.source is None:
        return None
    _, found = (one for one in walk(op.handler) if isinstance(one, Call))  # stop.value
    item, span = Var("item"), op.span
    given = Yield(None, item, None, span)
    ended = Call(found.target, Const(returned_by), (waiting.source,), (), span)
    return (For(item, waiting.source, (given,), (), span), ended)


def _reads(region: Region) -> Counter[str]:
    """Count how often each variable is read."""
    return Counter(
        operand.name for op in walk(region) for operand in operands(op) if isinstance(operand, Var)
    )


def _call(f: object, trying: Var, span: Span | None) -> Call:
    return Call(None, Const(f), (trying,), (), span)


def _is_clean_up(final: Region) -> bool:
    """Return whether variables have no value at the end, as after ``except KeyError as error``."""
    written = {x.target.name for x in final if isinstance(x, Assign)}
    return written <= {x.target.name for x in final[-1:] if isinstance(x, Delete)}


def _noted_targets(final: Region, place: _Place) -> bool:
    """Return whether a handler around a ``finally`` may read a variable that this writes."""
    return any(_noted(op, place) for op in final)


def _noted(op: Op, place: _Place) -> list[Op]:
    """Return the notes that follow an operation which writes variables."""
    if not place.watched:
        return []
    names = {target.name for target in targets(op)}
    return [
        _call(wrote, trying, op.span)
        for trying, shared in place.watched
        if not shared.isdisjoint(names)
    ]
