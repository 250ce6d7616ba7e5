"""Source that undoes and commits the writes of a program to arrays, containers and objects of its
caller.

The program writes to arrays themselves; where it fails, their incoming contents are put back. What
it stores in containers and objects is committed when it has finished.
"""

from __future__ import annotations

from collections.abc import Sequence
from keyword import iskeyword

from adjoint.fast.build.program import Program
from adjoint.fast.entry_code.inputs import Reading
from adjoint.fast.evaluate.types import Array, Row
from adjoint.fast.evaluate.values import (
    Abstract,
    DictOf,
    External,
    HeapObject,
    Instance,
    Known,
    ListOf,
    Ref,
    RowOf,
    Text,
    Tuple,
)
from adjoint.fast.evaluate.writes.final_contents import Stored
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.source.expression_text import tuple_text
from adjoint.fast.support.outside_writes import Incoming, new_object
from adjoint.fast.support.printing import print_lines
from adjoint.ir.single import Value


def keeping(made: Reading, program: Program, failure: str = "FAILED") -> list[str]:
    """Return the lines that keep the incoming contents and begin the run of the program, whose
    result is `failure` if it cannot run."""
    made.bound["Incoming"] = Incoming
    outside, written = program.outside, program.written
    known = {id(leaf) for leaf in written}
    arrays = [made.names[id(leaf.source)] for leaf in written]
    others = [
        made.names[id(leaf.source)]
        for leaf in outside.leaves
        if isinstance(leaf.type, Array | Row) and id(leaf) not in known
    ]
    changed = {*map(id, program.adopted)}
    containers = [made.names[id(source)] for source in program.adopted]
    more = [
        made.names[id(source)]
        for source in outside.sources
        if type(outside.samples.get(id(source), ())) not in _NOT_WRITTEN
        and id(source) not in changed
    ]
    given = (arrays, others, containers, more if containers else [])
    return [
        "    try:",
        f"        incoming = Incoming({', '.join(map(tuple_text, given))})",
        "    except Exception as error:",
        "        failed(error)",
        f"        return {failure}",
        "    try:",
    ]


_NOT_WRITTEN = (tuple, type(lambda: None))


def undoing(lines: Sequence[str]) -> list[str]:
    """Return the lines of a run with the incoming contents put back where it fails."""
    return [line.replace("failed(", "incoming.failed(failed, ") for line in lines]


def committing(made: Reading, program: Program) -> list[str]:
    """Return the lines that write back what the program has stored in containers and objects, and
    that print."""
    writer = _Contents(made, program)
    for one in program.stored:
        writer.commit(one)
    for namespace, key, value in program.in_globals:
        writer.lines.append(f"{made.bind(namespace)}[{key!r}] = {writer.text(value)}")
    if program.ev.prints:
        made.bound["print_lines"] = print_lines
        writer.lines.append(f"print_lines({writer.text(program.ev.lines)})")
    return writer.lines


class _Contents:
    """Write what a program has stored; `committed` is the tuple of its values."""

    def __init__(self, made: Reading, program: Program) -> None:
        self.made, self.ev = made, program.ev
        self.lines: list[str] = []
        self._at = {x: i for i, x in enumerate(program.values_stored)}
        self._names = {x.ref: made.names[id(x.source)] for x in program.outside.adopted}

    def commit(self, one: Stored) -> None:
        name, before, after = self.made.names[id(one.source)], one.before, one.after
        if isinstance(after, ListOf | RowOf):
            self.lines.append(f"{name}[:] = {self._content(after)}")
        elif isinstance(after, DictOf) and isinstance(before, DictOf):
            if after.keys[: len(before.keys)] != before.keys:
                self.lines.append(f"{name}.clear()")
            self.lines.append(f"{name}.update({self._content(after)})")
        elif isinstance(after, Instance) and isinstance(before, Instance):
            known = dict(zip(before.names, before.items, strict=True))
            for key, x in zip(after.names, after.items, strict=True):
                if known.get(key) is not x:
                    if not key.isidentifier() or iskeyword(key):
                        raise NotCovered("a write to an attribute with such a name")
                    self.lines.append(f"{name}.{key} = {self.text(x)}")
        else:
            raise NotCovered("such a content of a container from outside")

    def _content(self, held: HeapObject) -> str:
        """Return the source of a new container with a content."""
        match held:
            case ListOf(items=items):
                return f"[{', '.join(map(self.text, items))}]"
            case DictOf(keys=keys, items=items):
                pairs = zip(keys, map(self.text, items), strict=True)
                return f"{{{', '.join(f'{self.made.bind(key)}: {x}' for key, x in pairs)}}}"
            case RowOf(value=value, kind=kind):
                text = self.text(value)
                return text if kind is list else f"tuple({text})"
            case Instance(cls=cls, names=names, items=items):
                pairs = zip(names, map(self.text, items), strict=True)
                fields = ", ".join(f"{name!r}: {x}" for name, x in pairs)
                self.made.bound["new_object"] = new_object
                return f"new_object({self.made.bind(cls)}, {{{fields}}})"
        raise NotCovered("such a content of a container from outside")

    def text(self, a: Abstract) -> str:
        if isinstance(a, Value):
            return f"committed[{self._at[a]}]"
        if isinstance(a, Known):
            return self.made.bind(a.value)
        if isinstance(a, External):
            return self.made.names[id(a.source)]
        if isinstance(a, Text):
            assert a.items is not None
            (call,) = a.items
            named = (f"{k}={self.text(x)}" for k, x in call.keywords)
            return f"{self.text(call.function)}({', '.join([*map(self.text, call.args), *named])})"
        if isinstance(a, Tuple):
            text = f"({''.join(f'{self.text(x)}, ' for x in a.items)})"
            return text if a.kind is tuple else f"{self.made.bind(a.kind)}._make({text})"
        assert isinstance(a, Ref)
        if a not in self._names:  # made by the program: one object, wherever it is stored
            name = f"n{len(self._names)}"
            self.lines.append(f"{name} = {self._content(self.ev.heap[a.address])}")
            self._names[a] = name
        return self._names[a]
