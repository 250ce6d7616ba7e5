"""Source that reads the outside values of a program, and tests the guards."""

from __future__ import annotations

import abc
import builtins
import math
from collections.abc import Iterable, Sequence
from itertools import combinations
from types import FunctionType, NoneType
from typing import Any

import numpy as np

from adjoint.diagnostics.numpy_warnings import BEGIN_RAISING, NAMES_OF_RAISING
from adjoint.fast.entry_code.unread_inputs import TWICE, holds_one, inside_of, object_at, unread
from adjoint.fast.evaluate.leaves import Guard, Leaf
from adjoint.fast.evaluate.outside_values import Outside
from adjoint.fast.evaluate.plain_classes import is_plain_object
from adjoint.fast.evaluate.types import ANYTHING, Array, Number, Row
from adjoint.fast.evaluate.values import Source
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.source.expression_text import tuple_text
from adjoint.fast.support import functions as runtime
from adjoint.primal.value_kinds import fields_of
from adjoint.runtime.results import with_zeros

_NAMES: dict[str, Any] = {
    "ndarray": np.ndarray,
    "vdot": getattr(np.vdot, "_implementation", np.vdot),  # without a call that dispatches
    "isfinite": math.isfinite,
    "finished": runtime.finished,
    "builtins": builtins,
    "Tangent": runtime.tangent_with,
    "filled": with_zeros,
    "holds_one": holds_one,
}
"""Names in all entry code."""
_NO_OBJECTS = (NoneType, list, tuple, dict, FunctionType)


_READS = {
    "item": "{0}[{1!r}]",
    "attribute": "{0}.{1}",
    "member": "{0}.{1}",
    "class attribute": "{0}.{1}",
    "python": "{0}.{1}",
    "getter": "{0}.{1}.fget",
    "fset": "{0}.{1}.fset",
    "fdel": "{0}.{1}.fdel",
    "cached": "{0}.{1}.func",
    "global": "{0}[{1!r}]",
    "cell object": "{0}.__closure__[{1}]",
    "cell": "{0}.__closure__[{1}].cell_contents",
    "default": "{0}.__defaults__[{1}]",
    "named default": "{0}.__kwdefaults__[{1!r}]",
    "underlying": "{0}.__func__",
    "self": "{0}.__self__",
    "partial function": "{0}.func",
    "partial argument": "{0}.args[{1}]",
    "partial keyword": "{0}.keywords[{1!r}]",
}
"""By kind of source: the read of the key ``{1}`` of the source ``{0}``."""


def raising(lines: Sequence[str], uses_numpy: bool) -> list[str]:
    """Return lines that run while warnings of NumPy are raised, if there may be any: the generic
    tier issues them at the user's line."""
    if not uses_numpy:
        return [*lines]
    inner = indented(1, lines)
    return [f"errors = {BEGIN_RAISING}", "try:", *inner, "finally:", "    end_raising(errors)"]


def indented(depth: int, lines: Iterable[str]) -> list[str]:
    """Return lines with `depth` more levels of indentation."""
    return ["    " * depth + line for line in lines]


class Reading:
    """Write the lines that read outside values and test them."""

    def __init__(self, outside: Outside) -> None:
        self.outside = outside
        self.names: dict[int, str] = {}
        self.bound: dict[str, Any] = {}
        self.lines: list[str] = []
        self.zeros: dict[int, list[Any]] = {}
        self.inside = inside_of(outside)
        self._guards: dict[int, list[Guard]] = {}
        for guard in outside.guards:
            self._guards.setdefault(id(guard.source), []).append(guard)
        self._leaves = {id(leaf.source): leaf for leaf in outside.leaves}
        self._lengths: dict[Any, str] = {}
        self._known: dict[int, str] = {}
        self._sealed: set[int] = set()

    def bind(self, value: Any) -> str:
        name = self._known.get(id(value))
        if name is None:
            name = self._known[id(value)] = f"k{len(self.bound)}"
            self.bound[name] = value
        return name

    def read_all(self) -> None:
        """Write a line for each source, and a line with its tests."""
        for source in self.outside.sources:
            name = self.names[id(source)] = self._name(source)
            text = self._text(source)
            if text != name:
                self.lines.append(f"{name} = {text}")
            guards = self._guards.get(id(source), ())
            tests = [self._test(name, guard) for guard in guards if guard.kind == "type"]
            tests += [self._test(name, guard) for guard in guards if guard.kind != "type"]
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
        if source.kind == "class attribute":
            for base in source.parent.key.__mro__:
                found = vars(base).get(key)
                if type(found) is classmethod:
                    return f"{above}.{key}.__func__"
                if is_plain_object(type(found)) and hasattr(type(found), "__get__"):
                    return f"{self.bind(base)}.__dict__[{key!r}]"
        elif source.kind == "item" and type(key) not in (str, int, bool):
            return f"{above}[{self.bind(key)}]"
        elif source.kind == "attribute" and self._is_computable(source.parent, key):
            return f"{above}.__dict__[{key!r}]"
        elif source.kind == "global" and key not in source.parent.key:
            self.lines.append(f"if {key!r} in {above}: return MISS")
            return f"builtins.{key}"
        return _READS[source.kind].format(above, key)

    def _is_computable(self, owner: Source, name: str) -> bool:
        """Return whether the class has a value for a field that is missing: an attribute of that
        name, or ``__getattr__``."""
        sample = self.outside.samples[id(owner)]
        kind = type(sample)
        return name in (fields_of(sample) or ()) and (
            _has(kind, name) or hasattr(kind, "__getattr__")
        )

    def _test(self, name: str, guard: Guard) -> str:
        """Return a condition that is true if the guard fails."""
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
                return f"len({name}) != {value}"  # that of its type comes first
            case "keys":
                test = f"tuple({name}) != {self.bind(value)}"
                if all(type(key) is str for key in value):
                    return test
                # Equal numbers of different classes are the same key.
                if not any(type(key) in (tuple, float) for key in value):
                    return f"{test} or (*map(type, {name}),) != {self.bind((*map(type, value),))}"
                kinds_of = self.bind(_kinds_of_keys)
                return f"{test} or {kinds_of}({name}) != {self.bind(_kinds_of_keys(value))}"
            case "code":
                function = self.bind(FunctionType)
                return (
                    f"type({name}) is not {function} or {name}.__code__ is not {self.bind(value)}"
                )
            case "globals":
                return f"{name}.__globals__ is not {self.bind(value)}"
            case "defaults":
                count, named = value
                test = f"len({name}.__defaults__ or ()) != {count}"
                if not named:
                    return f"{test} or {name}.__kwdefaults__ is not None"
                return f"{test} or tuple({name}.__kwdefaults__ or ()) != {named!r}"
            case "same":
                return f"{name} is not {self.names[id(value)]}"
            case "not same":
                return f"{name} is {self.names[id(value)]}"
            case "same cell":
                first = f"{self.names[id(value.parent)]}.__closure__[{value.key}]"
                return f"{name} is not {first}"
            case "fact":
                asked, found = value
                return f"{self.bind(asked)}({name}) != {self.bind(found)}"
            case "bases":
                return f"{name}.__mro__ is not {self.bind(value)}"
            case "attributes":
                return f"[*{name}.__dict__] != {self.bind(value)}"
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
                count, names = value
                by_name = f"tuple({name}.keywords) != {names!r}" if names else f"{name}.keywords"
                return f"len({name}.args) != {count} or {by_name}"
        raise AssertionError(guard.kind)

    def _leaf_tests(self, name: str, leaf: Leaf) -> list[str]:
        t = leaf.type
        if isinstance(t, Number):
            (kind,) = t.kinds
            plain = kind.__name__ if kind in (float, int, bool) else self.bind(kind)
            return [f"type({name}) is not {plain}"]
        if isinstance(t, Row):
            return self._row_tests(name, leaf, t)
        if t == ANYTHING:  # a generator of random numbers
            return [f"type({name}) is not {self.bind(type(leaf.sample))}"]
        assert isinstance(t, Array)
        dtype = self.bind(t.dtype)
        tests = [
            f"type({name}) is not ndarray",
            f"({name}.dtype is not {dtype} and {name}.dtype != {dtype})",
        ]
        known = [self._length(dim) for dim in t.shape]
        if all(text is not None for text in known):
            return [*tests, f"{name}.shape != {tuple_text(map(str, known))}"]
        if len(t.shape) == 1:
            self._lengths[t.shape[0]] = length = f"d{len(self._lengths)}"
            return [*tests, f"{name}.ndim != 1", f"({length} := len({name})) < 2"]
        tests.append(f"len(n := {name}.shape) != {len(t.shape)}")
        for i, (dim, text) in enumerate(zip(t.shape, known, strict=True)):
            text = text or self._length(dim)  # an earlier axis may have set it
            if text is not None:
                tests.append(f"n[{i}] != {text}")
            else:
                self._lengths[dim] = length = f"d{len(self._lengths)}"
                tests.append(f"({length} := n[{i}]) < 2")
        return tests

    def _row_tests(self, name: str, leaf: Leaf, t: Row) -> list[str]:
        assert isinstance(t.item, Number)
        kinds = self.bind(t.item.kinds)
        dim = self.outside.row_lengths[leaf.value]
        known = self._length(dim)
        length = f"len({name}) != {known}"
        if known is None:
            self._lengths[dim] = known = f"d{len(self._lengths)}"
            length = f"({known} := len({name})) < 2"
        return [f"type({name}) is not list", length, f"not {kinds}.issuperset(map(type, {name}))"]

    def state(self) -> str:
        """Return the source of a tuple of the leaves; of lists, their present items."""
        return "".join(
            f"(*{name},), " if isinstance(leaf.type, Row) else f"{name}, "
            for leaf in self.outside.leaves
            for name in (self.names[id(leaf.source)],)
        )

    def bind_all(self, **more: Any) -> dict[str, Any]:
        """Return the objects of the names in entry code, with `more` of them."""
        return self.bound | NAMES_OF_RAISING | _NAMES | more

    def _length(self, dim: Any) -> str | None:
        return str(dim) if isinstance(dim, int) else self._lengths.get(dim)

    def distinct(self, argument: int | None, wanted: Sequence[Leaf]) -> None:
        """Write a test that no mutable object occurs twice in an argument (``None``: in the values
        that the function captures or names), since both places would show its cotangent."""
        leaves = [x for x in wanted if x.source.argument == argument]
        if not leaves:
            return
        self._distinct(
            (self.names[id(x.source)], len(x.type.shape) if isinstance(x.type, Array) else list)
            for x in self.outside.leaves
            if isinstance(x.type, Array | Row) and x.source.argument == argument
        )
        found = [one for one in shown(self.outside, leaves) if one[0].argument == argument]
        if len({id(sample) for _, _, sample in found}) != len(found):
            raise NotCovered(TWICE)
        typed = {id(guard.source) for guard in self.outside.guards if guard.kind == "type"}
        one_kind = any(not path and id(source) not in typed for source, path, _ in found)
        self._distinct(
            (f"{self.names[id(source)]}{path}", None if one_kind else type(sample))
            for source, path, sample in found
        )

    def ties(self, argument: int | None) -> list[str]:
        """Return conditions that are true if an object read in an argument also occurs at an unread
        place; raise `NotCovered` if one is true at specialisation."""
        samples = {id(x.source): x.sample for x in self.outside.leaves} | self.outside.samples
        places, held = unread(self.outside, self.inside, argument)
        tests = []
        for place in places:
            if {*map(id, held)} <= {*map(id, place.within)}:
                continue
            self.require_same_fields(place.owner)
            if not place.keys:
                continue
            there = [object_at(samples[id(place.owner)], key) for key in place.keys]
            within = [samples[id(source)] for source in place.within]
            if holds_one(there, [samples[id(x)] for x in held], within):
                raise NotCovered(TWICE)
            read = ", ".join(self.place(place.owner, key) for key in place.keys)
            tests.append(f"holds_one(({read},), {self._all(held)}, {self._all(place.within)})")
        return tests

    def _all(self, sources: Sequence[Source]) -> str:
        return f"({', '.join(self.names[id(source)] for source in sources)},)"

    def place(self, source: Source, key: Any) -> str:
        """Return the source of a read of a place that the program does not read."""
        name, owner = self.names[id(source)], self.outside.samples[id(source)]
        if isinstance(owner, list | tuple | dict):
            return f"{name}[{key!r}]"
        if type(owner) is FunctionType:
            return f"{name}.__closure__[{key}]"
        if key in (fields_of(owner) or ()):
            return f"{name}.__dict__[{key!r}]"
        return f"getattr({name}, {key!r}, None)"

    def require_same_fields(self, source: Source) -> None:
        """Write a test that an object has exactly its present fields."""
        sample = self.outside.samples[id(source)]
        fields = None if isinstance(sample, _NO_OBJECTS) else fields_of(sample)
        if fields is None or id(source) in self._sealed:
            return
        self._sealed.add(id(source))
        name = self.names[id(source)]
        read = {child.key for child in self.inside.get(id(source), ()) if child.kind == "attribute"}
        if fields.keys() <= read and not any(_has(type(sample), key) for key in fields):
            test = f"len({name}.__dict__) != {len(fields)}"  # reads have found each in __dict__
        else:
            test = f"{name}.__dict__.keys() != {self.bind(frozenset(fields))}"
        self.lines.append(f"if {test}: return MISS")

    def _distinct(self, found: Iterable[tuple[str, Any]]) -> None:
        """Write a test that no object of one kind occurs twice."""
        kinds: dict[Any, list[str]] = {}
        for name, kind in found:
            kinds.setdefault(kind, []).append(name)
        tests = []
        for names in kinds.values():
            if len(names) <= _FEW:
                tests += [f"{a} is {b}" for a, b in combinations(names, 2)]
            else:
                ids = ", ".join(f"id({name})" for name in names)
                tests.append(f"len({{{ids}}}) != {len(names)}")
        if tests:
            self.lines.append(f"if {' or '.join(tests)}: return MISS")


def _has(kind: type, name: str) -> bool:
    """Return whether a class has an attribute, without running descriptors."""
    return any(name in vars(base) for base in kind.__mro__)


def _kinds_of_keys(keys: Iterable[Any]) -> list[Any]:
    """Return the classes of keys, of tuples those of the parts; of floats also the signs."""
    return [
        _kinds_of_keys(key)
        if type(key) is tuple
        else (float, math.copysign(1.0, key))
        if type(key) is float
        else type(key)
        for key in keys
    ]


_FEW = 4
"""Number of objects up to which pairwise comparison is faster than a set of identities."""


def shown(outside: Outside, wanted: Sequence[Leaf]) -> list[tuple[Source, str, Any]]:
    """Return the containers and objects that are read, if a wanted leaf is in one, and the cells,
    if a wanted leaf is in one; each with its source and the text of the path from there."""
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
