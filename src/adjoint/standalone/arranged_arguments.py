"""The functions of a standalone file that take the arguments apart and arrange the cotangents."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from adjoint.fast.build.modes import Mode
from adjoint.fast.build.program import Program
from adjoint.fast.entry_code.cotangent_structure import cotangents
from adjoint.fast.entry_code.inputs import Reading
from adjoint.fast.evaluate.types import Array, Dim, Number, Row
from adjoint.fast.evaluate.values import Source
from adjoint.runtime.results import with_zeros
from adjoint.standalone.helpers import Helpers
from adjoint.standalone.literals import NoLiteral, literal
from adjoint.standalone.not_exported import NotExported


class ArgumentReading(Reading):
    """Reads what is in the arguments. Other numbers and arrays, which the function captures or
    names, are constants among the helpers, under the names that they have in the program."""

    def __init__(
        self,
        program: Program,
        parameters: Sequence[str],
        names: dict[int, str],
        helpers: Helpers,
    ) -> None:
        super().__init__(program.outside)
        self._parameters, self._in_program, self._helpers = parameters, names, helpers

    def read_all(self) -> None:
        """Write the lines that read and test the arguments."""
        for source in self.outside.sources:
            leaf = self._leaves.get(id(source))
            tests: list[str] = []
            if source.argument is not None:
                name = self.names[id(source)] = self._name(source)
                if (text := self._text(source)) != name:
                    self.lines.append(f"{name} = {text}")
                tests = [self._test(name, guard) for guard in self._guards.get(id(source), ())]
            elif leaf is not None:
                name = self.names[id(source)] = self._helpers.free(self._in_program[id(source)])
                self._helpers.constant(name, leaf.sample)
            else:
                self._look_at(source)
            if leaf is not None:
                of_leaf = self._leaf_tests(name, leaf)
                is_constant = source.argument is None  # of which only lengths are compared
                tests += [one for one in of_leaf if not (is_constant and "type" in one)]
            if tests:
                is_argument = source.argument is not None
                what = _path(source, self._parameters) if is_argument else f"the constant {name}"
                self.lines.append(f"if {' or '.join(tests)}:")
                self.lines.append(f"    raise _other({what!r}, {name})")

    def _look_at(self, source: Source) -> None:
        """Name a source that is no argument, because guards of others may refer to it."""
        self.names[id(source)] = f"s{len(self.names)}"

    def written(self, text: str) -> str:
        """Replace the names of constants in a text by the constants."""

        def value(found: re.Match[str]) -> str:
            name: str = found.group()
            try:
                return literal(self.bound[name]) if name in self.bound else name
            except NoLiteral as error:
                raise NotExported(f"{error} in the arguments", is_argument=True) from None

        return re.sub(r"\bk\d+\b", value, text)


def input_functions(
    program: Program,
    mode: Mode,
    parameters: Sequence[str],
    names: dict[int, str],
    helpers: Helpers,
) -> list[str]:
    """Return the definitions of ``_inputs`` and ``_arranged``; define what they need.

    Raises
    ------
    NotExported
        An argument is no number, array, text, list, tuple or dict.
    """
    count = len(parameters)
    made = ArgumentReading(program, parameters, names, helpers)
    made.read_all()
    roots = mode.positions(count)
    for root in roots:
        made.distinct(root, program.wanted)
    if any(made.ties(root) for root in roots):
        raise NotExported("parts of an argument that the function does not read", True)
    given = cotangents(made, program, mode, count)
    if "Tangent(" in given:
        raise NotExported("an object among the arguments", is_argument=True)
    if "filled(" in given:
        helpers.define("filled", with_zeros)
    leaves = [made.names[id(leaf.source)] for leaf in program.outside.leaves]
    given_names = ", ".join(f"a{i}" for i in range(count))
    lines = [made.written(line) for line in made.lines]
    lines = [line.replace(": return MISS", f":\n        {_TWICE}") for line in lines]
    body = [re.sub(r"(?<!\.)\bndarray\b", "np.ndarray", line) for line in lines]
    return [
        _function(
            f"def _inputs({given_names}):",
            "Return the numbers and arrays of the program, after a look at their types.",
            [*body, f"return ({''.join(f'{leaf}, ' for leaf in leaves)})"],
        ),
        _function(
            f"def _arranged(bars{', ' if count else ''}{given_names}):",
            "Return the cotangents in the structure of the arguments.",
            [f"return {made.written(given)}"],
        ),
    ]


_TWICE = 'raise TypeError("one array or container is twice in an argument")'


def _function(head: str, doc: str, body: Sequence[str]) -> str:
    return "\n".join([head, f'    """{doc}"""', *(f"    {line}" for line in body)])


def described_types(program: Program, names: Sequence[str]) -> list[str]:
    """Return a line for each number, array and list that the program reads in the arguments, and
    for each value that it takes for granted."""
    lengths: dict[Dim, str] = {
        n: str(found)
        for leaf in program.outside.leaves
        if leaf.source.argument is None and isinstance(leaf.type, Array)
        for n, found in zip(leaf.type.shape, leaf.sample.shape, strict=True)
    }
    lines = [
        in_docstring(f"{_path(guard.source, names)} : {guard.value!r}")
        for guard in program.outside.guards
        if guard.kind == "equal" and guard.source.argument is not None
    ]
    for leaf in program.outside.leaves:
        if leaf.source.argument is None:
            continue
        t = leaf.type
        if isinstance(t, Array):
            shape = [_length(n, lengths) for n in t.shape]
            what = f"array of {t.dtype}, shape ({', '.join(shape)}{',' * (len(shape) == 1)})"
        elif isinstance(t, Row):
            assert isinstance(t.item, Number)
            what = f"list of numbers ({_kinds(t.item)})"
        else:
            assert isinstance(t, Number)
            what = _kinds(t)
        lines.append(in_docstring(f"{_path(leaf.source, names)} : {what}"))
    return lines


def in_docstring(text: str) -> str:
    """Return a text as it is written between triple quotes."""
    return text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')


def _kinds(t: Number) -> str:
    return " or ".join(
        sorted(f"np.{k.__name__}" if issubclass(k, np.generic) else k.__name__ for k in t.kinds)
    )


def _length(n: Dim, lengths: dict[Dim, str]) -> str:
    """Return a length, or a letter for one that is the same wherever the letter stands."""
    if isinstance(n, int):
        return str(n)
    free = [letter for letter in "nmklpqrst" if letter not in lengths.values()]
    return lengths.setdefault(n, free[0] if free else str(n))


def _path(source: Source, names: Sequence[str]) -> str:
    if source.parent is None:
        return str(names[source.key])
    return f"{_path(source.parent, names)}[{source.key!r}]"
