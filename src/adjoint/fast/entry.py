"""How a specialised program is entered: guards, reading what it takes, and the cotangents in the
structure of the arguments. Written as Python source, too, so that a call costs as little as can be.
"""

from __future__ import annotations

import abc
import builtins
import math
import operator
from collections.abc import Sequence
from types import BuiltinFunctionType, FunctionType, NoneType
from typing import Any

import numpy as np

from adjoint.fast import runtime
from adjoint.fast.covered import NotCovered
from adjoint.fast.evaluate.outside import Guard, Leaf, Outside
from adjoint.fast.evaluate.types import Array, Number, Row, has_complex
from adjoint.fast.evaluate.values import Source
from adjoint.fast.exposure import exposure
from adjoint.fast.needs import needs
from adjoint.fast.program import Program, uses_numpy
from adjoint.fast.ties import Unread, holds_one, others, unread
from adjoint.ir.single import Call, Const, Value
from adjoint.results import filled
from adjoint.rules.projection import column_sums
from adjoint.run.kinds import fields_of, slots_of

__all__ = ["entry_source"]


class _Entry:
    """Writes one entry."""

    def __init__(self, outside: Outside, count: int) -> None:
        self.outside, self.count = outside, count
        self.names: dict[int, str] = {}
        self.bound: dict[str, Any] = {}
        self.tests: list[str] = []
        self.reads: list[str] = []
        self.lines: list[str] = []
        self._guards: dict[int, list[Guard]] = {}
        for guard in outside.guards:
            self._guards.setdefault(id(guard.source), []).append(guard)
        self._leaves = {id(leaf.source): leaf for leaf in outside.leaves}
        self._lengths: dict[Any, str] = {}
        self._known: dict[int, str] = {}
        self.definite: Sequence[bool | None] = ()

    def bind(self, value: Any) -> str:
        name = self._known.get(id(value))
        if name is None:
            name = self._known[id(value)] = f"k{len(self.bound)}"
            self.bound[name] = value
        return name

    def read_all(self) -> None:
        """One line for each source, and a test after it."""
        for source in self.outside.sources:
            name = self.names[id(source)] = self._name(source)
            text = self._text(source)
            if text != name:
                self.lines.append(f"{name} = {text}")
            tests = [self._test(name, guard) for guard in self._guards.get(id(source), ())]
            leaf = self._leaves.get(id(source))
            if leaf is not None:
                tests += self._leaf_tests(name, leaf)
            if tests:
                self.lines.append(f"if {' or '.join(tests)}: return MISS")

    def _name(self, source: Source) -> str:
        if source.kind == "argument":
            return f"a{source.key}"
        if source.kind == "function":
            return "f"
        if source.kind == "object":
            return self.bind(source.key)
        return f"s{len(self.names)}"

    def _text(self, source: Source) -> str:
        if source.parent is None:
            return self.names[id(source)]
        above, key = self.names[id(source.parent)], source.key
        match source.kind:
            case "item":
                return f"{above}[{key!r}]"
            case "attribute" | "member" | "class attribute":
                if source.kind == "class attribute":
                    owner = source.parent.key
                    for base in owner.__mro__:
                        if type(vars(base).get(key)) is classmethod:
                            return f"{above}.{key}.__func__"
                return f"{above}.{key}"
            case "getter":
                return f"{above}.{key}.fget"
            case "global":
                if key in source.parent.key:
                    return f"{above}[{key!r}]"
                self.lines.append(f"if {key!r} in {above}: return MISS")
                return f"builtins.{key}"
            case "cell object":
                return f"{above}.__closure__[{key}]"
            case "cell":
                return f"{above}.__closure__[{key}].cell_contents"
            case "default":
                return f"{above}.__defaults__[{key}]"
            case "named default":
                return f"{above}.__kwdefaults__[{key!r}]"
            case "underlying":
                return f"{above}.__func__"
            case "self":
                return f"{above}.__self__"
            case "partial function":
                return f"{above}.func"
            case "partial argument":
                return f"{above}.args[{key}]"
        raise AssertionError(source.kind)

    def _test(self, name: str, guard: Guard) -> str:
        """A condition under which the guard fails."""
        value = guard.value
        match guard.kind:
            case "is":
                plain = value is None or isinstance(value, bool)
                return f"{name} is not {value if plain else self.bind(value)}"
            case "equal":
                kind = self.bind(type(value))
                return f"type({name}) is not {kind} or {name} != {self.bind(value)}"
            case "type":
                return f"type({name}) is not {self.bind(value)}"
            case "length":
                return f"type({name}) is not {self._type_of(guard)} or len({name}) != {value}"
            case "keys":
                return f"tuple({name}) != {self.bind(value)}"
            case "code":
                function = self.bind(FunctionType)
                return (
                    f"type({name}) is not {function} or {name}.__code__ is not {self.bind(value)}"
                )
            case "globals":
                return f"{name}.__globals__ is not {self.bind(value)}"
            case "defaults":
                count, named = value
                test = f"{name}.__defaults__ is not None"
                if count:
                    test = f"len({name}.__defaults__ or ()) != {count}"
                if not named:
                    return f"{test} or {name}.__kwdefaults__ is not None"
                return f"{test} or tuple({name}.__kwdefaults__ or ()) != {named!r}"
            case "same cell":
                first = f"{self.names[id(value.parent)]}.__closure__[{value.key}]"
                return f"{name} is not {first}"
            case "bases":
                return f"{name}.__mro__ is not {self.bind(value)}"
            case "attributes":
                # what is new stands behind what was there, so the last one says whether one is
                count, last = value
                held = f"{name}.__dict__"
                return f"len({held}) != {count} or next(reversed({held})) != {last!r}"
            case "getters":
                tests = [f"{name}.__dict__[{k!r}] is not {self.bind(one)}" for k, one in value]
                return " or ".join(tests) or "False"
            case "nothing":
                return f"getattr({name}, {value!r}, None) is not None"
            case "kind":
                key, kind = value
                return f"type({name}.__dict__[{key!r}]) is not {self.bind(kind)}"
            case "registered":
                return f"{self.bind(abc.get_cache_token)}() != {value}"
            case "no attribute":
                return f"{value!r} in {name}.__dict__"
            case "partial":
                return f"len({name}.args) != {value} or {name}.keywords"
        raise AssertionError(guard.kind)

    def _type_of(self, guard: Guard) -> str:
        kinds = [g.value for g in self._guards[id(guard.source)] if g.kind == "type"]
        return self.bind(kinds[0])

    def _leaf_tests(self, name: str, leaf: Leaf) -> list[str]:
        t = leaf.type
        if isinstance(t, Number):
            (kind,) = t.kinds
            plain = kind.__name__ if kind in (float, int, bool) else self.bind(kind)
            return [f"type({name}) is not {plain}"]
        if isinstance(t, Row):
            return self._row_tests(name, leaf, t)
        assert isinstance(t, Array)
        dtype = self.bind(t.dtype)
        tests = [
            f"type({name}) is not ndarray",
            f"({name}.dtype is not {dtype} and {name}.dtype != {dtype})",
        ]
        known = [self._length(dim) for dim in t.shape]
        if all(text is not None for text in known):
            comma = "," if len(known) == 1 else ""
            return [*tests, f"{name}.shape != ({', '.join(map(str, known))}{comma})"]
        tests.append(f"len(n := {name}.shape) != {len(t.shape)}")
        for i, (dim, text) in enumerate(zip(t.shape, known, strict=True)):
            text = text or self._length(dim)  # of an axis before
            if text is not None:
                tests.append(f"n[{i}] != {text}")
            else:
                self._lengths[dim] = length = f"d{len(self._lengths)}"
                tests.append(f"({length} := n[{i}]) < 2")
        return tests

    def _row_tests(self, name: str, leaf: Leaf, t: Row) -> list[str]:
        kinds = self.bind(t.item.kinds)
        dim = self.outside.row_lengths[leaf.value]
        known = self._length(dim)
        length = f"len({name}) != {known}"
        if known is None:
            self._lengths[dim] = known = f"d{len(self._lengths)}"
            length = f"({known} := len({name})) < 2"
        return [
            f"type({name}) is not list",
            length,
            f"not {kinds}.issuperset(map(type, {name}))",
        ]

    def _length(self, dim: Any) -> str | None:
        return str(dim) if isinstance(dim, int) else self._lengths.get(dim)

    def distinct(self, wanted: Sequence[Leaf]) -> None:
        """Nothing twice that has a cotangent by its identity, in which both would show."""
        arrays = [
            self.names[id(x.source)] for x in self.outside.leaves if isinstance(x.type, Array | Row)
        ]
        self._distinct(arrays)
        found = shown(self.outside, wanted)
        if len({id(sample) for _, _, sample in found}) != len(found):
            raise NotCovered("something that occurs twice among what the function reads")
        self._distinct([f"{self.names[id(source)]}{path}" for source, path, _ in found])

    def ties(self, roots: Sequence[Any], wanted: Sequence[Any], args: Sequence[Any]) -> str | None:
        """A condition under which what is read stands at a place that is not read, too.

        Raises
        ------
        NotCovered
            It does so in the call at hand.
        """
        samples = {id(x.source): x.sample for x in self.outside.leaves} | self.outside.samples
        places, held = unread(self.outside, roots, wanted)
        tests = []
        for place in places:
            if {*map(id, held)} <= {*map(id, place.within)}:
                continue
            within = [samples[id(source)] for source in place.within]
            if holds_one(place.of(args, samples), [samples[id(x)] for x in held], within):
                raise NotCovered("something that occurs twice among the arguments")
            texts = [self._all(held)]
            if place.within:
                texts.append(self._all(place.within))
            tests.append(f"holds_one({self._places(place)}, {', '.join(texts)})")
        return " or ".join(tests) or None

    def _all(self, sources: Sequence[Source]) -> str:
        return f"({', '.join(self.names[id(source)] for source in sources)},)"

    def _places(self, place: Unread) -> str:
        if place.owner is None:
            return f"({', '.join(f'a{i}' for i in place.keys)},)"
        owner = self.names[id(place.owner)]
        if place.read is None:
            return f"({', '.join(f'{owner}[{key!r}]' for key in place.keys)},)"
        sample = self.outside.samples[id(place.owner)]
        if type(sample) is FunctionType or slots_of(type(sample)):
            return f"others({owner}, {self.bind(place.read)})"
        return f"[x for n, x in {owner}.__dict__.items() if n not in {self.bind(place.read)}]"

    def _distinct(self, names: Sequence[str]) -> None:
        if len(names) == 2:
            self.lines.append(f"if {names[0]} is {names[1]}: return MISS")
        elif len(names) > 2:
            ids = ", ".join(f"id({name})" for name in names)
            self.lines.append(f"if len({{{ids}}}) != {len(names)}: return MISS")


def shown(outside: Outside, wanted: Sequence[Leaf]) -> list[tuple[Source, str, Any]]:
    """The containers and objects that are read, if one of them is among what cotangents are shown
    of, and the cells, if one of those is: where they are read (a source, and the way on from
    there), and what they are."""
    above: set[int] = set()
    for leaf in wanted:
        at: Source | None = leaf.source
        while at is not None:
            above.add(id(at))
            at = at.parent
    held: list[tuple[Source, str, Any]] = []
    cells: list[tuple[Source, str, Any]] = []
    is_held = is_cell = False
    for source in outside.sources:
        sample = outside.samples.get(id(source))
        if type(sample) not in (NoneType, tuple, FunctionType):
            held.append((source, "", sample))
            is_held = is_held or id(source) in above
        if source.kind in ("cell", "cell object"):
            assert source.parent is not None
            cell = outside.samples[id(source.parent)].__closure__[source.key]
            cells.append((source.parent, f".__closure__[{source.key}]", cell))
            is_cell = is_cell or id(source) in above
    return [*(held if is_held else ()), *(cells if is_cell else ())]


def entry_source(
    program: Program, args: tuple[Any, ...], mode: str, only: int | None = None
) -> tuple[str, dict[str, Any]]:
    """The source of ``run(f, args)``, and what its names stand for.

    Parameters
    ----------
    args
        The arguments of the call at hand.
    mode
        ``gradient``: `run` gives the value and the cotangents of the arguments; ``pullback``: the
        value, the inner pullback, the leaves, ``arrange``, which makes the cotangents of the
        function and the arguments from those of the leaves, and the program's `exposure`, where
        ``constants`` are named: the arrays among them; what the cotangents need of a tuple; and
        what the program was given, behind the function that reads it once more, and in front of
        one that says whether an object occurs twice among the arguments, if one may.
    only
        Of ``gradient``: the cotangent of this argument alone, with zeros where there is no path.
    """
    outside, wanted, count = program.outside, program.wanted, len(args)
    made = _Entry(outside, count)
    made.definite = program.definite
    made.read_all()
    made.distinct(wanted)
    roots = [*range(count)] if mode == "gradient" else ["function", *range(count)]
    ties = made.ties(roots, roots if only is None else [only], args)
    if ties is not None and mode == "gradient":
        made.lines.append(f"if {ties}: return MISS")
    leaves = ", ".join(made.names[id(leaf.source)] for leaf in outside.leaves)
    head = ["def run(f, args):", "    try:"]
    if count:
        targets = ", ".join(f"a{i}" for i in range(count))
        head.append(f"        {targets}{',' if count == 1 else ''} = args")
    else:
        head.append("        if args: return MISS")
    if mode == "gradient":
        given = _cotangents(made, program, count, only)
    else:
        given = _structure(made, wanted, ["function", *range(count)])
    body = [f"        {line}" for line in made.lines]
    read = [*head, *body]
    body += ["    except Exception:", "        return MISS", "    try:"]
    run = [f"        value, bars = program({leaves})"]
    if uses_numpy(program):
        # what would be a warning is one of the generic tier, which knows the user's line
        run = [
            '        with errstate(divide="raise", over="raise", invalid="raise"):',
            f"            value, bars = program({leaves})",
        ]
    run += _checked(program, made) if mode == "gradient" else []
    tail = ["    except Exception as error:", "        return failed(error)"]
    if mode == "gradient":
        tail.append(f"    return value, {given}")
    else:
        comma = "," if len(wanted) == 1 else ""
        kept = ", ".join(made.names[id(leaf.source)] for leaf in wanted)
        found = f"value, bars, ({kept}{comma}), arrange, {_exposed(made, wanted)}"
        state = "".join(
            f"(*{name},), " if isinstance(leaf.type, Row) else f"{name}, "
            for leaf in outside.leaves
            for name in (made.names[id(leaf.source)],)
        )
        needed = needs(program) if program.is_tuple else ()
        tied = None if ties is None else f"lambda: {ties}"
        tail.append(f"    return {found}, {needed}, (state, ({state}), {tied})")
        tail += ["def arrange(bars):", f"    return {given}"]
        tail += [line.replace("def run(", "def state(") for line in read]
        tail += [f"        return ({state})", "    except Exception:", "        return None"]
    made.bound |= {
        "ndarray": np.ndarray,
        "errstate": np.errstate,
        "vdot": np.vdot,
        "isfinite": math.isfinite,
        "finished": runtime.finished,
        "builtins": builtins,
        "some": runtime.some,
        "tangent": runtime.tangent,
        "Tangent": runtime.tangent_with,
        "filled": filled,
        "holds_one": holds_one,
        "others": others,
    }
    return "\n".join([*head, *body, *run, *tail]) + "\n", made.bound


def _exposed(made: _Entry, wanted: Sequence[Leaf]) -> str:
    """The `exposure`; in place of ``constants`` the arrays that are."""
    found = exposure(made.outside)
    if found != "constants":
        return repr(found)
    known = {id(leaf) for leaf in wanted}
    names = [
        made.names[id(leaf.source)]
        for leaf in made.outside.leaves
        if isinstance(leaf.type, Array) and id(leaf) not in known
    ]
    return f"({''.join(f'{name}, ' for name in names)})"


def _checked(program: Program, made: _Entry) -> list[str]:
    """What is not finite is left to the generic tier, which knows zeros that stay zero."""
    wanted, definite = program.wanted, program.definite
    if not wanted:
        return []
    implied = _implied(program)
    terms = [
        _term(leaf, f"bars[{i}]")
        for i, leaf in enumerate(wanted)
        if definite[i] is not None and i not in implied
    ]
    quick = all(known is not False for known in definite) and not any(
        isinstance(leaf.type, Array) and leaf.type.dtype == np.float16  # a product may overflow
        for leaf in wanted
    )
    if quick and not terms:
        return []
    # a cotangent may be what the function was multiplied with: an array of the user's
    arrays = [leaf for leaf in made.outside.leaves if isinstance(leaf.type, Array)]
    given = "".join(f"{made.names[id(leaf.source)]}, " for leaf in arrays)
    slow = [
        f"bars = finished(bars, ({given}))",
        "if bars is None: return failed(None)",
    ]
    if not quick:
        return [f"        {line}" for line in slow]
    return [
        f"        if not isfinite({' + '.join(terms)}):",
        *(f"            {line}" for line in slow),
    ]


def _implied(program: Program) -> set[int]:
    """Which cotangents are finite if the others are: sums of what another one is a product with.

    A product of matrices has an entry that is not finite wherever an operand has one, also beside
    zeros; and nothing that is not finite comes up in a sum of finite numbers without an error.
    """
    reverse = program.reverse
    made = {op.result: op for op in reverse.ops if isinstance(op, Call)}
    ends = [made.get(x) if isinstance(x, Value) else None for x in reverse.results or ()]
    factors = {x for op in ends if op is not None and op.callee == _MATMUL for x in op.operands}
    return {
        i
        for i, op in enumerate(ends)
        if op is not None and op.callee in _SUMS and op.operands[0] in factors
    }


_MATMUL, _SUMS = Const(operator.matmul), (Const(np.sum), Const(column_sums))


def _term(leaf: Leaf, bar: str) -> str:
    """A number that is finite if the cotangent is, and small."""
    if not isinstance(leaf.type, Array):
        return f"abs({bar})" if has_complex(leaf.type) else bar
    if has_complex(leaf.type):
        return f"vdot({bar}, {bar}).real"
    return f"{bar}.dot({bar})" if len(leaf.type.shape) == 1 else f"vdot({bar}, {bar})"


def _cotangents(made: _Entry, program: Program, count: int, only: int | None) -> str:
    if only is None:
        return _structure(made, program.wanted, range(count))
    at = {id(leaf.source): i for i, leaf in enumerate(program.wanted)}
    found = [s for s in made.outside.sources if s.kind == "argument" and s.key == only]
    text = _assembled(made, found[0], at) if found else None
    if text is not None and _is_complete(made, found[0], at, program.definite):
        return text
    return f"filled(a{only}, {text})"


def _is_complete(
    made: _Entry, source: Source, at: dict[int, int], definite: Sequence[bool | None]
) -> bool:
    """Whether every number and array in it certainly has a cotangent."""
    if id(source) in at:
        return definite[at[id(source)]] is True
    sample = made.outside.samples.get(id(source))
    if sample is None or type(sample) is FunctionType:
        return False
    children = {c.key: c for c in made.outside.sources if c.parent is source}
    for key in _keys(sample):
        part = sample[key] if isinstance(sample, list | tuple | dict) else getattr(sample, key)
        if part is None or isinstance(part, str | FunctionType | np.ufunc | BuiltinFunctionType):
            continue
        if key not in children or not _is_complete(made, children[key], at, definite):
            return False
    return True


def _structure(made: _Entry, wanted: Sequence[Leaf], roots: Sequence[Any]) -> str:
    """The cotangents of the roots, each in its structure."""
    at = {id(leaf.source): i for i, leaf in enumerate(wanted)}
    texts = []
    for root in roots:
        kind, key = ("function", None) if root == "function" else ("argument", root)
        found = [s for s in made.outside.sources if s.kind == kind and s.key == key]
        texts.append(_assembled(made, found[0], at) if found else None)
    if texts == [f"bars[{i}]" for i in range(len(wanted))]:
        return "bars"
    return f"({', '.join(str(text) for text in texts)}{',' if len(texts) == 1 else ''})"


def _assembled(made: _Entry, source: Source, at: dict[int, int]) -> str | None:
    """The cotangent of what is read from `source`; ``None`` where there is no path."""
    if id(source) in at:
        return f"bars[{at[id(source)]}]"
    inside = [s for s in made.outside.sources if s.parent is source]
    if any(s.kind.startswith("partial") and _assembled(made, s, at) for s in inside):
        raise NotCovered("the cotangent of a functools.partial")
    own = [s for s in inside if s.kind == "self"]
    if own:  # the cotangent of a bound method is that of what it is bound to
        return _assembled(made, own[0], at)
    if id(source) not in made.outside.samples:
        return None
    sample = made.outside.samples[id(source)]
    parts = {
        child.key: _assembled(made, child, at)
        for child in inside
        if type(sample) is not FunctionType or child.kind == "cell"
    }
    if not any(parts.values()):
        return None
    items = [str(parts.get(key)) for key in _keys(sample)]
    if isinstance(sample, list):
        text = f"[{', '.join(items)}]"
        return text if definite_in(made, source, at) else f"some({text})"
    if isinstance(sample, tuple):
        text = f"({', '.join(items)},)"
        if type(sample) is not tuple:
            text = f"{made.bind(type(sample))}._make({text})"
        return text if definite_in(made, source, at) else f"some({text})"
    names = _keys(sample)
    if type(sample) is FunctionType:
        names = sample.__code__.co_freevars
    named = ", ".join(f"{name!r}: {item}" for name, item in zip(names, items, strict=True))
    if isinstance(sample, dict):
        return f"{{{named}}}" if definite_in(made, source, at) else f"some({{{named}}})"
    if type(sample) is not FunctionType:
        fields = made.bind(frozenset(names))
        made.lines.append(f"if {made.names[id(source)]}.__dict__.keys() != {fields}: return MISS")
    make = "Tangent" if definite_in(made, source, at) else "tangent"
    return f"{make}({made.bind(tangent_maker(sample))}, {{{named}}})"


def definite_in(made: _Entry, source: Source, at: dict[int, int]) -> bool:
    """Whether some part of a structure certainly has a cotangent."""
    if id(source) in at:
        return made.definite[at[id(source)]] is True
    return any(definite_in(made, c, at) for c in made.outside.sources if c.parent is source)


def tangent_maker(sample: Any) -> Any:
    """What the `Tangent` of an object or a function says that it belongs to."""
    return sample.__name__ if type(sample) is FunctionType else type(sample)


def _keys(sample: Any) -> Sequence[Any]:
    if isinstance(sample, list | tuple):
        return range(len(sample))
    if isinstance(sample, dict):
        return list(sample)
    if type(sample) is FunctionType:
        return range(len(sample.__closure__ or ()))
    fields = fields_of(sample)
    if fields is None or slots_of(type(sample)):
        raise NotCovered(f"the cotangent of a {type(sample).__name__}")
    return list(fields)
