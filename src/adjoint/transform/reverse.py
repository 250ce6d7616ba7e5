"""The reverse transform: named IR → forward and reverse sweep of one function.

Before, after::

    while n > 0:            forward                              reverse
        r = mul(r, x)       while n > 0:                         for rec1 in reversed(rec[1]):
                                r = mul(r, x)      → rec1[1]         r̄, x̄ += rec1[1](r̄)

The forward sweep is the function itself, with a slot of a record for each call that may carry a
derivative. The reverse sweep visits the same regions in reverse textual order. A slot that still
holds its blank did not run, so the reverse sweep needs no account of how the regions were left.
Only an operation without a slot (a copy of a name, the rebinding of a name to something inactive)
needs a `Mark`, and only where earlier text may be left while its variables live on: after a
``break`` or ``continue`` in a loop body, and anywhere in ``try``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, assert_never

from adjoint.ir import primitives
from adjoint.ir.nodes import (
    Assign,
    Break,
    Call,
    Const,
    Continue,
    Delete,
    For,
    Function,
    Global,
    If,
    Op,
    Operand,
    Raise,
    Region,
    Return,
    Span,
    Try,
    Unpack,
    Var,
    While,
    Yield,
)
from adjoint.ir.sweeps import (
    Blank,
    Clear,
    ForwardOp,
    Mark,
    Move,
    Pull,
    Recorded,
    Resume,
    ReverseOp,
    Seed,
    Slot,
    Sweeps,
    Traced,
    Unwind,
    When,
)
from adjoint.ir.walk import STRUCTURED, regions, targets
from adjoint.transform.activity import Activity


def reverse(function: Function, activity: Activity) -> Sweeps:
    """Return both sweeps of `function`."""
    transform = _Reverse(function, activity)
    forward, backward = transform.region(function.body, guarded=False)
    blanks = tuple(transform.blanks[0])
    return Sweeps(tuple(forward), tuple(backward), blanks, frozenset(transform.loaded))


Both: TypeAlias = tuple[list[ForwardOp], list[ReverseOp]]


class _Reverse:
    """The walk over the IR. Methods return forward and reverse operations in execution order."""

    def __init__(self, function: Function, activity: Activity) -> None:
        self._activity = activity
        self.blanks: list[list[Blank]] = [[]]
        self._temporaries = 0
        self._made: dict[str, Slot] = {}  # the slot of the call that made a temporary
        self.loaded: set[str] = set()
        self._definitions = {parameter.name: 1 for parameter in function.parameters}
        code = function.code
        self._own = frozenset((*code.co_varnames, *code.co_cellvars, *code.co_freevars))
        self._used = self._own.union(code.co_names)
        self._returns = 0
        self._count(function.body, 1)
        last = function.body[-1] if function.body else None
        self._only_return = last if self._returns == 1 and not function.is_generator else None

    def _count(self, region: Region, times: int) -> None:
        """Count the bindings of each variable; a binding in a loop counts as several. Temporaries
        do not outlive their statement, so a loop binds them once."""
        definitions = self._definitions
        for op in region:
            for target in targets(op):
                once = times == 1 or self._is_temporary(target)
                definitions[target.name] = definitions.get(target.name, 0) + (1 if once else 2)
            if type(op) is Return:
                self._returns += 1
            elif type(op) in STRUCTURED:
                again = 2 if type(op) is For or type(op) is While else times
                for part in regions(op):
                    self._count(part, again)

    def _is_temporary(self, var: Var) -> bool:
        name = var.name
        return name[0] == "_" and name[1:].isdigit() and name not in self._own

    # ---- slots -----------------------------------------------------------------------------------

    def _slot(self, blank: Blank) -> Slot:
        """Add a slot to the innermost record; slot 0 is the memory."""
        self.blanks[-1].append(blank)
        return Slot(len(self.blanks) - 1, len(self.blanks[-1]))

    def _marked(self, ops: Sequence[ReverseOp], guarded: bool, span: Span | None) -> Both:
        """Guard reverse operations that have no slot: if `guarded`, they run only if the point was
        reached."""
        if not guarded or not ops:
            return [], list(ops)
        slot = self._slot(None)
        return [Mark(slot, True, span)], [When(slot, True, tuple(ops))]

    def _active(self, operand: Operand) -> Var | None:
        if type(operand) is Var and not self._activity.is_inactive(operand):
            return operand
        return None

    # ---- regions ---------------------------------------------------------------------------------

    def region(self, region: Region, guarded: bool) -> Both:
        """Transform a region. `guarded`: an operation of the region may be skipped while its
        variables live on."""
        forward: list[ForwardOp] = []
        parts: list[list[ReverseOp]] = []
        for op in region:
            ahead, back = self._op(op, guarded)
            forward += ahead
            parts.append(back)
            guarded = guarded or (type(op) is not Call and leaves_iteration(op))
        return forward, [op for part in reversed(parts) for op in part]

    def _op(self, op: Op, guarded: bool) -> Both:
        match op:
            case Call():
                return self._call(op, guarded)
            case Unpack():
                return self._unpack(op, guarded)
            case Assign():
                return self._assign(op, guarded)
            case Delete(target=target, span=span):
                mark, back = self._marked([Clear(target)], guarded, span)
                return [op, *mark], back
            case If():
                return self._if(op, guarded)
            case For():
                return self._for(op, guarded)
            case While():
                return self._while(op, guarded)
            case Try():
                return self._try(op, guarded)
            case Return():
                return self._return(op, guarded)
            case Raise() | Break() | Continue():
                return [op], []
            case Yield():
                return self._yield(op)
            case _:
                assert_never(op)

    # ---- straight-line operations ----------------------------------------------------------------

    def _call(self, op: Call, guarded: bool) -> Both:
        if self._activity.runs_as_python(op):
            return self._rebound(op, op.target, guarded, op.span)
        loads, back_loads, operands = self._local(op.operands, op.span)
        values: tuple[Operand, ...] = ()
        if op.keywords:
            names = [name for name, _ in op.keywords]
            given = tuple(value for _, value in op.keywords)
            more, back_more, values = self._local(given, op.span)
            loads, back_loads = [*loads, *more], [*back_more, *back_loads]
            keywords = tuple(zip(names, values, strict=True))
            op = Call(op.target, op.callee, operands, keywords, op.span)
        elif operands is not op.operands:
            op = Call(op.target, op.callee, operands, (), op.span)
        if type(op.callee) is Const and op.callee.value is primitives.call_method:
            operands = (operands[0], *operands[2:])  # the method name is no operand
        sources = tuple(map(self._active, (*operands, *values)))
        if self._activity.result_inactive(op) and not self._activity.passes_operand(op):
            sources = (None,) * len(sources)  # without a cotangent of the result, none by value
        ahead, back = self._pull(op, () if op.target is None else (op.target,), sources, guarded)
        return ([*loads, *ahead], [*back, *back_loads]) if loads else (ahead, back)

    def _unpack(self, op: Unpack, guarded: bool) -> Both:
        loads, back_loads, (value,) = self._local((op.value,), op.span)
        op = Unpack(op.targets, value, op.starred, op.span)
        ahead, back = self._pull(op, op.targets, (self._active(value),), guarded)
        return [*loads, *ahead], [*back, *back_loads]

    def _pull(
        self,
        op: Call | Unpack,
        results: tuple[Var, ...],
        sources: tuple[Var | None, ...],
        guarded: bool,
    ) -> Both:
        slot = self._slot(len(sources))
        if type(op) is Call and op.target is not None and op.target.name[0] == "_":
            self._made[op.target.name] = slot
        if guarded and any(self._definitions[result.name] > 1 for result in results):
            reached = self._slot(None)
            return (
                [Recorded(op, slot), Mark(reached, True, op.span)],
                [Pull(slot, results, sources, reached, op.span)],
            )
        return [Recorded(op, slot)], [Pull(slot, results, sources, None, op.span)]

    def _local(
        self, operands: tuple[Operand, ...], span: Span | None
    ) -> tuple[list[ForwardOp], list[ReverseOp], tuple[Operand, ...]]:
        """Read globals that are not known functions, classes or modules by recorded calls. Return
        these calls, their reversals, and the operands with the globals replaced."""
        loads: list[ForwardOp] = []
        backs: list[ReverseOp] = []
        if Global not in map(type, operands):
            return loads, backs, operands
        local: list[Operand] = []
        for operand in operands:
            if isinstance(operand, Global) and self._activity.known_global(operand.name) is None:
                target, slot = self._global_temporary(), self._slot(2)
                load = self._load(target, operand.name, span)
                loads.append(Recorded(load, slot))
                backs.insert(0, Pull(slot, (target,), (None, None), None, span))
                operand = target
            local.append(operand)
        return loads, backs, tuple(local)

    def _global_temporary(self) -> Var:
        name = ""
        while not name or name in self._used:
            self._temporaries += 1
            name = f"_g{self._temporaries}"
        self.loaded.add(name)
        return Var(name)

    def _load(self, target: Var, name: str, span: Span | None) -> Call:
        return Call(
            target,
            Const(primitives.load_global),
            (Const(self._activity.namespace), Const(name)),
            (),
            span,
        )

    def _assign(self, op: Assign, guarded: bool) -> Both:
        if isinstance(op.source, Global) and self._activity.known_global(op.source.name) is None:
            load = self._load(op.target, op.source.name, op.span)
            if self._definitions[op.target.name] == 1:
                self.loaded.add(op.target.name)
            return self._pull(load, (op.target,), (None, None), guarded)
        source = self._active(op.source)
        if source == op.target:
            return [op], []
        if source is None:
            return self._rebound(op, op.target, guarded, op.span)
        mark, back = self._marked([Move(op.target, source, op.span)], guarded, op.span)
        return [op, *mark], back

    def _rebound(self, op: Op, target: Var | None, guarded: bool, span: Span | None) -> Both:
        """Transform an operation that binds `target` to something inactive."""
        if target is None or self._activity.is_inactive(target):
            return [op], []
        mark, back = self._marked([Clear(target)], guarded, span)
        return [op, *mark], back

    def _return(self, op: Return, guarded: bool) -> Both:
        loads, backs, (value,) = self._local((op.value,), op.span)
        seed = Seed(self._active(value), op.span)
        if op is self._only_return and not guarded:
            return [*loads, Return(value, op.span)], [seed, *backs]
        slot = self._slot(None)
        return (
            [*loads, Mark(slot, True, op.span), Return(value, op.span)],
            [When(slot, True, (seed,)), *backs],
        )

    def _yield(self, op: Yield) -> Both:
        loads, backs, (value,) = self._local((op.value,), op.span)
        slot = self._slot(None)
        return (
            [*loads, Mark(slot, True, op.span), Yield(op.target, value, op.source, op.span)],
            [Resume(op.target, self._active(value), slot, op.span), *backs],
        )

    # ---- control flow ----------------------------------------------------------------------------

    def _if(self, op: If, guarded: bool) -> Both:
        slot = self._slot(None)
        body, body_back = self.region(op.body, guarded)
        orelse, orelse_back = self.region(op.orelse, guarded)
        back: list[ReverseOp] = []
        if orelse_back:
            back += _when(slot, False, orelse_back)
            orelse = [Mark(slot, False, op.span), *orelse]
        if body_back:
            back += _when(slot, True, body_back)
            body = [Mark(slot, True, op.span), *body]
        return [If(op.condition, tuple(body), tuple(orelse), op.span)], back  # type: ignore[arg-type]

    def _for(self, op: For, guarded: bool) -> Both:
        loads, backs, (iterable,) = self._local((op.iterable,), op.span)
        source = self._active(iterable)
        active = isinstance(iterable, Global) or source is not None
        items = self._slot(None) if active else None
        slot = self._slot(())
        made = self._made.get(source.name) if source is not None else None
        if items is None or made is None or made.depth != items.depth:
            made = None
        self.blanks.append([])
        body, body_back = self.region(op.body, guarded)
        blank = tuple(self.blanks.pop())
        orelse, orelse_back = self._else(op.orelse, guarded, op.span)
        loop = For(op.target, iterable, tuple(body), tuple(orelse), op.span)  # type: ignore[arg-type]
        if not active and not self._activity.is_inactive(op.target):
            body_back.append(Clear(op.target))
        if not blank and not body_back and not active:
            return [loop], orelse_back
        traced = Traced(loop, slot, blank, items, made)
        unwind = Unwind(traced, op.target if active else None, source, tuple(body_back), op.span)
        return [*loads, traced], [*orelse_back, unwind, *backs]

    def _while(self, op: While, guarded: bool) -> Both:
        slot = self._slot(())
        self.blanks.append([])
        test, test_back = self.region(op.test, guarded)
        body, body_back = self.region(op.body, guarded)
        # The last evaluation of the test may not have entered the body.
        entered, body_back = self._marked(body_back, True, op.span)
        body = [*entered, *body]
        blank = tuple(self.blanks.pop())
        orelse, orelse_back = self._else(op.orelse, guarded, op.span)
        loop = While(tuple(test), op.condition, tuple(body), tuple(orelse), op.span)  # type: ignore[arg-type]
        if not blank and not body_back and not test_back:
            return [loop], orelse_back
        traced = Traced(loop, slot, blank)
        return [traced], [
            *orelse_back,
            Unwind(traced, None, None, (*body_back, *test_back), op.span),
        ]

    def _else(self, region: Region, guarded: bool, span: Span | None) -> Both:
        if not region:
            return [], []
        ahead, back = self.region(region, guarded)
        mark, back = self._marked(back, True, span)
        return [*mark, *ahead], back

    def _try(self, op: Try, guarded: bool) -> Both:
        body, body_back = self.region(op.body, True)
        handler, handler_back = self.region(op.handler, True)
        orelse, orelse_back = self.region(op.orelse, True)
        final, final_back = self.region(op.final, guarded)
        if op.caught is not None:
            mark, handler_back = self._marked([*handler_back, Clear(op.caught)], True, op.span)
            handler = [*mark, *handler]
        statement = Try(
            tuple(body),  # type: ignore[arg-type]
            op.caught,
            tuple(handler),  # type: ignore[arg-type]
            tuple(orelse),  # type: ignore[arg-type]
            tuple(final),  # type: ignore[arg-type]
            op.span,
        )
        return [statement], [*final_back, *orelse_back, *handler_back, *body_back]


DEEP = 20
"""The largest depth of nested conditions: Python's limit for indentation is 100."""


def _when(slot: Slot, value: bool, ops: list[ReverseOp]) -> list[ReverseOp]:
    """Put `ops` under a condition; move deeply nested conditions out. A branch that was not reached
    has not set its own mark, so its `When` needs no outer condition."""
    if _depth(ops) < DEEP:
        return [When(slot, value, tuple(ops))]
    flat: list[ReverseOp] = []
    group: list[ReverseOp] = []
    for op in ops:
        if isinstance(op, When):
            if group:
                flat.append(When(slot, value, tuple(group)))
                group = []
            flat.append(op)
        else:
            group.append(op)
    return [*flat, When(slot, value, tuple(group))] if group else flat


def _depth(ops: Sequence[ReverseOp]) -> int:
    return max((1 + _depth(op.body) for op in ops if isinstance(op, When)), default=0)


def leaves_iteration(op: Op) -> bool:
    """Return whether `op` may skip the rest of a loop body while the function goes on."""
    match op:
        case Break() | Continue():
            return True
        case If(body=body, orelse=orelse):
            parts: tuple[Region, ...] = (body, orelse)
        case For(orelse=orelse) | While(orelse=orelse):
            parts = (orelse,)
        case Try(body=body, handler=handler, orelse=orelse, final=final):
            parts = (body, handler, orelse, final)
        case _:
            return False
    return any(leaves_iteration(op) for part in parts for op in part if type(op) is not Call)
