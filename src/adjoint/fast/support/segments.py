"""Segments: steps with objects of libraries that a program leaves to the generic tier as one
function.

The function of a segment is written as text, takes numbers, arrays and objects from outside, and
returns the numbers and arrays that the program takes out of the objects::

    def with_objects(x, y):
        s0 = k0(x)                 # k0: pandas.Series
        s1 = s0 * y
        s2 = s1.mean
        s3 = s2()
        return (s3,)
"""

from __future__ import annotations

import hashlib
import keyword
import linecache
import operator
from collections.abc import Mapping, Sequence
from types import FunctionType
from typing import Any, TypeAlias

from adjoint.ir.node import node
from adjoint.ir.single import Const, Value


@node(eq=False)
class Step:
    """The call ``callee(*args, **keywords)``."""

    callee: Part
    args: tuple[Part, ...]
    keywords: tuple[tuple[str, Part], ...]


@node(eq=False)
class Made:
    """A tuple, list, dict or slice that a step is given; the items of a dict belong to `keys`."""

    kind: type
    items: tuple[Part, ...]
    keys: tuple[Any, ...] = ()


Part: TypeAlias = "Step | Made | Value | Const"

_INFIX = {
    operator.add: "+",
    operator.sub: "-",
    operator.mul: "*",
    operator.truediv: "/",
    operator.floordiv: "//",
    operator.mod: "%",
    operator.pow: "**",
    operator.matmul: "@",
    operator.and_: "&",
    operator.or_: "|",
    operator.xor: "^",
    operator.lshift: "<<",
    operator.rshift: ">>",
    operator.lt: "<",
    operator.le: "<=",
    operator.gt: ">",
    operator.ge: ">=",
    operator.eq: "==",
    operator.ne: "!=",
}
_PREFIX = {operator.neg: "-", operator.pos: "+", operator.invert: "~"}
IN_PLACE = {
    operator.iadd: "+",
    operator.isub: "-",
    operator.imul: "*",
    operator.itruediv: "/",
    operator.ifloordiv: "//",
    operator.imod: "%",
    operator.ipow: "**",
    operator.imatmul: "@",
    operator.iand: "&",
    operator.ior: "|",
    operator.ixor: "^",
    operator.ilshift: "<<",
    operator.irshift: ">>",
}
"""The operators of augmented assignments."""
OPERATORS = frozenset((*_INFIX, *_PREFIX, *IN_PLACE))
HOME = "<objects>"
"""The module of the functions of segments."""
_LITERAL = (int, str, bool, type(None))


def is_of_segment(f: Any) -> bool:
    """Return whether `f` is the function of a segment."""
    return type(f) is FunctionType and f.__globals__.get("__name__") == HOME


def value_of(part: Part, known: Mapping[Any, Any]) -> Any:
    """Return the value of a part, given those of steps and of values of the program."""
    if isinstance(part, Const):
        return part.value
    if not isinstance(part, Made):
        return known[part]
    items = [value_of(x, known) for x in part.items]
    if part.kind is dict:
        return dict(zip(part.keys, items, strict=True))
    return slice(*items) if part.kind is slice else part.kind(items)


def values_in(steps: Sequence[Step]) -> tuple[Value, ...]:
    """Return the values of the program that steps name, in the order of their first places."""
    found: dict[Value, None] = {}
    pending: list[Part] = []
    for step in steps:
        pending += reversed((step.callee, *step.args, *(x for _, x in step.keywords)))
        while pending:
            part = pending.pop()
            if isinstance(part, Value):
                found.setdefault(part)
            elif isinstance(part, Made):
                pending += reversed(part.items)
    return tuple(found)


def function_of(steps: Sequence[Step], results: Sequence[Step]) -> FunctionType:
    """Return the function of the values in `steps` that takes the steps and returns a tuple of
    their `results`."""
    return _Text(steps).function(results)


class _Text:
    """The text of the function of a segment, and the objects that it names."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self.steps, self.operands = steps, values_in(steps)
        self._names: dict[Any, str] = {}
        self._bound: dict[str, Any] = {"__name__": HOME}
        for i, x in enumerate(self.operands):
            self._names[x] = f"x{i}"
        for i, step in enumerate(steps):
            self._names[step] = f"s{i}"

    def function(self, results: Sequence[Step]) -> FunctionType:
        """Compile the function."""
        name = "with_objects"
        lines = [f"def {name}({', '.join(self._names[x] for x in self.operands)}):"]
        for step in self.steps:
            lines += [f"    {line}" for line in self._lines(step)]
        lines.append(f"    return ({''.join(f'{self._names[x]}, ' for x in results)})")
        text = "\n".join(lines) + "\n"
        place = f"<adjoint objects {hashlib.sha256(text.encode()).hexdigest()[:12]}>"
        linecache.cache[place] = len(text), None, text.splitlines(keepends=True), place
        exec(compile(text, place, "exec"), self._bound)
        made: FunctionType = self._bound.pop(name)
        return made

    def _lines(self, step: Step) -> list[str]:
        """Return the statements of a step, as the user would write them."""
        name, f = self._names[step], getattr(step.callee, "value", None)
        a = [*map(self._part, step.args)]
        if not isinstance(step.callee, Const) or step.keywords or not _is_hashable(f):
            return [f"{name} = {self._call(step, a)}"]
        if f in _INFIX and len(a) == 2:
            return [f"{name} = {a[0]} {_INFIX[f]} {a[1]}"]
        if f in _PREFIX and len(a) == 1:
            return [f"{name} = {_PREFIX[f]}{a[0]}"]
        if f in IN_PLACE:
            return [f"{name} = {a[0]}", f"{name} {IN_PLACE[f]}= {a[1]}"]
        if f is operator.getitem:
            return [f"{name} = {a[0]}[{a[1]}]"]
        if f is operator.setitem:
            return [f"{a[0]}[{a[1]}] = {a[2]}", f"{name} = None"]
        if f is operator.delitem:
            return [f"del {a[0]}[{a[1]}]", f"{name} = None"]
        attribute = getattr(step.args[1], "value", None) if len(a) > 1 else None
        if type(attribute) is str and _is_name(attribute):
            if f is getattr and len(a) == 2:
                return [f"{name} = {a[0]}.{attribute}"]
            if f is setattr:
                return [f"{a[0]}.{attribute} = {a[2]}", f"{name} = None"]
        return [f"{name} = {self._call(step, a)}"]

    def _call(self, step: Step, args: list[str]) -> str:
        named = [(key, self._part(x)) for key, x in step.keywords]
        given = [*args, *(f"{key}={x}" for key, x in named if _is_name(key))]
        others = ", ".join(f"{key!r}: {x}" for key, x in named if not _is_name(key))
        if others:
            given.append(f"**{{{others}}}")
        return f"{self._part(step.callee)}({', '.join(given)})"

    def _part(self, part: Part) -> str:
        """Return the text of a part."""
        if isinstance(part, Const):
            return self._constant(part.value)
        if not isinstance(part, Made):
            return self._names[part]
        items = [*map(self._part, part.items)]
        if part.kind is dict:
            keys = map(self._constant, part.keys)
            return f"{{{', '.join(map(': '.join, zip(keys, items, strict=True)))}}}"
        if part.kind is slice:
            return f"slice({', '.join(items)})"
        if part.kind is list:
            return f"[{', '.join(items)}]"
        return f"({''.join(f'{x}, ' for x in items)})"

    def _constant(self, value: Any) -> str:
        if type(value) in _LITERAL:
            return f"({value!r})" if type(value) is int else repr(value)
        key = Const, id(value)
        if key not in self._names:
            self._names[key] = name = f"k{len(self._bound)}"
            self._bound[name] = value
        return self._names[key]


def _is_name(text: str) -> bool:
    return text.isidentifier() and not keyword.iskeyword(text)


def _is_hashable(f: Any) -> bool:
    return type(f).__hash__ is not None
