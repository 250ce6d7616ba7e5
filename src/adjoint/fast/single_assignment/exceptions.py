"""``try`` as an ``if``, and ``finally`` before each way out.

Before, after::

    try:                             trying = attempt()
        y = f(x)                     if trying:
        return y                         y = f(x)
    except KeyError:                     completed(trying)
        y = 0                            g()
    finally:                             return y
        g()                          else:
                                         y = latest(trying, "y", y)
                                         error = caught_exception()
                                         … y = 0 if error is a KeyError
                                     g()

A program runs the body as if nothing were raised: an exception sends the call to the generic tier.
Where the evaluator knows that the body raises, or a branch of it, it runs the handler. `wrote`
follows each write of the body to a variable that the handler, or what comes after it, may read, and
each branch or loop with one; the handler begins with the values that were noted. The handler of a
``finally`` runs it and raises again.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from adjoint.fast.single_assignment.primitives import (
    attempt,
    caught_exception,
    completed,
    latest,
    not_delegated,
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
        Attempts around the region, each with the variables whose writes are noted.
    returning, jumping
        What ``return`` leaves, and ``break`` or ``continue``, innermost first.
    in_loop
        Whether the region is run several times.
    """

    watched: tuple[tuple[Var, frozenset[str]], ...] = ()
    returning: tuple[_Exit, ...] = ()
    jumping: tuple[_Exit, ...] = ()
    in_loop: bool = False

    def inside(self, attempt: Var, shared: frozenset[str], final: Region = ()) -> _Place:
        """Return the place of the body of a ``try`` at this place; `shared` are the variables whose
        writes are noted."""
        left, watched = _Exit(attempt, final, self), (*self.watched, (attempt, shared))
        returning, jumping = (left, *self.returning), (left, *self.jumping)
        return replace(self, watched=watched, returning=returning, jumping=jumping)

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
                    ops += [replace(op, body=body, orelse=orelse), *_noted(op, place)]
                case For():
                    inside = self.region(op.body, place.loop())
                    inside = (*_notes({op.target.name}, place, op.span), *inside)
                    made = replace(op, body=inside, orelse=self._ended(op, place))
                    ops += [made, *_noted(op, place)]
                case While():
                    test = self.region(op.test, place.loop())
                    body, orelse = self.region(op.body, place.loop()), self._ended(op, place)
                    ops.append(replace(op, test=test, body=body, orelse=orelse))
                    ops += _noted(op, place)
                case Return():
                    ops += self._return(op, place)
                case Break() | Continue():
                    ops += [*self._left(place.jumping, op.span), op]
                case _:
                    ops += [replace(op), *_noted(op, place)]
        return tuple(ops)

    def _ended(self, op: For | While, place: _Place) -> Region:
        """Return the ``else`` of a loop, which begins with what the loop has written."""
        if not op.orelse:
            return ()
        return (*_noted(replace(op, orelse=()), place), *self.region(op.orelse, place))

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
        trying = Var(f"_trying {next(self._numbers)}")
        shared = self._shared((*op.body, *op.handler, *op.orelse), place)
        body = self._handled(op, place.inside(trying, shared, op.final))
        failed = (*self.region(op.final, place), Raise(None, None, op.span))
        return [*_tried(trying, shared, body, (), failed, op.span), *_noted(op, place), *final]

    def _handled(self, op: Try, place: _Place) -> list[Op]:
        """Return a ``try`` without its ``finally``."""
        if op.caught is None:
            return [*self.region(op.body, place)]
        trying = Var(f"_trying {next(self._numbers)}")
        shared = self._shared(op.body, place)
        body = self.region(op.body, place.inside(trying, shared))
        orelse = self.region(op.orelse, place)
        caught = Call(op.caught, Const(caught_exception), (), (), op.span)
        handler = (caught, *self.region(op.handler, place))
        return [*_tried(trying, shared, body, orelse, handler, op.span), *_noted(op, place)]

    def _shared(self, body: Region, place: _Place) -> frozenset[str]:
        """Return the variables that the body writes and that may be read after an exception."""
        inside = _reads(body)
        written = {target.name for one in walk(body) for target in targets(one)}
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
    item, sent, span = Var("item "), Var("sent "), op.span  # no names of users
    given = Yield(sent, item, None, span)
    checked = Call(None, Const(not_delegated), (sent,), (), span)
    ended = Call(found.target, Const(returned_by), (waiting.source,), (), span)
    return (For(item, waiting.source, (given, checked), (), span), ended)


def _reads(region: Region) -> Counter[str]:
    """Count how often each variable is read."""
    return Counter(
        operand.name for op in walk(region) for operand in operands(op) if isinstance(operand, Var)
    )


def _tried(
    trying: Var,
    shared: frozenset[str],
    body: Iterable[Op],
    orelse: Region,
    handler: Region,
    span: Span | None,
) -> tuple[Op, Op]:
    """Return the beginning of an attempt, and the `If` of its body and its handler."""
    given = (_as_left(name, trying, span) for name in sorted(shared))
    whole = (*body, _call(completed, trying, span), *orelse)
    begin = Call(trying, Const(attempt), (), (), span)
    return begin, If(trying, whole, (*given, *handler), span)


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
    """Return the notes that follow an operation which writes variables, or may write them."""
    return _notes({x.name for one in walk((op,)) for x in targets(one)}, place, op.span)


def _notes(names: set[str], place: _Place, span: Span | None) -> list[Op]:
    """Return the notes of the values that variables have now."""
    return [
        Call(None, Const(wrote), (trying, Const(name), Var(name)), (), span)
        for trying, shared in place.watched
        for name in sorted(shared & names)
    ]


def _as_left(name: str, trying: Var, span: Span | None) -> Call:
    """Return the operation that gives a variable the value which the body of a ``try`` left."""
    return Call(Var(name), Const(latest), (trying, Const(name), Var(name)), (), span)
