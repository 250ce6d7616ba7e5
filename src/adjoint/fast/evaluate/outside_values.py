"""Outside values that a program reads on entry, and the guards that it relies on."""

from __future__ import annotations

import builtins
import functools
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from inspect import Signature
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from adjoint.diagnostics.public_function import PublicFunction, is_plain, plain_function
from adjoint.fast.evaluate.callees.outside_functions import OutsideFunctions
from adjoint.fast.evaluate.leaves import (
    Leaf,
    constant_structure,
    is_of_method,
    is_row,
    is_within,
    name_of,
    path_of,
)
from adjoint.fast.evaluate.objects.guards import is_own
from adjoint.fast.evaluate.plain_classes import (
    DATES,
    is_compiled,
    is_constant_key,
    is_constant_object,
    is_enumeration,
    is_named_tuple,
    is_plain_outside,
)
from adjoint.fast.evaluate.stand_ins import gradient_in, options_of
from adjoint.fast.evaluate.types import Array, Dim, Number, Row, Symbol, Type, has_integer, type_of
from adjoint.fast.evaluate.values import (
    Abstract,
    Bound,
    External,
    Flag,
    Known,
    Partial,
    Ref,
    Source,
)
from adjoint.fast.evaluate.writes.adoption import Adopted, Pattern, pattern_of
from adjoint.fast.not_covered import NotCovered
from adjoint.ir.single import Value
from adjoint.primal.compiled_functions import python_of

MOST_SOURCES = 600
"""Greatest number of sources: for larger structures, specialising takes longer than it saves."""

_CONSTANTS = (str, bytes, bool, type(None), type(Ellipsis), type(NotImplemented))
_IDENTITIES = (type, ModuleType, BuiltinFunctionType, np.ufunc, np.dtype, type(np.sum))

_OF_CLASSES: Any = type.__eq__


@dataclass(eq=False, repr=False)
class Outside(OutsideFunctions):
    """The sources of one program, in the order in which they are read."""

    leaves: list[Leaf] = field(default_factory=list)
    sizes: set[int] = field(default_factory=set)
    """Known lengths of dimensions: a structure of the program depends on them."""
    types: dict[Value, Type] = field(default_factory=dict)
    pinned: set[tuple[Any, ...]] = field(default_factory=set)
    """Paths of integers with known values: a type in the program depends on them."""
    fixed: dict[Value, int] = field(default_factory=dict)
    """Values of the `pinned` leaves."""
    is_wanted: Callable[[Source], bool] = lambda source: True
    """Whether the cotangent of the value of a source is wanted."""
    shows_twins: bool = False
    """Whether an object at two places shows its cotangent at both."""
    twins: dict[int, Source] = field(default_factory=dict)
    """The first place of such an object, by the identity of the other source."""
    may_write: Callable[[Source, bool], bool] = lambda source, is_array: False
    """Whether the program may write to an array, or to a container, from outside."""
    is_run_once: bool = False
    """Whether nothing is run again after the program: it may store global variables."""
    may_print: bool = False
    """Whether the program may print."""
    stored_globals: dict[tuple[int, str], dict[str, Any]] = field(default_factory=dict)
    """The global variables that the program stores: the namespace, by its identity and the name."""
    owned: dict[Pattern, set[str]] = field(default_factory=dict)
    """Containers and objects that the program writes to, with the names of attributes."""
    adopted: list[Adopted] = field(default_factory=list)
    adopt: Callable[[Source, Any, set[str]], Ref] | None = None
    """Puts such a container into the heap."""
    rows: bool = True
    """Whether long lists of numbers are values of the program."""
    row_lengths: dict[Value, Dim] = field(default_factory=dict)
    splits: bool = True
    """Whether exceptions that depend on numbers are caught in the program."""
    stepped: set[Any] = field(default_factory=set)
    """Places where iterators are made that are used more than once (`stepped_iterators`)."""
    shared_writes: set[Any] = field(default_factory=set)
    """Places of writes to arrays that may have another name (`own_arrays`)."""
    names: tuple[str, ...] = ()
    """Names of the parameters of the function."""
    shown_members: set[int] = field(default_factory=set)
    """Members of enumerations, by identity, whose numbers would have a cotangent."""
    _symbols: dict[int, Symbol] = field(default_factory=dict)
    _ids: dict[tuple[int | None, int], Source] = field(default_factory=dict)

    def release(self) -> None:
        """Drop references to the values that the program was specialised with."""
        self.leaves = [replace(leaf, sample=None) for leaf in self.leaves]
        self.samples.clear()
        self.owned = {}
        self.adopted.clear()
        self.made.clear()
        self._read.clear()
        self._cells.clear()

    def read(self, parent: Source, kind: str, key: Any, sample: Any) -> Abstract:
        """Return the value at `key` of `parent`, which is `sample` at specialisation."""
        known = (id(parent), kind, key)
        if known not in self._read:
            if len(self.sources) > MOST_SOURCES:
                raise NotCovered(f"more than {MOST_SOURCES} values that are read one by one")
            source = Source(parent, kind, key)
            self.sources.append(source)
            self._read[known] = self.bring(source, sample)
        return self._read[known]

    def constant(self, parent: Source, kind: str, key: Any, value: Any) -> Known:
        """Return a number as `Known`, guarded by identity."""
        known = (id(parent), kind, key)
        if known not in self._read:
            source = Source(parent, kind, key)
            self.sources.append(source)
            self.guard(source, "is", value)
            self._read[known] = Known(value)
        return self._read[known]  # type: ignore[return-value]

    def fact(self, whole: External, f: Callable[[Any], Any]) -> Abstract:
        """Return ``f(whole)``, computed now, and guard that it stays the same."""
        found = f(whole.sample)
        self.guard(whole.source, "fact", (f, found))
        return constant_structure(found)

    def bring(self, source: Source, value: Any) -> Abstract:
        """Return the abstract value of `value`, read from `source`, and add its guards."""
        kind = type(value)
        if type(kind) is not type and getattr(type(kind), "__eq__", None) is not _OF_CLASSES:
            raise NotCovered(f"an object of {kind.__qualname__}, whose class says what it equals")
        if kind in _CONSTANTS or (kind in (range, date, timedelta) and not self.is_wanted(source)):
            same = "is" if value is None or kind is bool or value is Ellipsis else "equal"
            self.guard(source, same, value)
            return Flag(value) if kind is bool and self.is_wanted(source) else Known(value)
        if (python := python_of(value)) is not None:
            return self.compiled_at(source, value, python)
        if is_enumeration(kind) and self.is_wanted(source):
            if issubclass(kind, int | float | complex):
                raise NotCovered("a member of an enumeration as a number")
            self.shown_members.add(id(value))
        # not isinstance: ``__class__`` may lie
        is_fixed = issubclass(kind, _IDENTITIES) or is_compiled(kind) or is_constant_object(kind)
        if kind is Signature or kind in DATES:
            is_fixed = not self.is_wanted(source)  # they may have cotangents
        if is_fixed or kind is object or value is sys.modules:
            self.guard(source, "is", value)
            return Known(value)
        if issubclass(kind, np.ndarray | np.generic) or kind in (int, float, complex):
            return self._leaf(source, value)
        if kind is FunctionType:
            return self.function_at(source, value)
        if kind is PublicFunction:
            return self._operator(source, value)
        if (known := self._known_twin(source, value)) is not None:
            return known
        self.guard(source, "type", kind)
        if kind is MethodType:
            return Bound(
                self.read(source, "underlying", None, value.__func__),
                self.read(source, "self", None, value.__self__),
            )
        if kind is functools.partial:
            self.guard(source, "partial", (len(value.args), tuple(value.keywords)))
            return Partial(
                self.read(source, "partial function", None, value.func),
                tuple(
                    self.read(source, "partial argument", i, arg)
                    for i, arg in enumerate(value.args)
                ),
                tuple(
                    (name, self.read(source, "partial keyword", name, arg))
                    for name, arg in value.keywords.items()
                ),
            )
        return self._container(source, value)

    def _operator(self, source: Source, value: Any) -> Abstract:
        """Return an operator of the library, or what ``grad(f)`` returned."""
        asked = vars(value).get("asks_for")
        if asked is None and (plain := plain_function(value)) is not None:
            self.samples[id(source)] = value
            self.guard(source, "fact", (is_plain, True))
            return self.read(source, "attribute", "__wrapped__", plain)
        if asked is None:
            self.guard(source, "is", value)
            return Known(value)
        options = options_of(value)
        if options is None or self.of_function:  # what it refers to has cotangents
            raise NotCovered("a gradient function from outside")
        self.samples[id(source)] = value
        self.guard(source, "fact", (options_of, options))
        f = self.read(source, "attribute", "asks_for.f", asked.f)
        return Partial(Known(gradient_in), (f, *map(Known, options)), ())

    def _container(self, source: Source, value: Any) -> Abstract:
        kind = type(value)
        if kind is list and self.rows and is_row(value, self.is_wanted(source)):
            return self._row(source, value)
        if kind in (tuple, list) or is_named_tuple(kind):
            self.guard(source, "length", len(value))
        elif kind is dict:
            # Within a call of the generic tier, a float may carry a derivative.
            others = () if self.of_function else (float,)
            if not all(is_constant_key(key, others) for key in value):
                raise NotCovered("a dict with keys that are no constants")
            self.guard(source, "keys", tuple(value))
        elif kind in (set, frozenset) and all(map(is_constant_key, value)):
            if self.is_wanted(source):
                raise NotCovered("a set among the arguments")
            self.guard(source, "keys", tuple(value))
        elif not is_plain_outside(kind):
            raise NotCovered(f"an object of class {kind.__qualname__}")
        self.rely_on(kind)
        if kind is not tuple:
            self._demand_once(source, value)
        self.samples[id(source)] = value
        names = self.owned.get(pattern_of(source)) if self.owned else None
        if names is not None and self.adopt is not None:
            return self.adopt(source, value, names)
        return External(source, value)

    def _row(self, source: Source, value: list[Any]) -> Value:
        self._demand_once(source, value)
        t = Row(Number(frozenset(map(type, value))))
        leaf = Leaf(source, Value(name_of(source, self.names)), t, value)
        self.leaves.append(leaf)
        self.types[leaf.value] = t
        self.row_lengths[leaf.value] = self._dimension(len(value))
        return leaf.value

    def _leaf(self, source: Source, value: Any) -> Abstract:
        t = type_of(value)
        if t is None:
            raise NotCovered(
                f"a value of type {type(value).__name__} of dtype {value.dtype}"
                if hasattr(value, "dtype")
                else f"a {type(value).__name__}"
            )
        if self.of_function and source.kind == "cell" and is_of_method(source):
            raise NotCovered("a variable that a method has captured")  # it may have a cotangent
        is_fixed = has_integer(t) and (
            self._is_option(source, value) or path_of(source) in self.pinned
        )
        if is_fixed:
            self.guard(source, "equal", value)
            if not self.is_wanted(source) and type(value) is int:
                return Known(value)
        if isinstance(t, Array):
            if (not t.shape or 0 in t.shape) and self.is_wanted(source):
                raise NotCovered("an array without elements, or of rank 0")
            if (twin := self._twin_leaf(source, value)) is not None:
                return twin
            self._demand_once(source, value)
            t = Array(t.dtype, tuple(self._dimension(n) for n in value.shape))
        leaf = Leaf(source, Value(name_of(source, self.names)), t, value)
        self.leaves.append(leaf)
        self.types[leaf.value] = t
        if is_fixed:
            self.fixed[leaf.value] = value
        return leaf.value

    def _twin_leaf(self, source: Source, value: Any) -> Value | None:
        """Return the value of an array that was read at another place."""
        first = self._ids.get((source.argument, id(value)))
        if first is None or not self._may_share(source, first, value):
            return None
        self.guard(source, "same", first)
        return next(leaf.value for leaf in self.leaves if leaf.source is first)

    def _may_share(self, source: Source, first: Source, value: Any) -> bool:
        """Return whether an object at `source` may be that at `first`; note what shows a cotangent:
        no tuple does, whose numbers are variables of their own at each place."""
        if not (self.is_wanted(source) or self.is_wanted(first)):
            return True
        if (
            self.shows_twins
            and not isinstance(value, tuple)
            and all(x.source is not first for x in self.adopted)
        ):
            self.twins[id(source)] = first
            return True
        return False

    def _is_option(self, source: Source, value: Any) -> bool:
        """Return whether a value is an integer default of a function that is defined once: an axis
        or an option, which hardly ever changes."""
        if type(value) is not int or source.kind not in ("default", "named default"):
            return False
        return "<" not in self.samples[id(source.parent)].__qualname__

    def has_read(self, argument: int | None, identity: int) -> bool:
        """Return whether an object of the argument has been read."""
        return (argument, identity) in self._ids

    def _demand_once(self, source: Source, value: Any) -> None:
        """Raise `NotCovered` if an object occurs twice in one argument, or in the function."""
        place = source.argument, id(value)
        if place in self._ids:
            raise NotCovered("something that occurs twice in an argument, or in the function")
        self._ids[place] = source

    def _known_twin(self, source: Source, value: Any) -> Abstract | None:
        """Return an object that was read at another place. The cotangent of one that this place is
        within is at the other place."""
        first = self._ids.get((source.argument, id(value)))
        if first is None:
            return None
        if not is_within(source, first) and not self._may_share(source, first, value):
            return None
        self.guard(source, "same", first)
        owned = (x.ref for x in self.adopted if x.source is first)
        return next(owned, External(first, value))

    def is_leaf(self, x: Value) -> bool:
        """Return whether a value is read from outside."""
        return any(leaf.value is x for leaf in self.leaves)

    def _dimension(self, n: int) -> Any:
        if n < 2 or n in self.sizes:
            return n
        if n not in self._symbols:
            self._symbols[n] = Symbol(f"d{len(self._symbols)}")
        return self._symbols[n]

    def size_of(self, symbol: Symbol) -> int | None:
        """Return the length of a dimension at specialisation."""
        for n, known in self._symbols.items():  # a generator would cost more
            if known is symbol:
                return n
        return None

    def global_(self, namespace: dict[str, Any], name: str) -> Abstract:
        """Return the value of a global or builtin name, before the program stores any."""
        if name in namespace:
            value = namespace[name]
        elif namespace.get("__builtins__", builtins) not in (builtins, vars(builtins)):
            raise NotCovered("a namespace with builtin names of its own")
        elif hasattr(builtins, name):
            value = getattr(builtins, name)
        else:
            raise NotCovered(f"the name {name!r} is not defined")
        if is_own(namespace):
            return self.own(value)
        return self.read(self.root("object", namespace), "global", name, value)
