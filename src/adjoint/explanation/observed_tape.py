"""A tape that is watched: each operation as it runs, and its cotangents as they pass.

It computes what `adjoint.levels.tape` computes. Each function that it puts on the tape is run with
a stand-in for the sweep, which notes what the function takes and what it adds.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable, Iterator
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np

from adjoint.cotangents.poison import Poison
from adjoint.diagnostics.generated_code import place_of, unit_behind, walk_stack
from adjoint.diagnostics.user_place import is_library_file
from adjoint.explanation import loops
from adjoint.explanation.events import (
    MOST_CALLS,
    MOST_EVENTS,
    Added,
    Bad,
    Call,
    Event,
    Input,
    Operand,
    Path,
    Taken,
)
from adjoint.explanation.local_derivative import local_derivatives, product_with
from adjoint.explanation.loops import ObservedUnit
from adjoint.explanation.source_text import labels_in, text_at
from adjoint.explanation.value_text import Snapshot, is_finite, is_number, snapshot
from adjoint.explanation.watch import Node, Watch
from adjoint.ir.nodes import Span
from adjoint.levels.other_names import others
from adjoint.levels.sweep import Sweep
from adjoint.levels.tape import Tape
from adjoint.levels.units import call_unit
from adjoint.primal.array_memory import root_of
from adjoint.primal.value_kinds import by_value
from adjoint.rulekit.projection import SEQUENCES
from adjoint.rulekit.registry import Rules
from adjoint.runtime.dispatch.linked import DECLINED

JOURNAL_BYTES = 64 << 20
"""The memory for what operations add to the cotangents of inputs."""
Where = tuple[Call, int, Span | None, Path]


class ObservedTape(Tape):
    """A tape that keeps what happens on it.

    Attributes
    ----------
    events, calls
        In the order of the run.
    inputs
        The numbers and arrays in the arguments.
    journal
        What the sweep does to the cotangents of inputs, in its order; ``None`` if it is not kept.
    why_no_journal
        The reason.
    bad
        The first place in the sweep where something not finite arises out of finite numbers.
    """

    def __init__(self) -> None:
        super().__init__(None)
        self.calls: list[Call] = [Call(0, None, None)]
        self.events: list[Event] = []
        self.inputs: list[Input] = []
        self.journal: list[Added | Taken] | None = []
        self.bad: Bad | None = None
        self.why_no_journal: str = ""
        self._bytes = 0
        self._steps: dict[int, list[Added | Taken]] | None = None
        self._top = self.calls[0]
        self._generators: dict[tuple[int, int], Call] = {}
        self._makers: dict[int, int] = {}
        self._input_keys: set[int] = set()
        self._is_pointwise = False

    # ---- inputs ----------------------------------------------------------------------------------

    def set_inputs(self, inputs: list[Input]) -> None:
        """Tell the numbers and arrays that the arguments hold on this level."""
        self.inputs = inputs
        for i, one in enumerate(inputs):
            key = self.key(one.value)
            if key in self._input_keys:
                self._makers.pop(key, None)  # one memory, two names: no telling which is meant
            else:
                self._makers[key] = -1 - i
            self._input_keys.add(key)

    def maker_of(self, value: Any) -> int | None:
        """Return the number of the operation, or -1 - i of the input, that a value comes from."""
        return self._makers.get(self.key(value))

    def key(self, value: Any) -> int:
        """Return what identifies a number, or the memory of an array."""
        return id(self.same.of(root_of(value))) if isinstance(value, np.ndarray) else id(value)

    def is_input(self, value: Any) -> bool:
        """Return whether a value is an input or shares its memory."""
        return self.key(value) in self._input_keys

    # ---- calls and loops -------------------------------------------------------------------------

    def known_unit(self, f: FunctionType) -> Any:
        return loops.known_unit(f)

    def unit_of(self, f: FunctionType) -> Any:
        return loops.unit_of(f)

    def call_unit(
        self, unit: Any, f: FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        if type(unit) is not ObservedUnit:
            unit = loops.unit_of(f)
        if is_library_file(unit.function.filename) or unit.function.is_generator:
            return call_unit(self.memory, unit, f, args, kwargs)
        before = self._top
        self._top = self._new_call(unit, f)
        try:
            return call_unit(self.memory, unit, f, args, kwargs)
        finally:
            self._top = before

    def _new_call(self, unit: Any, f: Any) -> Call:
        parent, line, _, path = self._where()
        return self._added(Call(len(self.calls), unit, parent, f, line, path))

    def _added(self, call: Call) -> Call:
        call.is_kept = call.number <= MOST_CALLS
        if call.is_kept:
            self.calls.append(call)
        return call

    def begin_iteration(self, unit: Any, line: int) -> None:
        """Note that the innermost loop around a line of generated code begins an iteration."""
        call, inner = self._call_of(unit), unit.around(line)[-1]
        for i in [*call.counts]:
            if i != inner and unit.loops[inner].holds(unit.loops[i].first):
                del call.counts[i]
        call.counts[inner] = call.counts.get(inner, 0) + 1

    def _call_of(self, unit: Any) -> Call:
        """Return the call that code runs for. A generator runs inside whoever resumes it."""
        top = self._top
        if top.code is unit.function.code:
            return top
        key = top.number, id(unit.function.code)
        if key not in self._generators:
            self._generators[key] = self._added(Call(len(self.calls), unit, top))
        return self._generators[key]

    def _where(self) -> Where:
        """Return the innermost place in user code."""
        for frame, line in walk_stack(sys._getframe(1)):
            unit = unit_behind(frame.f_code)
            if type(unit) is not ObservedUnit or is_library_file(unit.function.filename):
                continue
            call = self._call_of(unit)
            path = tuple((i, call.counts.get(i, 0)) for i in unit.around(line))
            found = place_of(frame.f_code, line)
            span = None if found is None else found[1]
            return call, 0 if span is None else span.line, span, path
        return self.calls[0], 0, None, ()

    # ---- operations ------------------------------------------------------------------------------

    def apply(
        self,
        record: Any,
        slot: int,
        f: Any,
        rules: Rules,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        operands = (*args, *kwargs.values())
        self._is_pointwise = False
        run = partial(super().apply, record, slot, f, rules, args, kwargs)
        return self._observed("call", f, operands, run)

    def _pointwise(self, f: Any, rules: Rules, slopes: Any, args: tuple[Any, ...]) -> Any:
        y = super()._pointwise(f, rules, slopes, args)
        self._is_pointwise = y is not DECLINED
        return y

    def read(self, x: Any, index: Any) -> Any:
        return self._observed("read", None, (x,), partial(super().read, x, index))

    def write(self, x: Any, index: Any, value: Any, *, alone: bool = False) -> None:
        run = partial(super().write, x, index, value, alone=alone)
        names = (x, *others(self, x))  # one memory, as several arguments
        self._observed("write", None, (value, x), run, result=x, written=names)

    def reshaped(self, x: Any, old: tuple[int, ...]) -> None:
        super().reshaped(x, old)
        if self.is_input(x):  # an index means another element from here on
            self._drop_journal("the shape of an input is assigned")

    def take_over(self, new: Any, old: Any) -> None:
        self._observed("other", None, (old,), partial(super().take_over, new, old), result=new)

    def hooked(self, on_cotangent: Any, x: Any) -> Any:
        return self._observed("other", None, (x,), partial(super().hooked, on_cotangent, x))

    def _observed(
        self,
        form: str,
        callee: Any,
        operands: tuple[Any, ...],
        run: Callable[[], Any],
        result: Any = None,
        written: tuple[Any, ...] = (),
    ) -> Any:
        """Run an operation; if it is put on the tape, note it."""
        first = len(self.nodes)
        y = run()
        if len(self.nodes) > first:
            if form == "call" and self._is_pointwise:
                form = "elementwise"
            value = y if result is None else result
            event = self._event(form, callee, operands, value)
            self._made(event, (value, *written))
            for i in range(first, len(self.nodes)):
                self.nodes[i] = partial(self._swept, event, operands, value, self.nodes[i])
        return y

    def _event(self, form: str, callee: Any, operands: tuple[Any, ...], y: Any) -> Event:
        call, line, span, path = self._where()
        number = len(self.events)
        event = Event(number, call, line, span, path, _name(form, callee), callee, form)
        event.is_finite = is_finite(y)
        event.is_kept = number < MOST_EVENTS and call.is_kept
        self.events.append(event)
        if event.is_kept:
            event.text = _text(form, call.filename, span) or event.name
            labels = labels_in(event.text, len(operands))
            labels = ("value", "the rest") if form == "write" else labels
            event.operands = [
                Operand(label, snapshot(x), self._sources(x))
                for label, x in zip(labels, operands, strict=True)
            ]
            event.value = snapshot(y)
        return event

    def _made(self, event: Event, results: tuple[Any, ...]) -> None:
        for part in filter(self.is_active, _leaves(results)):  # others have no identity
            if event.is_kept:
                self._makers[self.key(part)] = event.number
            else:
                self._makers.pop(self.key(part), None)

    def _sources(self, operand: Any) -> tuple[int, ...]:
        parts = filter(self.is_active, _leaves(operand))
        found = (self._makers.get(self.key(part)) for part in parts)
        return tuple(dict.fromkeys(one for one in found if one is not None))

    # ---- the sweep -------------------------------------------------------------------------------

    def _swept(
        self, event: Event, operands: tuple[Any, ...], y: Any, node: Node, sweep: Sweep
    ) -> None:
        """Run what an operation put on the tape, and note the cotangents."""
        watch = Watch(self, event, operands, sweep)
        locals_: list[Snapshot | None] = []
        if event.is_kept and event.form in ("call", "elementwise"):
            locals_ = local_derivatives(event.form, operands, y, node, sweep)
        node(watch)  # type: ignore[arg-type]
        if watch.taken is None:
            return
        if self.bad is None and is_finite(watch.taken) and not watch.gives_finite:
            self.bad = Bad("cotangents", event, "the cotangent of the result is finite")
        if event.is_kept:
            event.bar = snapshot(watch.taken)
            for i, operand in enumerate(event.operands):
                if i in watch.bars:
                    operand.bar = snapshot(watch.bars[i])
                    operand.local = locals_[i] if i < len(locals_) else None
                    if operand.local is None and event.form == "call" and not is_number(y):
                        operand.local = product_with(y, operands[i], operand.bar)

    def steps_of(self, value: Any) -> list[Added | Taken]:
        """Return what the sweep has done to the cotangent of an input and its memory."""
        if self._steps is None:
            self._steps = {}
            for step in self.journal or ():
                self._steps.setdefault(self.key(step.value), []).append(step)
        return self._steps.get(self.key(value), [])

    def note_added(self, event: Event | None, value: Any, index: Any, bar: Any) -> None:
        """Note that the cotangent of ``value[index]`` grows by `bar`."""
        if self.journal is None or type(bar) is Poison or not self.is_input(value):
            return
        self._bytes += getattr(bar, "nbytes", 64)
        if self._bytes > JOURNAL_BYTES:
            self._drop_journal("what lines add to large arrays is too much to keep")
        else:
            copied = np.array(bar) if isinstance(bar, np.ndarray) else bar
            self.journal.append(Added(event, value, index, copied))

    def _drop_journal(self, why: str) -> None:
        self.journal, self.why_no_journal = None, why

    def note_taken(self, value: Any, index: Any) -> None:
        """Note that the cotangent of ``value[index]`` is taken away."""
        if self.journal is not None and isinstance(value, np.ndarray) and self.is_input(value):
            self.journal.append(Taken(value, index))


def _name(form: str, callee: Any) -> str:
    if callee is None:
        return {"read": "read", "write": "write"}.get(form, "copy")
    name = str(getattr(callee, "__name__", type(callee).__name__))
    return {"total": "sum", "chosen": "best"}.get(name, name).strip("_")


def _text(form: str, filename: str, span: Span | None) -> str:
    """Return what the user wrote: of a write the whole line, which names the value."""
    if form == "write" and span is not None:
        return linecache.getline(filename, span.line).strip()
    return text_at(filename, span)


def _leaves(value: Any) -> Iterator[Any]:
    """Yield the numbers and arrays in a value, or in a list or tuple."""
    if isinstance(value, SEQUENCES):
        for part in value:
            yield from _leaves(part)
    elif by_value(value):
        yield value
