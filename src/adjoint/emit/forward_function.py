"""The forward function as Python source: the user's control flow, with a record slot per active
call."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any, assert_never

from adjoint.emit.writer import Names, Writer
from adjoint.ir import primitives
from adjoint.ir.nodes import (
    Assign,
    Break,
    Call,
    Const,
    Continue,
    Delete,
    For,
    If,
    Operand,
    Raise,
    Return,
    Try,
    Unpack,
    While,
    Yield,
)
from adjoint.ir.sweeps import ForwardOp, Mark, Recorded, Slot, Traced
from adjoint.ir.walk import regions

Runtime = Mapping[str, Callable[..., Any]]
"""Runtime functions that generated code calls, by name; those of `Entries`, by the callee they
run."""

Entries = Mapping[Any, Callable[..., Any]]

TEMPLATES: dict[Any, str] = {
    operator.add: "{} + {}",
    operator.sub: "{} - {}",
    operator.mul: "{} * {}",
    operator.truediv: "{} / {}",
    operator.floordiv: "{} // {}",
    operator.mod: "{} % {}",
    operator.pow: "{} ** {}",
    operator.and_: "{} & {}",
    operator.or_: "{} | {}",
    operator.xor: "{} ^ {}",
    operator.lshift: "{} << {}",
    operator.rshift: "{} >> {}",
    operator.lt: "{} < {}",
    operator.le: "{} <= {}",
    operator.gt: "{} > {}",
    operator.ge: "{} >= {}",
    operator.eq: "{} == {}",
    operator.ne: "{} != {}",
    operator.is_: "{} is {}",
    operator.is_not: "{} is not {}",
    operator.neg: "-{}",
    operator.pos: "+{}",
    operator.invert: "~{}",
    operator.not_: "not {}",
}
TEMPLATES |= {
    getattr(operator, f"i{plain.__name__}"): TEMPLATES[plain]
    for plain in (
        *(operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv),
        *(operator.mod, operator.pow),
    )
}
"""Inactive operations as plain Python. In-place operators too: inactive values are immutable."""

CLASSES: dict[Any, type] = {operator.truth: bool, primitives.build_slice: slice}
"""Inactive operations written as calls of a class."""


class ForwardEmitter:
    """Write forward regions. `keeps_result` appends the result of a generator to its record: the
    loop that steps the generator does not see the result."""

    def __init__(
        self,
        writer: Writer,
        names: Names,
        entries: Entries,
        runtime: Runtime,
        blanks: Callable[..., Any],
        memory: str,
        namespace: dict[str, Any],
        is_active: Callable[[Operand], bool],
        keeps_result: bool = False,
    ) -> None:
        self._namespace, self._is_active = namespace, is_active
        self._keeps_result = keeps_result
        self._writer, self._names, self._entries, self._runtime = writer, names, entries, runtime
        self._blanks, self._memory = blanks, memory
        self._records = [names.fresh("rec")]
        self._loops = 0

    @property
    def record(self) -> str:
        """Return the name of the function's own record."""
        return self._records[0]

    @property
    def has_loops(self) -> bool:
        """Return whether some loop keeps records of its iterations, which need the memory by
        name."""
        return self._loops > 0

    def slot(self, slot: Slot) -> str:
        """Return the expression of a slot."""
        return f"{self._records[slot.depth]}[{slot.index}]"

    def place(self, slot: Slot) -> str:
        """Return the slot as the first two arguments of a runtime function."""
        return f"{self._records[slot.depth]}, {slot.index}"

    def region(self, region: Iterable[ForwardOp]) -> None:
        for op in region:
            self._op(op)

    def _op(self, op: ForwardOp) -> None:
        write, name = self._writer, self._names.operand
        match op:
            case Recorded(op=Call() as call, slot=slot):
                text = self._recorded_call(call, slot)
                write.line(
                    text if call.target is None else f"{call.target.name} = {text}", call.span
                )
            case Recorded(op=unpack, slot=slot):
                assert isinstance(unpack, Unpack)
                write.line(self._unpack(unpack, slot), unpack.span)
            case Mark(slot=slot, value=value, span=span):
                write.line(f"{self.slot(slot)} = {value}", span)
            case Traced():
                self._traced(op)
            case Call(target=target, span=span):
                text = self._plain_call(op)
                write.line(text if target is None else f"{target.name} = {text}", span)
            case Assign(target=target, source=source, span=span):
                write.line(f"{target.name} = {name(source)}", span)
            case Delete(target=target, span=span):
                write.line(f"del {target.name}", span)
            case Return(value=value, span=span):
                if self._keeps_result:
                    write.line(f"{self.record}.append({name(value)})", span)
                write.line(f"return {name(value)}", span)
            case Raise(exception=exception, cause=cause, span=span):
                text = "raise" if exception is None else f"raise {name(exception)}"
                write.line(text if cause is None else f"{text} from {name(cause)}", span)
            case Break(span=span):
                write.line("break", span)
            case Continue(span=span):
                write.line("continue", span)
            case Yield(target=target, value=value, source=source, span=span):
                if source is not None:
                    write.line(f"{self.record}[0].delegate = {source.name}", span)
                text = f"yield {name(value)}"
                write.line(text if target is None else f"{target.name} = {text}", span)
            case If() | Try() | For() | While():
                self._control(op)
            case Unpack():
                raise AssertionError("an unpacking is always recorded")
            case _:
                assert_never(op)

    def _chain(self, op: If) -> None:
        """Write a long ``if … elif … elif`` flat, because Python limits the depth of nested
        ``else``."""
        undecided = self._names.fresh("undecided")
        self._writer.line(f"{undecided} = True", op.span)
        while True:
            condition = self._names.operand(op.condition)
            with self._writer.block(f"if {undecided} and {condition}:", op.span):
                self._writer.line(f"{undecided} = False")
                self.region(op.body)
            last = op.orelse[-1] if op.orelse else None
            rest = op.orelse[:-1] if isinstance(last, If) else op.orelse
            if rest:
                with self._writer.block(f"if {undecided}:"):
                    self.region(rest)
            if not isinstance(last, If):
                return
            op = last

    def _control(self, op: If | Try | For | While) -> None:
        write, name = self._writer, self._names.operand
        match op:
            case If() if _length(op) > LONG:
                self._chain(op)
            case If(condition=condition, body=body, orelse=orelse, span=span):
                with write.block(f"if {name(condition)}:", span):
                    self.region(body)
                self._else(orelse)
            case Try(body=body, caught=None, final=(), orelse=orelse):
                self.region(body)  # ``finally: pass``
                self.region(orelse)
            case Try(
                body=body, caught=caught, handler=handler, orelse=orelse, final=final, span=span
            ):
                with write.block("try:", span):
                    self.region(body)
                if caught is not None:
                    every = self._names.of(BaseException, "BaseException")
                    with write.block(f"except {every} as {caught.name}:"):
                        begin = self._runtime_name("caught")
                        write.line(f"{begin}({self.record}, {caught.name})")
                        self.region(handler)
                self._else(orelse)
                if final:
                    with write.block("finally:"):
                        self._final(final)
            case For():
                with write.block(f"for {op.target.name} in {name(op.iterable)}:", op.span):
                    self.region(op.body)
                self._else(op.orelse)
            case While():
                self._while(op, ())
            case _:
                assert_never(op)

    def _final(self, region: Iterable[ForwardOp]) -> None:
        """Write the body of a ``finally``. One that leaves would hide a refusal by the library,
        which it was not written for."""
        if not _may_leave(region):
            self.region(region)
            return
        refusal = self._names.fresh("refusal")
        self._writer.line(f"{refusal} = {self._runtime_name('pending_refusal')}()")
        with self._writer.block("try:"):
            self.region(region)
        with self._writer.block("finally:"), self._writer.block(f"if {refusal} is not None:"):
            self._writer.line(f"raise {refusal}")

    def _else(self, region: Iterable[ForwardOp]) -> None:
        if region:
            with self._writer.block("else:"):
                self.region(region)

    # ---- loops -----------------------------------------------------------------------------------

    def _traced(self, op: Traced) -> None:
        self._loops += 1
        number = self._loops
        iterations = self._names.fresh(f"loop{number}")
        self._writer.line(f"{self.slot(op.slot)} = {iterations} = []", op.loop.span)
        record = self._names.fresh(f"rec{number}")
        self._records.append(record)
        blank = self._names.of(self._blanks(op.blank), f"blank{number}")
        preamble = (f"{record} = [{self._memory}, *{blank}]", f"{iterations}.append({record})")
        loop = op.loop
        if isinstance(loop, While):
            self._while(loop, preamble)
        else:
            iterable = self._names.operand(loop.iterable)
            if op.items is not None:
                iterate = self._names.of(self._runtime["iterate"], "iterate")
                made = "" if op.made is None else f", {op.made.index}"
                place = self.place(op.items)
                iterable = f"{iterate}({place}, {iterable}{made})"
            with self._writer.block(f"for {loop.target.name} in {iterable}:", loop.span):
                for line in preamble:
                    self._writer.line(line)
                self.region(loop.body)
        self._records.pop()
        if isinstance(loop, For):
            self._else(loop.orelse)

    def _while(self, loop: While, preamble: Iterable[str]) -> None:
        write, condition = self._writer, self._names.operand(loop.condition)
        done = self._names.fresh("done") if loop.orelse else None
        if done is not None:
            write.line(f"{done} = False", loop.span)
        with write.block("while True:", loop.span):
            for line in preamble:
                write.line(line)
            self.region(loop.test)
            if not (isinstance(loop.condition, Const) and loop.condition.value):
                with write.block(f"if not {condition}:", loop.span):
                    if done is not None:
                        write.line(f"{done} = True")
                    write.line("break")
            self.region(loop.body)
        if done is not None:
            # Written after the loop: a break in the else clause leaves the enclosing loop.
            records = self._records
            self._records = records[:-1] if preamble else records
            with write.block(f"if {done}:"):
                self.region(loop.orelse)
            self._records = records

    # ---- calls -----------------------------------------------------------------------------------

    def _runtime_name(self, name: str) -> str:
        return self._names.of(self._runtime[name], name)

    def _recorded_call(self, call: Call, slot: Slot) -> str:
        place = self.place(slot)
        operands = [self._names.operand(operand) for operand in call.operands]
        if call.keywords:
            texts = [f"{key!r}: {self._names.operand(value)}" for key, value in call.keywords]
            pairs = ", ".join(texts)
            if isinstance(call.callee, Const) and call.callee.value is primitives.call_method:
                owner, method, *operands = operands
                run, callee = self._runtime_name("method_keywords"), f"{owner}, {method}"
            else:
                run, callee = self._runtime_name("call_keywords"), self._callee(call.callee)
            return f"{run}({place}, {callee}, ({_listed(operands)}), {{{pairs}}})"
        known = self._entry(call)
        if known is not None:
            return f"{known}({', '.join([place, *operands])})"
        run = self._runtime_name(self._call_of(call))
        return f"{run}({', '.join([place, self._callee(call.callee), *operands])})"

    def _call_of(self, call: Call) -> str:
        """Return the name of the runtime function for a call. Functions may have a shorter rule for
        the case that one of two operands is active, or one that asks which are."""
        if not isinstance(call.callee, Const) and len(call.operands) == 2:
            left, right = map(self._is_active, call.operands)
            if left != right:
                return "call_left" if left else "call_right"
        return "call"

    def _entry(self, call: Call) -> str | None:
        """Return the name of the runtime function of a constant callee, ``None`` if it has none."""
        if type(call.callee) is not Const:
            return None
        callee, entry = call.callee.value, None
        if len(call.operands) == 2 and (callee, 0) in self._entries:
            left, right = map(self._is_active, call.operands)
            if left != right:
                entry = self._entries.get((callee, 0 if left else 1))
        if entry is None:
            entry = self._entries.get(callee)
        return None if entry is None else self._names.of(entry, entry.__name__)

    def _callee(self, callee: Operand) -> str:
        return self._names.operand(callee)

    def _unpack(self, op: Unpack, slot: Slot) -> str:
        place = self.place(slot)
        targets = _listed([target.name for target in op.targets]) or "()"
        value = self._names.operand(op.value)
        n = len(op.targets)
        if op.starred is None:
            return f"{targets} = {self._runtime_name('unpack')}({place}, {value}, {n})"
        after = n - op.starred - 1
        call = self._runtime_name("unpack_starred")
        return f"{targets} = {call}({place}, {value}, {op.starred}, {after})"

    def _plain_call(self, call: Call) -> str:
        operands = [self._names.operand(operand) for operand in call.operands]
        callee = call.callee.value if isinstance(call.callee, Const) else None
        if callee is primitives.current_globals:
            return self._names.of(self._namespace, "namespace")
        if callee in (operator.is_, operator.is_not):
            if not any(isinstance(operand, Const) for operand in call.operands):
                no = "not " if callee is operator.is_not else ""
                return f"{no}{self._runtime_name('is_same')}({', '.join(operands)})"
        if callee in TEMPLATES:
            return TEMPLATES[callee].format(*operands)
        if callee in CLASSES:
            made = CLASSES[callee]
            return f"{self._names.of(made, made.__name__)}({', '.join(operands)})"
        return f"{self._callee(call.callee)}({', '.join(operands)})"


def _listed(items: list[str]) -> str:
    return f"{items[0]}," if len(items) == 1 else ", ".join(items)


LONG = 20
"""The largest number of branches of an ``if`` that is written with nested ``else``."""


def _length(op: If) -> int:
    """Return the number of branches of ``if … elif … else``."""
    n = 1
    while op.orelse and isinstance(op.orelse[-1], If):
        n, op = n + 1, op.orelse[-1]
    return n


def _may_leave(region: Iterable[Any]) -> bool:
    """Return whether a region has a statement that leaves it, or a loop in it."""
    return any(
        isinstance(op, Break | Continue | Raise | Return)
        or any(map(_may_leave, regions(op.loop if isinstance(op, Traced) else op)))
        for op in region
    )
