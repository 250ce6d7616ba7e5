"""Conversion of the named IR into single assignment.

Before, after::

    n = 0
    for x in xs:                     n.1 = for x in xs with n.2 = 0
        t = truth(x)                     t = truth(x)
        if t:                            n.3 = if t
            continue                         -> n.2
        n = add(n, x)                    else
    return n                                 n.4 = add(n.2, x)
                                             -> n.4
                                         -> n.3
                                     return n.1

Each read of a variable becomes the value last written to the variable. Where paths meet, the
variables that were written on the way and are read later become results. The operations after an
``if`` with a branch that leaves move into the other branch. Where both branches may reach the end
and one of them leaves on some path, a flag guards the operations that follow. No operation is
duplicated.

`Undefined` occurs only among the results of blocks and the initial values of loops. A value that
may be `Undefined` is read only where the frontend knows that it is assigned, or by `assigned`,
which checks; so at a join, `Undefined` adds nothing to the other type.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from adjoint.fast.not_covered import NotCovered
from adjoint.fast.single_assignment.endings import NO, YES, Ending, Slots
from adjoint.fast.single_assignment.exceptions import TEMPORARY, user_names, without_tries
from adjoint.fast.single_assignment.liveness import DEEPEST, Liveness, Variables, Way, chosen
from adjoint.fast.single_assignment.loop_variables import Form
from adjoint.fast.single_assignment.primitives import assigned, latest, same, wrote, yielded
from adjoint.ir import nodes as named
from adjoint.ir.node import node
from adjoint.ir.nodes import Const, Global, Path, Span, Var
from adjoint.ir.primitives import unassigned_message
from adjoint.ir.single import (
    Block,
    Call,
    Function,
    If,
    Loop,
    Op,
    Operand,
    Raise,
    Undefined,
    Unpack,
    Value,
)


def single(function: named.Function, yields: bool = False) -> Function:
    """Convert a function into single assignment.

    Parameters
    ----------
    yields
        Accept generators: ``yield`` becomes a call of `yielded`.

    Raises
    ------
    NotCovered
        The function is a generator although `yields` is false, or nests blocks more deeply than
        Python allows.
    """
    if function.is_generator and not yields:
        raise NotCovered("a generator", function.span)
    function = without_tries(function)
    names = [parameter.name for parameter in function.parameters]
    names += [variable.name for _, variable in function.free]
    return Function(
        function.name,
        function.parameters,
        tuple(name for name, _ in function.free),
        _Lowering(function).function_body(names),
        function.filename,
        function.span,
    )


@node
class _Rest:
    """The operations still to lower: those of `region` from `index` on, then `next`."""

    region: named.Region
    index: int
    next: _Rest | None


def _then(region: named.Region, index: int, rest: _Rest | None) -> _Rest | None:
    return _Rest(region, index, rest) if index < len(region) else rest


class _NeverReached(Exception):
    """Raised after a read that always raises has been lowered."""


_Entry: TypeAlias = tuple[Operand, bool]
"""The operand of a variable, and whether the variable certainly has a value."""
_Results: TypeAlias = tuple[Operand, ...] | None


class _Lowering:
    def __init__(self, function: named.Function) -> None:
        self._live = Liveness(function.body)
        self._users = user_names(function)
        self._region = function.body
        self._ops: list[Op] = []
        self._values: dict[str, _Entry] = {}
        self._undo: list[tuple[str, _Entry | None]] = []
        self._made: list[named.Region] = []
        self._numbers = itertools.count(1)
        self._depth = 0

    def function_body(self, names: list[str]) -> Block:
        """Return the block of the body, with one parameter per name."""
        ending = Ending({Way.RETURN: 0}, returned=True, fall=Way.RETURN)
        parameters = tuple(map(Value, names))
        return self._block(_then(self._region, 0, None), ending, parameters, [(names, parameters)])

    # ---- blocks ----------------------------------------------------------------------------------

    def _block(
        self,
        rest: _Rest | None,
        ending: Ending,
        parameters: tuple[Value, ...] = (),
        entered: Sequence[tuple[Sequence[str], Sequence[Value]]] = (),
        unsure: Iterable[str] = (),
    ) -> Block:
        """Lower `rest` into a block in which the names in `entered` have the given values."""
        self._depth += 1
        if self._depth > DEEPEST:
            span = None if rest is None else rest.region[rest.index].span
            raise NotCovered(f"more than {DEEPEST} nested blocks", span)
        before, self._ops = self._ops, []
        mark = len(self._undo)
        for names, values in entered:
            self._enter(names, values, unsure)
        try:
            results = self._sequence(rest, ending)
        except _NeverReached:
            results = None
        ops, self._ops = tuple(self._ops), before
        while len(self._undo) > mark:
            name, old = self._undo.pop()
            if old is None:
                del self._values[name]
            else:
                self._values[name] = old
        self._depth -= 1
        return Block(parameters, ops, results)

    def _enter(
        self, names: Iterable[str], values: Iterable[Value], unsure: Iterable[str] = ()
    ) -> None:
        maybe = frozenset(unsure)
        for name, value in zip(names, values, strict=True):
            self._write(name, value, name not in maybe)

    def _sequence(self, rest: _Rest | None, ending: Ending) -> _Results:
        """Lower `rest`, and return the results of the block."""
        while rest is not None:
            op, rest = rest.region[rest.index], _then(rest.region, rest.index + 1, rest.next)
            match op:
                case named.If(condition=Const()):
                    rest = _then(chosen(op), 0, rest)
                case named.If():
                    if self._leaves(op):
                        return self._if_left(op, rest, ending)
                    if not self._if(op):
                        return None
                case named.For() | named.While():
                    rest = self._loop(op, rest)
                case named.Return(value=value, span=span):
                    return self._finish(ending, Way.RETURN, self._read(value, span))
                case named.Break():
                    return self._finish(ending, Way.BREAK)
                case named.Continue():
                    return self._finish(ending, Way.CONTINUE)
                case named.Raise(exception=exception, cause=cause, span=span):
                    raised = None if exception is None else self._read(exception, span)
                    reason = None if cause is None else self._read(cause, span)
                    self._ops.append(Raise(raised, reason, span))
                    return None
                case _:
                    self._simple(op)
        at_end = Const(None) if ending.fall is Way.RETURN else None
        return self._finish(ending, ending.fall, at_end)

    def _finish(
        self, ending: Ending, way: Way, value: Operand | None = None
    ) -> tuple[Operand, ...]:
        first = tuple(self._read(operand, None) for operand in ending.first)
        variables = self._variables(ending, (way,))
        return (*first, *ending.results(way, value, variables))

    def _variables(
        self, ending: Ending, ways: Iterable[Way], joined: Ending | None = None
    ) -> tuple[Operand, ...]:
        """Return the operands of the variables of `ending` where the block is left by `ways`, and
        add those that may be unassigned (according to `joined`, if given) to ``ending.unsure``."""
        known = frozenset() if joined is None else frozenset(joined.variables)
        found: list[Operand] = []
        for name in ending.variables:
            value, sure = self._values.get(name, (Undefined(name), False))
            mask, read = self._live.mask(name), False
            for way in ways:
                if ending.live[way] & mask:
                    read = True
                    if joined is not None and name in known:
                        sure = name not in joined.unsure.get(way, ())
                    if not sure:
                        ending.unsure.setdefault(way, set()).add(name)
            found.append(value if read else Undefined(name))
        return tuple(found)

    # ---- operations ------------------------------------------------------------------------------

    def _simple(self, op: named.Op) -> None:
        match op:
            case named.Call(callee=Const(value=f), target=target) if f is wrote or f is latest:
                self._as_left(op, target)
            case named.Call(target=target, span=span):
                callee = self._read(op.callee, span)
                operands = tuple(self._read(operand, span) for operand in op.operands)
                keywords = tuple((key, self._read(value, span)) for key, value in op.keywords)
                result = None if target is None else Value(target.name)
                self._ops.append(Call(result, callee, operands, keywords, span))
                if result is not None:
                    self._write(result.name, result)
            case named.Yield(target=target, value=given, span=span):
                sent = None if target is None else Value(target.name)
                self._ops.append(Call(sent, Const(yielded), (self._read(given, span),), (), span))
                if sent is not None:
                    self._write(sent.name, sent)
            case named.Assign(target=target, source=source, span=span):
                value = self._read(source, span)
                if isinstance(value, Global | Path):
                    value = self._call(Value(target.name), same, (value,), span)
                self._write(target.name, value)
            case named.Unpack(targets=targets, value=source, starred=starred, span=span):
                value = self._read(source, span)
                results = tuple(Value(target.name) for target in targets)
                self._ops.append(Unpack(results, value, starred, span))
                self._enter((target.name for target in targets), results)
            case named.Delete(target=target, span=span):
                self._read(target, span)
                self._write(target.name, Undefined(target.name), False)
            case _:
                raise AssertionError(f"no operation of a function without try: {op!r}")

    def _as_left(self, op: named.Call, target: Var | None) -> None:
        """Write a call of `wrote` or `latest`, which takes a variable as it is."""
        trying, name, variable = op.operands
        assert isinstance(variable, Var)
        value, sure = self._values.get(variable.name, (Undefined(variable.name), False))
        given = () if isinstance(value, Undefined) else (value,)
        result = None if target is None else Value(variable.name)
        operands = (self._read(trying, op.span), self._read(name, op.span), *given)
        callee = self._read(op.callee, op.span)
        self._ops.append(Call(result, callee, operands, (), op.span))
        if result is not None:
            self._write(result.name, result, sure)

    def _call(
        self, result: Value, function: object, operands: tuple[Operand, ...], span: Span | None
    ) -> Value:
        self._ops.append(Call(result, Const(function), operands, (), span))
        return result

    def _write(self, name: str, value: Operand, sure: bool = True) -> None:
        self._undo.append((name, self._values.get(name)))
        self._values[name] = value, sure

    def _read(self, operand: named.Operand, span: Span | None) -> Operand:
        if not isinstance(operand, Var):
            return operand
        name = operand.name
        value, sure = self._values.get(name, (Undefined(name), False))
        if sure:
            return value
        if isinstance(value, Undefined):
            message = Const(unassigned_message(name))
            error = self._call(Value("error"), UnboundLocalError, (message,), span)
            self._ops.append(Raise(error, None, span))
            raise _NeverReached
        if not self._is_temporary(name):
            value = self._call(Value(name), assigned, (value, Const(name)), span)
        self._write(name, value)
        return value

    def _is_temporary(self, name: str) -> bool:
        """Return whether `name` is a frontend temporary, which is read only after a write."""
        return TEMPORARY.fullmatch(name) is not None and name not in self._users

    # ---- if --------------------------------------------------------------------------------------

    def _leaves(self, op: named.If) -> bool:
        """Return whether some path leaves the `If` by a jump."""
        return any(way is not Way.FALL for way in self._live.of(op).ways)

    def _if(self, op: named.If) -> bool:
        """Lower an `If` that no jump leaves; return whether its end may be reached."""
        after = self._live.after[id(op)]
        written = tuple(self._live.names(self._live.of(op).writes & after))
        join = Ending({Way.FALL: after}, written)
        slots = self._choice(op, (None, None), join)
        if slots is None:
            return False
        self._enter(written, slots.variables, join.unsure.get(Way.FALL, ()))
        return True

    def _if_left(self, op: named.If, rest: _Rest | None, ending: Ending) -> _Results:
        """Lower an `If` that some path leaves, together with the operations after it."""
        falls = [Way.FALL in self._live.summary(region).ways for region in (op.body, op.orelse)]
        if rest is not None and all(falls):
            return self._if_flagged(op, rest, ending)
        rests = rest if falls[0] else None, rest if falls[1] else None
        slots = self._choice(op, rests, ending)
        return None if slots is None else slots.all

    def _if_flagged(self, op: named.If, rest: _Rest, ending: Ending) -> _Results:
        join, ways, varying = self._flagged(op, ending)
        slots = self._choice(op, (None, None), join)
        if slots is None:
            return None
        self._enter(join.variables, slots.variables, join.unsure.get(Way.FALL, ()))
        variables = self._variables(ending, ways, join)
        flags = [*ending.ways.get(ways[0], ())]
        for index, flag in zip(varying, slots.flags[1:], strict=True):
            flags[index] = flag
        left = Block((), (), (*flags, *ending.values(slots.returned), *variables))
        guarded = self._block(rest, ending)
        results = ending.slots().all
        self._ops.append(If(results, slots.flags[0], guarded, left, op.span))
        return results

    def _flagged(self, op: named.If, ending: Ending) -> tuple[Ending, list[Way], list[int]]:
        """Return the ending of an `If` that some paths leave, the ways by which they leave, and the
        indices of the flags of `ending` that depend on the way."""
        summary = self._live.of(op)
        live: dict[Way, Variables] = {
            way: ending.live[way] for way in Way if way in summary.ways and way is not Way.FALL
        }
        ways = list(live)
        live[Way.FALL] = self._live.after[id(op)]
        needed = 0
        for variables in live.values():
            needed |= variables
        names = self._live.names(summary.writes & needed)
        varying = [
            index
            for index in range(len(ending.flags))
            if len({id(ending.ways[way][index]) for way in ways}) > 1
        ]
        flags = tuple(ending.flags[index] for index in varying)
        values: dict[Way, tuple[Operand, ...]] = {
            way: (NO, *(ending.ways[way][index] for index in varying)) for way in ways
        }
        values[Way.FALL] = YES, *map(Undefined, flags)
        join = Ending(live, tuple(names), ("going", *flags), values, returned=Way.RETURN in live)
        return join, ways, varying

    def _choice(
        self, op: named.If, rests: tuple[_Rest | None, _Rest | None], ending: Ending
    ) -> Slots | None:
        """Append an `If` whose regions continue with `rests`; ``None`` if no end is reached."""
        condition = self._read(op.condition, op.span)
        body = self._block(_then(op.body, 0, rests[0]), ending)
        orelse = self._block(_then(op.orelse, 0, rests[1]), ending)
        slots = ending.slots()
        reached = body.results is not None or orelse.results is not None
        self._ops.append(If(slots.all if reached else (), condition, body, orelse, op.span))
        return slots if reached else None

    # ---- loops -----------------------------------------------------------------------------------

    def _loop(self, op: named.For | named.While, rest: _Rest | None) -> _Rest | None:
        """Append a loop; return the operations that follow it."""
        form = Form.of(op, self._live, next(self._numbers))
        iterable = self._read(op.iterable, op.span) if isinstance(op, named.For) else None
        initial, unsure = self._initial(form, self._live.head[id(op)])
        test = None
        if isinstance(op, named.While):
            test, unsure = self._test(op, form, unsure)
        body, at_break = self._body(op, form, unsure)
        results = form.values()
        ended: tuple[Value, ...] = ()
        if form.ended is not None:
            ended = (Value("ended"),)
            self._enter((form.ended,), ended)
        stops = form.ended is not None
        self._ops.append(Loop((*ended, *results), initial, iterable, test, body, stops, op.span))
        at_end = {name for name in unsure if self._live.ended[id(op)] & self._live.mask(name)}
        self._enter(form.carried, results, at_end | at_break)
        behind = form.behind(op)
        self._made.append(behind)
        for made in behind:
            self._live.after.setdefault(id(made), self._live.after[id(op)])
        leaves = bool(behind) and isinstance(behind[-1], named.Return)
        return _then(behind, 0, None if leaves else rest)

    def _initial(self, form: Form, head: Variables) -> tuple[tuple[Operand, ...], set[str]]:
        """Return the initial carried values of a loop, and the names that may be unassigned."""
        initial: list[Operand] = []
        unsure: set[str] = set()
        for name in form.names:
            value, sure = self._values.get(name, (Undefined(name), False))
            mask = self._live.mask(name)
            initial.append(value if head & mask else Undefined(name))
            if not (sure and head & mask and not form.deletes & mask):
                unsure.add(name)
        return form.initial(tuple(initial)), unsure

    def _test(self, op: named.While, form: Form, unsure: set[str]) -> tuple[Block, set[str]]:
        """Lower the test of a loop; return its block and the carried names that may be unassigned
        after it."""
        live = self._live.tested[id(op)]
        for name in form.own:
            live |= self._live.mask(name)
        ending = Ending({Way.FALL: live}, form.carried, first=(op.condition,))
        parameters = form.values()
        entered = [(form.carried, parameters)]
        test = self._block(_then(op.test, 0, None), ending, parameters, entered, unsure)
        return test, ending.unsure.get(Way.FALL, set())

    def _body(
        self, op: named.For | named.While, form: Form, unsure: set[str]
    ) -> tuple[Block, set[str]]:
        """Lower the body of a loop; return its block and the carried names that may be unassigned
        after a ``break``."""
        head, after = self._live.head[id(op)], self._live.after[id(op)]
        ending = form.ending({Way.CONTINUE: head, Way.BREAK: after, Way.RETURN: 0})
        parameters = form.values()
        entered = [(form.carried, parameters)]
        if isinstance(op, named.For):
            item = Value(op.target.name)
            parameters = (item, *parameters)
            entered.append(((item.name,), (item,)))
            unsure = unsure - {item.name}
        body = self._block(_then(op.body, 0, None), ending, parameters, entered, unsure)
        return body, ending.unsure.get(Way.BREAK, set())
