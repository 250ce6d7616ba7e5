"""Programs as readable Python source.

A value that is used once is written at its place of use, as a part of a formula (`formulas`),
unless it is a named variable of user code. Each line of user code precedes its operations as a
comment.
"""

from __future__ import annotations

import linecache
import math
import operator
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from math import prod
from typing import Any, TypeGuard

import numpy as np

from adjoint.fast.evaluate.draft import LARGE
from adjoint.fast.evaluate.types import Array, Dim, Type
from adjoint.fast.evaluate.values import Origin
from adjoint.fast.single_assignment.walk import blocks, callee_of, operands, results, walk, walk_ops
from adjoint.fast.source.expression_text import ATOM, Formulas
from adjoint.fast.support import functions as runtime
from adjoint.fast.support import rows
from adjoint.fast.support.result_memory import OWN_MEMORY
from adjoint.ir.single import Block, Call, Const, If, Loop, Op, Operand, Unpack, Value

WIDTH = 92
"""Greatest length of a formula; a longer one becomes several statements."""

_PLAIN = frozenset({"t", "slope", "scale", "n", "parts", "shape", "steps", "index", "bars"})
"""Names of temporaries, which may be written inside a formula."""


class Writer(Formulas):
    """Write the source of one function.

    Attributes
    ----------
    lines
        What is written.
    origins
        For each line, the place that it belongs to, if that is known.
    origin
        That of the next line.
    """

    def __init__(
        self,
        types: dict[Value, Type],
        places: dict[Value, tuple[str, int]],
        origins: dict[Value, Origin],
        length_of: Callable[[Dim], int],
    ) -> None:
        super().__init__(types, length_of)
        self.places, self._origins = places, origins
        self.lines: list[str] = []
        self.origins: list[Origin | None] = []
        self.origin: Origin | None = None
        self._uses: Counter[Value] = Counter()
        self._handed_out: set[Value] = set()
        self._named: set[Value] = set()
        self._place: tuple[str, int] | None = None
        self._own: set[Value] = set()
        """Arrays that the present block has made, in memory of their own."""
        self._views: set[Value] = set()
        """Those of them that are views of others, which nothing else reads."""

    def line(self, text: str, depth: int) -> None:
        self.lines.append("    " * depth + text)
        self.origins.append(self.origin)

    def count(self, block: Block, more: Iterable[Operand] = ()) -> None:
        """Count the uses of each value; called before anything is written."""
        used: list[Operand] = []
        for op in walk(block):
            if type(op) is Call:
                is_plain = not op.keywords and type(op.callee) is Const
                used += op.operands if is_plain else operands(op)
                if op.result is None and op.operands:
                    target = op.operands[0]
                    if isinstance(target, Value):
                        self._named.add(target)  # the target of a write needs a name
                continue
            used += operands(op)
            for inner in blocks(op):
                ends = [x for x in inner.results or () if isinstance(x, Value)]
                self._handed_out.update(ends)
                used += ends
        ends = [x for x in more if isinstance(x, Value)]
        self._named.update(ends)
        self._uses.update([x for x in (*used, *ends) if type(x) is Value])

    def block(self, ops: Iterable[Op], depth: int, last: Mapping[Value, int] | None = None) -> None:
        """Write operations as statements; delete each array after the operation that `last`
        gives, those of one call in their order there."""
        going: list[Value] = []
        ends: dict[int, list[Value]] = {}
        for v, place in last.items() if last else ():
            ends.setdefault(place, []).append(v)
        around, self._own = self._own, set()
        for i, op in enumerate(ops):
            before = len(self.lines)
            self.origin = self._origin_of(op)
            self.statement(op, depth)
            if last:
                read = ends.get(i, ()) if type(op) is Call else self._read_by(op)
                going += [x for x in read if last.get(x) == i and x not in going]
                if going and len(self.lines) > before:
                    going = self._delete(going, depth)
        self._own = around

    def _origin_of(self, op: Op) -> Origin | None:
        """Return the place that an operation belongs to."""
        if type(op) is Call and op.result is not None:
            return self._origins.get(op.result)
        made = results(op) or operands(op)[::-1]
        found = (self._origins.get(v) for v in made if isinstance(v, Value))
        return next((place for place in found if place is not None), None)

    def _read_by(self, op: Op) -> list[Value]:
        read = (x for one in walk_ops((op,)) for x in operands(one))
        return list(dict.fromkeys([x for x in read if type(x) is Value]))

    def _delete(self, going: list[Value], depth: int) -> list[Value]:
        """Write ``del`` of arrays; return those that a pending formula still reads."""
        waiting = {word for text, _ in self._texts.values() for word in _words(text)}
        left: list[Value] = []
        names: list[Value] = []
        for v in going:
            if v in self._texts or v not in self._names:
                continue
            (left if self._names[v] in waiting else names).append(v)
        if names:
            self.line(f"del {', '.join(self._names[v] for v in names)}", depth)
        return left

    def _comment(self, v: Value | None, depth: int) -> None:
        place = self.places.get(v) if v is not None else None
        if place is None or place == self._place:
            return
        self._place = place
        text = linecache.getline(*place).strip()
        if text:
            self.line(f"# {text}", depth)

    def statement(self, op: Op, depth: int) -> None:
        if type(op) is Call:
            self._call_statement(op, depth)
            return
        match op:
            case Unpack():
                self.line(f"{self._targets(op.results)} = {self.text(op.value)}", depth)
            case If():
                self._if(op, depth)
            case Loop():
                self._loop(op, depth)
            case _:
                raise AssertionError("specialised programs do not raise by themselves")

    def _targets(self, values: tuple[Value, ...]) -> str:
        """Return the target list of an unpacking."""
        names = [self.name(v) if self._uses[v] else "_" for v in values]
        return ", ".join(names) + "," * (len(names) == 1)

    def _call_statement(self, op: Call, depth: int) -> None:
        assert isinstance(op.callee, Const)
        effect = _STATEMENTS.get(op.callee.value)
        if effect is not None:
            text = effect(self, op.operands)
            self.flush(depth)  # pending reads must precede the write
            self.line(text, depth)
            return
        v = op.result
        if v is None or not self._uses[v]:
            text, _ = self.call(op)
            self.flush(depth)
            self.line(text, depth)
            return
        if self._write_over(op, v, depth):
            return
        text, level = self.call(op)
        if op.callee.value in (
            rows.take_last,
            rows.take_first,
            runtime.draw,
            runtime.read_clock,
        ):  # pending reads must precede the write
            self.flush(depth)
            self.line(f"{self.name(v)} = {text}", depth)
            return
        if self._uses[v] == 1 and self._may_stand_inside(v) and len(text) <= WIDTH:
            self._texts[v] = text, level
            return
        self._comment(v, depth)
        self.line(f"{self.name(v)} = {text}", depth)

    def _write_over(self, op: Call, v: Value, depth: int) -> bool:
        """Write the result of arithmetic over a large operand that nothing else reads; return
        whether there is one."""
        t = self.types[v]
        if type(t) is not Array or v in self.ignored:
            return False
        f = callee_of(op)
        sign = _SIGNS.get(f)
        for i in range(0 if sign is None else 2 if sign in "+*" else 1):
            x = op.operands[i]
            if self._is_spare(x) and self.types[x] == t and self._is_large(t):
                other = self.text(op.operands[1 - i])
                self._comment(v, depth)
                if x in self._texts:
                    self.line(f"{self.name(v)} = {self.text(x)}", depth)
                else:
                    self._names[v] = self._names.pop(x)
                self.line(f"{self._names[v]} {sign}= {other}", depth)
                self._own.add(v)
                return True
        if f in _RESHAPING and self._is_read_once(op.operands[0]):
            self._own.add(v)
            self._views.add(v)
        elif f in OWN_MEMORY or (isinstance(f, np.ufunc) and len(op.operands) <= f.nin):
            self._own.add(v)
        return False

    def _is_large(self, t: Array) -> bool:
        return prod(map(self._length_of, t.shape)) >= LARGE

    def _is_read_once(self, x: Operand) -> TypeGuard[Value]:
        """Return whether the memory of an array is free after its next use."""
        return type(x) is Value and x in self._own and self._uses[x] == 1

    def _is_spare(self, x: Operand) -> TypeGuard[Value]:
        """Return whether an array is to be written over at its next use. In a formula, NumPy itself
        does so, but not with a view."""
        return self._is_read_once(x) and (x not in self._texts or x in self._views)

    def _may_stand_inside(self, v: Value) -> bool:
        """Return whether a value that is used once may be written at its place of use: it is a
        temporary, or gets another name there."""
        if v in self._named:
            return False
        return v.name in _PLAIN or v in self._handed_out or v.name.endswith(("_bar", "_dot", "_T"))

    def flush(self, depth: int) -> None:
        """Write pending values as statements: an inner block might evaluate them repeatedly."""
        for v, (text, _) in list(self._texts.items()):
            self.line(f"{self.name(v)} = {text}", depth)
        self._texts.clear()

    def _if(self, op: If, depth: int) -> None:
        condition = self.text(op.condition)
        self.flush(depth)
        body, orelse = op.body, op.orelse
        if not _is_empty(body, op):
            self.line(f"if {condition}:", depth)
            self._branch(op, body, depth + 1)
            if not _is_empty(orelse, op):
                self.line("else:", depth)
                self._branch(op, orelse, depth + 1)
        elif not _is_empty(orelse, op):
            self.line(f"if not ({condition}):", depth)
            self._branch(op, orelse, depth + 1)
        self._place = None

    def _branch(self, op: If, block: Block, depth: int) -> None:
        before = len(self.lines)
        self._place = None
        self.block(block.ops, depth)
        self.flush_results(block, op.results, depth)
        if len(self.lines) == before:
            self.line("pass", depth)

    def flush_results(self, block: Block, targets: tuple[Value, ...], depth: int) -> None:
        """Assign the results of a block to the names of `targets`."""
        if block.results is None:
            self.flush(depth)
            return
        pairs = [
            (self.name(v), self.text(x))
            for v, x in zip(targets, block.results, strict=True)
            if self._uses[v]
        ]
        self.flush(depth)
        self.assign(pairs, depth)

    def assign(self, pairs: list[tuple[str, str]], depth: int) -> None:
        """Write simultaneous assignments."""
        pairs = [(target, text) for target, text in pairs if target != text]
        written: set[str] = set()
        for target, text in pairs:
            if not written.isdisjoint(_words(text)):
                targets = ", ".join(t for t, _ in pairs)
                self.line(f"{targets} = {', '.join(text for _, text in pairs)}", depth)
                return
            written.add(target)
        for target, text in pairs:
            self.line(f"{target} = {text}", depth)

    def _loop(self, op: Loop, depth: int) -> None:
        carried = op.results[op.stops :]
        parameters = op.body.parameters[len(op.body.parameters) - len(carried) :]
        for i, (result, p) in enumerate(zip(carried, parameters, strict=True)):
            shared = self.new_name(p.name)
            self._names[result] = self._names[p] = shared
            if op.test is not None:
                self._names[op.test.parameters[i]] = shared
        iterable = None if op.iterable is None else self.text(op.iterable)
        starts = [(self.name(p), self.text(x)) for p, x in zip(parameters, op.initial, strict=True)]
        self.flush(depth)
        self.assign(starts, depth)
        done = self.name(op.results[0]) if op.stops and self._uses[op.results[0]] else None
        tested_inside = False
        first = op.body.ops[0] if op.body.ops else None
        ops = op.body.ops
        if iterable is not None:
            item = op.body.parameters[0]
            if isinstance(first, Unpack) and first.value is item and self._uses[item] == 1:
                target = self._targets(first.results)
                ops = ops[1:]
            else:
                target = self.name(item) if self._uses[item] else "_"
            self.line(f"for {target} in {iterable}:", depth)
        else:
            assert op.test is not None
            tested_inside = self._while_head(op.test, depth, done)
        self._place = None
        before = len(self.lines)
        self.block(ops, depth + 1)
        self._loop_end(op, parameters, depth + 1, done)
        if len(self.lines) == before:
            self.line("pass", depth + 1)
        if done is not None and not tested_inside:
            self.line("else:", depth)
            self.line(f"{done} = True", depth + 1)
        self._place = None

    def _while_head(self, test: Block, depth: int, done: str | None) -> bool:
        """Write the test of a loop, and assign `done` where the test ends the loop.

        Return whether the test is inside the body, so that the loop needs no ``else``.
        """
        before = len(self.lines)
        self.line("while True:", depth)
        self.block(test.ops, depth + 1)
        assert test.results is not None
        condition = self.text(test.results[0])
        self.flush(depth + 1)
        if len(self.lines) == before + 1:
            self.lines[before] = "    " * depth + f"while {condition}:"
            return False
        self.line(f"if not ({condition}):", depth + 1)
        if done is not None:
            self.line(f"{done} = True", depth + 2)
        self.line("break", depth + 2)
        return True

    def _loop_end(
        self, op: Loop, parameters: tuple[Value, ...], depth: int, done: str | None
    ) -> None:
        results = op.body.results
        assert results is not None
        after = results[op.stops :]
        for x in after:
            if x in self._texts:
                self._comment(x, depth)
                break
        pairs = [(self.name(p), self.text(x)) for p, x in zip(parameters, after, strict=True)]
        on = self.text(results[0]) if op.stops else None
        self.flush(depth)
        if on is not None and any(on == target for target, _ in pairs):
            raise AssertionError("the flag of a loop is none of what it carries")
        self.assign(pairs, depth)
        if on is not None:
            self.line(f"if not ({on}):", depth)
            if done is not None:
                self.line(f"{done} = False", depth + 1)
            self.line("break", depth + 1)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def _is_empty(block: Block, op: If) -> bool:
    return not block.ops and not op.results


def _demand_finite(w: Writer, total: str) -> str:
    is_finite = w.member("math.isfinite", math.isfinite)
    return f"if not {is_finite}({total}): {w.function(runtime.demand_finite)}({total})"


_SIGNS = {operator.add: "+", operator.sub: "-", operator.mul: "*", operator.truediv: "/"}
_RESHAPING = (np.reshape, np.ndarray.reshape)

# ---- operations that are statements --------------------------------------------------------------

_STATEMENTS: dict[Any, Callable[[Writer, tuple[Operand, ...]], str]] = {
    runtime.add_to: lambda w, xs: f"{w.text(xs[0])} += {w.text(xs[1])}",
    runtime.add_at: lambda w, xs: f"{w.item(xs[0], xs[1])} += {w.text(xs[2])}",
    runtime.add_part: lambda w, xs: f"{w.item(xs[0], xs[1])} += {w.text(xs[2])}",
    runtime.put: lambda w, xs: f"{w.item(xs[0], xs[1])} = {w.text(xs[2])}",
    runtime.put_broadcast: lambda w, xs: f"{w.item(xs[0], xs[1])} = {w.text(xs[2])}",
    rows.put_item: lambda w, xs: f"{w.item(xs[0], xs[1])} = {w.text(xs[2])}",
    rows.append: lambda w, xs: f"{w.text(xs[0], ATOM)}.append({w.text(xs[1])})",
    rows.put_first: lambda w, xs: f"{w.text(xs[0], ATOM)}.insert(0, {w.text(xs[1])})",
    runtime.clear: lambda w, xs: f"{w.item(xs[0], xs[1])} = 0",
    runtime.subtract_from: lambda w, xs: f"{w.text(xs[0])} -= {w.text(xs[1])}",
    runtime.scale: lambda w, xs: f"{w.text(xs[0])} *= {w.text(xs[1])}",
    runtime.divide: lambda w, xs: f"{w.text(xs[0])} /= {w.text(xs[1])}",
    runtime.scatter: lambda w, xs: (
        f"{w.member('np.add', np.add)}.at({w.text(xs[0])}, {w.text(xs[1])}, {w.text(xs[2])})"
    ),
    runtime.push: lambda w, xs: (
        f"{w.text(xs[0], ATOM)}.append({w.text(xs[1])})"
        if len(xs) == 2
        else f"{w.text(xs[0])} += ({', '.join(w.text(x) for x in xs[1:])})"
    ),
    runtime.demand_finite: lambda w, xs: _demand_finite(w, " + ".join(map(w.text, xs))),
    runtime.demand_quiet_underflow: lambda w, xs: f"{w.function(runtime.demand_quiet_underflow)}()",
    runtime.leave: lambda w, xs: f"{w.function(runtime.leave)}({', '.join(map(w.text, xs))})",
}
