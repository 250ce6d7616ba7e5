"""Specialised programs as Python source: what a person would have written by hand.

Values that are used once are written where they are used, as parts of a formula, unless the user
gave them a name. The user's line stands as a comment above what it became.
"""

from __future__ import annotations

import builtins
import cmath
import keyword
import linecache
import math
import operator
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from adjoint.fast import runtime
from adjoint.fast.evaluate.types import Array, Type
from adjoint.fast.single.primitives import same
from adjoint.fast.single.walk import blocks, operands, walk
from adjoint.ir import primitives
from adjoint.ir.single import Block, Call, Const, If, Loop, Op, Operand, Raise, Unpack, Value

__all__ = ["Writer"]

WIDTH = 92
"""A longer formula is broken into several statements."""

_INFIX: dict[Any, tuple[str, int]] = {
    operator.add: ("+", 11),
    operator.sub: ("-", 11),
    operator.mul: ("*", 12),
    operator.truediv: ("/", 12),
    operator.floordiv: ("//", 12),
    operator.mod: ("%", 12),
    operator.matmul: ("@", 12),
    operator.pow: ("**", 14),
    operator.lshift: ("<<", 10),
    operator.rshift: (">>", 10),
    operator.and_: ("&", 9),
    operator.xor: ("^", 8),
    operator.or_: ("|", 7),
    operator.eq: ("==", 6),
    operator.ne: ("!=", 6),
    operator.lt: ("<", 6),
    operator.le: ("<=", 6),
    operator.gt: (">", 6),
    operator.ge: (">=", 6),
    operator.is_: ("is", 6),
    operator.is_not: ("is not", 6),
}
_PREFIX: dict[Any, tuple[str, int]] = {
    operator.neg: ("-", 13),
    operator.pos: ("+", 13),
    operator.invert: ("~", 13),
    operator.not_: ("not ", 5),
}
ATOM = 20
_PLAIN = frozenset({"t", "slope", "scale", "n", "parts", "shape", "steps", "index", "bars"})
"""Names of values that nobody named: they may stand inside a formula."""


class Writer:
    """Writes the source of one function.

    Attributes
    ----------
    bound
        What the names in the source stand for that are not Python's.
    """

    def __init__(self, types: dict[Value, Type], places: dict[Value, tuple[str, int]]) -> None:
        self.types, self.places = types, places
        self.bound: dict[str, Any] = {"np": np, "math": math}
        self.lines: list[str] = []
        self._names: dict[Value, str] = {}
        self._taken: set[str] = {"_", "np", "math", *keyword.kwlist, *dir(builtins)}
        self._numbers: dict[str, int] = {}
        self._texts: dict[Value, tuple[str, int]] = {}
        self._uses: Counter[Value] = Counter()
        self._handed_out: set[Value] = set()
        self._kept: set[Value] = set()
        self._place: tuple[str, int] | None = None
        self._constants: dict[int, str] = {}

    # ---- names -----------------------------------------------------------------------------------

    def name(self, v: Value) -> str:
        """The name of a value in the source."""
        if v not in self._names:
            self._names[v] = self.new_name(v.name)
        return self._names[v]

    def new_name(self, base: str) -> str:
        base = "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in base) or "t"
        if base[0].isdigit():
            base = f"t{base}"
        made, number = base, self._numbers.get(base, 2)
        while made in self._taken:
            made, number = f"{base}_{number}", number + 1
        self._numbers[base] = number
        self._taken.add(made)
        return made

    def bind(self, value: Any, name: str) -> str:
        """A name for an object."""
        known = self._constants.get(id(value))
        if known is None:
            known = self._constants[id(value)] = self.new_name(name)
            self.bound[known] = value
        return known

    # ---- operands --------------------------------------------------------------------------------

    def text(self, x: Operand, above: int = 0) -> str:
        """An operand in a place that binds as tightly as `above`."""
        found, level = self._texts.pop(x, (None, ATOM)) if isinstance(x, Value) else (None, ATOM)
        if found is None:
            if isinstance(x, Value):
                found = self.name(x)
            else:
                assert isinstance(x, Const)
                found, level = self.constant(x.value)
        return f"({found})" if level < above else found

    def constant(self, value: Any) -> tuple[str, int]:
        if value is None or value is Ellipsis or isinstance(value, bool | str):
            return "..." if value is Ellipsis else repr(value), ATOM
        if type(value) in (int, float) and math.isfinite(value):
            text = repr(value)
            return text, 13 if text.startswith("-") else ATOM
        if type(value) is complex and cmath.isfinite(value):
            return _complex(value)
        if type(value) is tuple:
            inner = [self.constant(x)[0] for x in value]
            return f"({', '.join(inner)}{',' if len(inner) == 1 else ''})", ATOM
        if type(value) is list:
            return f"[{', '.join(self.constant(x)[0] for x in value)}]", ATOM
        if isinstance(value, slice):
            ends = ", ".join(self.constant(x)[0] for x in (value.start, value.stop, value.step))
            return f"slice({ends})", ATOM
        if isinstance(value, np.dtype) and value.isbuiltin == 1:  # nothing but its type
            value = value.type
        if isinstance(value, type) and issubclass(value, np.generic):
            return f"np.{value.__name__}", ATOM
        if isinstance(value, float):
            return f'float("{value!r}")', ATOM
        return self.bind(value, getattr(value, "__name__", type(value).__name__)), ATOM

    # ---- calls -----------------------------------------------------------------------------------

    def call(self, op: Call) -> tuple[str, int]:
        """The text of a call, and how tightly it binds."""
        assert isinstance(op.callee, Const)
        f, xs = op.callee.value, op.operands
        if f in _INFIX and len(xs) == 2:
            sign, level = _INFIX[f]
            right = level if f is operator.pow else level + 1
            left = level + 1 if f is operator.pow or level == 6 else level
            return f"{self.text(xs[0], left)} {sign} {self.text(xs[1], right)}", level
        if f in _PREFIX:
            sign, level = _PREFIX[f]
            return f"{sign}{self.text(xs[0], level)}", level
        special = _SPECIAL.get(f)
        if special is not None:
            made = special(self, *xs, **dict(op.keywords))
            if made is not None:
                return made
        if getattr(f, "__objclass__", None) is np.ndarray:
            name = getattr(f, "__name__")  # noqa: B009
            return f"{self.text(xs[0], ATOM)}.{name}({self.arguments(op, 1)})", ATOM
        return f"{self.function(f)}({self.arguments(op, 0)})", ATOM

    def method(
        self, name: str, x: Operand, args: tuple[Operand, ...], options: dict[str, Operand]
    ) -> tuple[str, int] | None:
        """``x.name(...)``, which takes less time than NumPy's function, if `x` is an array."""
        if not isinstance(x, Value) or not isinstance(self.types.get(x), Array):
            return None
        owner = self.text(x, ATOM)
        given = [self.text(a) for a in args] + [f"{k}={self.text(v)}" for k, v in options.items()]
        return f"{owner}.{name}({', '.join(given)})", ATOM

    def arguments(self, op: Call, first: int) -> str:
        named = [f"{name}={self.text(x)}" for name, x in op.keywords]
        return ", ".join([*(self.text(x) for x in op.operands[first:]), *named])

    def function(self, f: Any) -> str:
        name = getattr(f, "__name__", "rule")
        if getattr(math, name, None) is f:
            return f"math.{name}"
        if getattr(cmath, name, None) is f:
            return f"{self.bind(cmath, 'cmath')}.{name}"
        if getattr(np, name, None) is f:
            return f"np.{name}"
        if getattr(np.linalg, name, None) is f:
            return f"np.linalg.{name}"
        if getattr(builtins, name, None) is f:
            return str(name)
        return self.bind(f, name if name.isidentifier() else "rule")

    def item(self, x: Operand, index: Operand) -> str:
        """``x[index]``"""
        return f"{self.text(x, ATOM)}[{self._index(index)}]"

    def _index(self, index: Operand) -> str:
        if isinstance(index, Const):
            return self._known_index(index.value)
        text = self.text(index)
        if text.startswith("(") and text.endswith(")") and text.count("(") == 1:
            return text[1:-1].removesuffix(",") or "()"
        return text

    def _known_index(self, value: Any) -> str:
        if isinstance(value, slice):
            start, stop, step = (
                "" if x is None else self.constant(x)[0]
                for x in (value.start, value.stop, value.step)
            )
            return f"{start}:{stop}" + (f":{step}" if step else "")
        if isinstance(value, tuple):
            return ", ".join(self._known_index(x) for x in value) or "()"
        return self.constant(value)[0]

    # ---- statements ------------------------------------------------------------------------------

    def line(self, text: str, depth: int) -> None:
        self.lines.append("    " * depth + text)

    def count(self, block: Block, more: Iterable[Operand] = ()) -> None:
        """Count how often each value is used, before anything is written."""
        for op in walk(block):
            if isinstance(op, Call) and op.result is None and op.operands:
                target = op.operands[0]
                if isinstance(target, Value):
                    self._kept.add(target)  # what is written to has a name
            self._uses.update(x for x in operands(op) if isinstance(x, Value))
            for inner in _blocks_with_results(op):
                for x in inner.results or ():
                    if isinstance(x, Value):
                        self._uses[x] += 1
                        self._handed_out.add(x)
        ends = [x for x in more if isinstance(x, Value)]
        self._kept.update(ends)
        self._uses.update(ends)

    def block(self, ops: Iterable[Op], depth: int, last: Mapping[Value, int] | None = None) -> None:
        """Write operations as statements; `last` says after which of them an array is deleted."""
        going: list[Value] = []
        for i, op in enumerate(ops):
            before = len(self.lines)
            self.statement(op, depth)
            if last:
                going += [x for x in self._read_by(op) if last.get(x) == i and x not in going]
                if len(self.lines) > before:
                    going = self._delete(going, depth)

    def _read_by(self, op: Op) -> list[Value]:
        inner = [x for block in blocks(op) for one in walk(block) for x in operands(one)]
        found = [x for x in (*operands(op), *inner) if isinstance(x, Value)]
        return list(dict.fromkeys(found))

    def _delete(self, going: list[Value], depth: int) -> list[Value]:
        """Let arrays go that nothing reads any more; those that a formula still waits for stay."""
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
        match op:
            case Call():
                self._call_statement(op, depth)
            case Unpack():
                self.line(f"{self._targets(op.results)} = {self.text(op.value)}", depth)
            case If():
                self._if(op, depth)
            case Loop():
                self._loop(op, depth)
            case Raise():
                raise AssertionError("specialised programs do not raise by themselves")

    def _targets(self, values: tuple[Value, ...]) -> str:
        """What several values are unpacked into."""
        names = [self.name(v) if self._uses[v] else "_" for v in values]
        return ", ".join(names) + "," * (len(names) == 1)

    def _call_statement(self, op: Call, depth: int) -> None:
        assert isinstance(op.callee, Const)
        effect = _STATEMENTS.get(op.callee.value)
        if effect is not None:
            text = effect(self, op.operands)
            self.flush(depth)  # what is read before the write is computed before it
            self.line(text, depth)
            return
        v = op.result
        if v is None or not self._uses[v]:
            text, _ = self.call(op)
            self.flush(depth)
            self.line(text, depth)
            return
        text, level = self.call(op)
        if op.callee.value is runtime.take_last:  # what is read before is computed before
            self.flush(depth)
            self.line(f"{self.name(v)} = {text}", depth)
            return
        if self._uses[v] == 1 and self._may_stand_inside(v) and len(text) <= WIDTH:
            self._texts[v] = text, level
            return
        self._comment(v, depth)
        self.line(f"{self.name(v)} = {text}", depth)

    def _may_stand_inside(self, v: Value) -> bool:
        """Whether a value that is used once is written there: it has no name of its own, or gets
        another one there."""
        if v in self._kept:
            return False
        return v.name in _PLAIN or v in self._handed_out or v.name.endswith(("_bar", "_T"))

    def flush(self, depth: int) -> None:
        """Write what waits for its use: an inner block must not evaluate it more than once."""
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
        """Give the results of a block the names under which they are known after it."""
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
        """Several assignments that happen at once."""
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
        """Write the test of a loop; whether it stands inside, so that the loop has no ``else``.

        `done` is the variable that says whether the loop was left by its test.
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


def _complex(z: complex) -> tuple[str, int]:
    """A complex constant, in which zeros keep their signs."""
    if any(not part and math.copysign(1.0, part) < 0 for part in (z.real, z.imag)):
        return f"complex({z.real!r}, {z.imag!r})", ATOM
    if not z.real and z.imag >= 0:
        return repr(z), ATOM
    return f"{z.real!r} {'-' if z.imag < 0 else '+'} {complex(0.0, abs(z.imag))!r}", 11


def _words(text: str) -> Iterable[str]:
    word = ""
    for c in text + " ":
        if c.isalnum() or c == "_":
            word += c
        elif word:
            yield word
            word = ""


def _blocks_with_results(op: Op) -> tuple[Block, ...]:
    match op:
        case If():
            return op.body, op.orelse
        case Loop(test=None):
            return (op.body,)
        case Loop():
            return (op.body, op.test)  # type: ignore[return-value]
    return ()


def _is_empty(block: Block, op: If) -> bool:
    return not block.ops and not op.results


def _zip_of_one(w: Writer, xs: tuple[Operand, ...]) -> tuple[str, int] | None:
    """``zip`` of one iterator, so many times."""
    if len(xs) < 4 or len(set(xs)) > 1:
        return None
    return f"zip(*[{w.text(xs[0])}] * {len(xs)})", ATOM


# ---- calls that are written in another way -------------------------------------------------------

_SPECIAL: dict[Any, Callable[..., tuple[str, int] | None]] = {
    operator.getitem: lambda w, x, i: (w.item(x, i), ATOM),
    same: lambda w, x: (w.text(x), ATOM),
    operator.truth: lambda w, x: (f"bool({w.text(x)})", ATOM),
    operator.abs: lambda w, x: (f"abs({w.text(x)})", ATOM),
    operator.call: lambda w, f, *xs: (
        f"{w.text(f, ATOM)}({', '.join(w.text(x) for x in xs)})",
        ATOM,
    ),
    np.sum: lambda w, x, *axis, **options: w.method("sum", x, axis, options),
    np.mean: lambda w, x, *axis, **options: w.method("mean", x, axis, options),
    np.max: lambda w, x, *axis, **options: w.method("max", x, axis, options),
    np.min: lambda w, x, *axis, **options: w.method("min", x, axis, options),
    np.transpose: lambda w, x, *axes: None if axes else (f"{w.text(x, ATOM)}.T", ATOM),
    np.reshape: lambda w, x, shape: (f"{w.text(x, ATOM)}.reshape({w.text(shape)})", ATOM),
    runtime.where_run: lambda w, x, steps: (f"{w.text(x, 1)} if {w.text(steps)} else None", 0),
    runtime.length: lambda w, x, axis: (f"{w.text(x, ATOM)}.shape[{w.text(axis)}]", ATOM),
    runtime.shape_of: lambda w, x: (f"{w.text(x, ATOM)}.shape", ATOM),
    runtime.real_part: lambda w, x: (f"{w.text(x, ATOM)}.real", ATOM),
    runtime.imaginary_part: lambda w, x: (f"{w.text(x, ATOM)}.imag", ATOM),
    runtime.conjugate: lambda w, x: (f"{w.text(x, ATOM)}.conjugate()", ATOM),
    runtime.new_tape: lambda w: ("[]", ATOM),
    runtime.sum_of: lambda w, *xs: (f"sum({', '.join(w.text(x) for x in xs)})", ATOM),
    runtime.sum_of_these: lambda w, *xs: (f"sum(({', '.join(w.text(x) for x in xs)}))", ATOM),
    runtime.exactly: lambda w, total, found: (w.text(found), ATOM),
    zip: lambda w, *xs: _zip_of_one(w, xs),
    runtime.item: lambda w, x, i: (w.item(x, i), ATOM),
    runtime.part: lambda w, x, i: (w.item(x, i), ATOM),
    runtime.repeated: lambda w, x, n: (f"{w.text(x, ATOM)} * {w.text(n, 13)}", 12),
    runtime.count: lambda w, x: (f"len({w.text(x)})", ATOM),
    runtime.greatest: lambda w, x: (f"max({w.text(x)})", ATOM),
    runtime.least: lambda w, x: (f"min({w.text(x)})", ATOM),
    runtime.exact_total: lambda w, x: (f"math.fsum({w.text(x)})", ATOM),
    runtime.array_of: lambda w, x, t: (f"np.array({w.text(x)}, {w.text(t)})", ATOM),
    runtime.zeros_of: lambda w, x: (f"[0.0] * len({w.text(x)})", 12),
    runtime.complex_zeros_of: lambda w, x: (f"[0j] * len({w.text(x)})", 12),
    runtime.nones_of: lambda w, x: (f"[None] * len({w.text(x)})", 12),
    runtime.take_last: lambda w, x: (f"{w.text(x, ATOM)}.pop()", ATOM),
    runtime.own: lambda w, x: (f"np.array({w.text(x)})", ATOM),
    primitives.build_tuple: lambda w, *xs: (
        f"({', '.join(w.text(x) for x in xs)}{',' if len(xs) == 1 else ''})",
        ATOM,
    ),
    primitives.build_list: lambda w, *xs: (f"[{', '.join(w.text(x) for x in xs)}]", ATOM),
    primitives.build_slice: lambda w, *xs: (f"slice({', '.join(w.text(x) for x in xs)})", ATOM),
}

_STATEMENTS: dict[Any, Callable[[Writer, tuple[Operand, ...]], str]] = {
    runtime.add_to: lambda w, xs: f"{w.text(xs[0])} += {w.text(xs[1])}",
    runtime.add_at: lambda w, xs: f"{w.item(xs[0], xs[1])} += {w.text(xs[2])}",
    runtime.put: lambda w, xs: f"{w.item(xs[0], xs[1])} = {w.text(xs[2])}",
    runtime.put_broadcast: lambda w, xs: f"{w.item(xs[0], xs[1])} = {w.text(xs[2])}",
    runtime.put_item: lambda w, xs: f"{w.item(xs[0], xs[1])} = {w.text(xs[2])}",
    runtime.append: lambda w, xs: f"{w.text(xs[0], ATOM)}.append({w.text(xs[1])})",
    runtime.clear: lambda w, xs: f"{w.item(xs[0], xs[1])} = 0",
    runtime.subtract_from: lambda w, xs: f"{w.text(xs[0])} -= {w.text(xs[1])}",
    runtime.scale: lambda w, xs: f"{w.text(xs[0])} *= {w.text(xs[1])}",
    runtime.divide: lambda w, xs: f"{w.text(xs[0])} /= {w.text(xs[1])}",
    runtime.scatter: lambda w, xs: f"np.add.at({w.text(xs[0])}, {w.text(xs[1])}, {w.text(xs[2])})",
    runtime.push: lambda w, xs: (
        f"{w.text(xs[0], ATOM)}.append({w.text(xs[1])})"
        if len(xs) == 2
        else f"{w.text(xs[0])} += ({', '.join(w.text(x) for x in xs[1:])})"
    ),
    runtime.leave: lambda w, xs: f"{w.function(runtime.leave)}()",
}
