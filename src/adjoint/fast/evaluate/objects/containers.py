"""Containers of known structure as real containers, whose methods run at specialisation.

`opened` fills a container of Python with the elements of an abstract one: constants as they are,
anything else as an `Element`, whose operators the evaluator evaluates. A method of the container,
or an operator, is called on that; `closed` gives the abstract value of the result, and `keep` keeps
the new contents. A comparison or a hash that depends on a value of the program is not covered.
"""

from __future__ import annotations

import operator
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from datetime import date, time, timedelta
from enum import Enum
from types import ModuleType
from typing import Any

import numpy as np

from adjoint.fast.evaluate.call_frames import Undecided
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.objects.choices import decided
from adjoint.fast.evaluate.objects.derived import plain_content
from adjoint.fast.evaluate.plain_classes import (
    has_own,
    is_hashed_by_user_code,
    is_named_tuple,
    is_plain_class,
)
from adjoint.fast.evaluate.values import (
    HIDDEN,
    ITEMS,
    Abstract,
    DequeOf,
    DictOf,
    External,
    FieldsOf,
    Flag,
    HeapObject,
    Instance,
    Known,
    ListOf,
    Ref,
    SetOf,
    Tuple,
)
from adjoint.fast.evaluate.writes.adopted_containers import object_behind
from adjoint.fast.not_covered import NotCovered, Raises
from adjoint.ir.single import Value

KINDS = (list, deque, dict, defaultdict, OrderedDict, Counter, set, frozenset)
"""Classes of containers of which programs hold the structure."""
_ATOMS: Any = (
    int | float | complex | str | bytes | type(None) | np.number | np.dtype | ModuleType
    | date | time | timedelta
)  # fmt: skip


class Element:
    """An abstract value in a real container."""

    __slots__ = ("abstract", "ev")

    def __init__(self, ev: Evaluator, abstract: Abstract) -> None:
        self.ev, self.abstract = ev, abstract

    def __bool__(self) -> bool:
        return decided(self.ev, self.ev.call(Known(operator.truth), [self.abstract], {}))

    def __eq__(self, other: object) -> Any:
        if isinstance(other, Element) and _is_same(self.abstract, other.abstract):
            return True  # containers compare by identity first
        if isinstance(self.abstract, Known) and _is_nan(self.abstract.value):
            raise NotCovered("a comparison of NaN, which may be one object", self.ev.span)
        if isinstance(self.abstract, Known) and isinstance(other, Element):
            if not has_own(type(self.abstract.value), "__eq__"):
                return NotImplemented
        return _evaluated(self.ev, operator.eq, self, other)

    def __hash__(self) -> int:
        n = fixed_integer(self.ev, self.abstract)
        if n is not None:
            return hash(n)
        cls: Any = self.ev.class_of(self.abstract)
        if cls is None or is_hashed_by_user_code(cls):
            raise NotCovered("a hash by a method of a class", self.ev.span)
        found = self.ev.call(Known(hash), [self.abstract], {})
        if not isinstance(found, Known):
            raise NotCovered("a hash that is not known", self.ev.span)
        return hash(found.value)


def _operators(name: str, f: Callable[..., Any], reflected: str | None) -> None:
    setattr(Element, f"__{name}__", lambda self, other: _evaluated(self.ev, f, self, other))
    if reflected is not None:
        method = f"__{reflected}__"
        setattr(Element, method, lambda self, other: _evaluated(self.ev, f, other, self))


for _name in ("add", "sub", "mul", "truediv"):
    _operators(_name, getattr(operator, _name), f"r{_name}")
for _name in ("lt", "gt", "le", "ge"):
    _operators(_name, getattr(operator, _name), None)


def _evaluated(ev: Evaluator, f: Any, *operands: Any) -> Any:
    return opened_element(ev, ev.call(Known(f), [closed(ev, x) for x in operands], {}))


def _is_same(a: Abstract, b: Abstract) -> bool:
    if isinstance(a, Ref) and isinstance(b, Ref):
        return a.address == b.address
    return isinstance(a, Known) and isinstance(b, Known) and a.value is b.value


# ---- from abstract to real -----------------------------------------------------------------------


def opened_element(ev: Evaluator, a: Abstract) -> Any:
    """Return `a` as an element of a real container."""
    if isinstance(a, Tuple) and (a.kind is tuple or is_named_tuple(a.kind)):
        return tuple.__new__(a.kind, [opened_element(ev, x) for x in a.items])
    if isinstance(a, Known) and not isinstance(a, Flag):
        value = a.value
        if isinstance(value, type):
            return value if is_plain_class(value) else Element(ev, a)
        if isinstance(value, tuple):
            return tuple.__new__(type(value), [opened_element(ev, Known(x)) for x in value])
        if type(value).__hash__ is not None and (isinstance(value, _ATOMS | Enum)):
            return Element(ev, a) if _is_nan(value) else value
    return Element(ev, a)


def key_of(ev: Evaluator, a: Abstract) -> Any:
    """Return `a` as a key of a real dict or an element of a real set."""
    key = opened_element(ev, a)
    _demand_key(ev, key)
    return key


def _demand_key(ev: Evaluator, key: Any) -> None:
    if isinstance(key, tuple):
        for part in key:
            _demand_key(ev, part)
    elif isinstance(key, Element) and fixed_integer(ev, key.abstract) is None:
        if isinstance(key.abstract, Value) and key.abstract in ev.dims:
            ev.demand_known("a key that is not known", ev.dims[key.abstract])
        ev.demand_value(key.abstract, "a key that is not known")
        if isinstance(key.abstract, Known) and _is_nan(key.abstract.value):
            raise NotCovered("NaN as a key", ev.span)
        hash(key)


def holds_element(key: Any) -> bool:
    """Return whether a key is an object or a number of the program, or a tuple with one."""
    return isinstance(key, Element) or (isinstance(key, tuple) and any(map(holds_element, key)))


def fixed_integer(ev: Evaluator, a: Abstract) -> int | None:
    """Return the value of an integer from outside for which alone the program is; it may carry a
    derivative."""
    n = ev.outside.fixed.get(a) if isinstance(a, Value) else None
    return n if type(n) is int else None


def _is_nan(x: Any) -> bool:
    return isinstance(x, float | complex | np.number) and bool(x != x)


def opened(ev: Evaluator, a: Abstract) -> Any:
    """Return a real container with the elements of a container of known structure; ``None`` for
    anything else."""
    held = ev.held(a)
    match held:
        case DequeOf():
            return deque([opened_element(ev, x) for x in held.items], held.most)
        case DictOf():
            return _dict(ev, held)
        case SetOf():
            return held.kind(held.keys)
        case Instance(cls=cls) if ITEMS in held.names and issubclass(cls, dict):
            return opened(ev, plain_content(ev, a))
        case Instance():
            return None
    if isinstance(a, FieldsOf):
        return dict(zip(ev.keys(a) or (), _fields(ev, a), strict=True))
    if isinstance(a, Tuple) or (isinstance(a, Known) and type(a.value) is tuple):
        return opened_element(ev, a)
    if (entries := ev.entries(a)) is not None:
        return {k: opened_element(ev, x) for k, x in entries.items()}
    if isinstance(a, External) and isinstance(a.sample, set | frozenset):
        return type(a.sample)(a.sample)
    items_, kind = ev.sequence(a), ev.class_of(a)
    if items_ is None or not (kind in (list, tuple) or (kind and is_named_tuple(kind))):
        return None
    made = [opened_element(ev, x) for x in items_]
    return made if kind is list else tuple.__new__(kind, made)


def _fields(ev: Evaluator, a: FieldsOf) -> list[Any]:
    held = ev.held(a.owner)
    if isinstance(held, Instance):
        pairs = zip(held.names, held.items, strict=True)
        return [opened_element(ev, x) for name, x in pairs if name not in HIDDEN]
    assert isinstance(a.owner, External)
    read, source = ev.outside.read, a.owner.source
    found = [read(source, "attribute", k, x) for k, x in vars(a.owner.sample).items()]
    return [opened_element(ev, x) for x in found]


def _dict(ev: Evaluator, held: DictOf) -> Any:
    made = held.kind()
    if isinstance(made, defaultdict):
        made.default_factory = factory_of(ev, held.factory)
    for key, x in zip(held.keys, held.items, strict=True):
        made[key] = opened_element(ev, x)
    return made


def factory_of(ev: Evaluator, factory: Abstract) -> Any:
    """Return a function that makes a missing entry of a real `defaultdict`."""

    def make() -> Any:
        return opened_element(ev, ev.call(factory, [], {}))

    make.abstract = factory  # type: ignore[attr-defined]  # for copies
    return None if isinstance(factory, Known) and factory.value is None else make


# ---- from real to abstract -----------------------------------------------------------------------


def closed(ev: Evaluator, x: Any) -> Abstract:
    """Return the abstract value of an element of a real container, or of a new real container."""
    if isinstance(x, Element):
        return x.abstract
    if type(x) is tuple or (isinstance(x, tuple) and is_named_tuple(type(x))):
        return Tuple(tuple(closed(ev, y) for y in x), type(x))
    if type(x) in KINDS:
        return ev.allocate(contents(ev, x))
    if x is NotImplemented or isinstance(x, type | Enum | _ATOMS):
        return Known(x)
    raise NotCovered(f"a {type(x).__name__} of elements", ev.span)


def contents(ev: Evaluator, x: Any, before: HeapObject | None = None) -> HeapObject:
    """Return the contents of a real container; `before` are those that it was made from."""
    if isinstance(x, dict):
        factory = before.factory if isinstance(before, DictOf) else Known(None)
        if before is None and isinstance(x, defaultdict):
            factory = getattr(x.default_factory, "abstract", Known(None))
        return DictOf(tuple(x), tuple(closed(ev, y) for y in x.values()), type(x), factory)
    if isinstance(x, set | frozenset):
        return SetOf(tuple(x), type(x))
    items = tuple(closed(ev, y) for y in x)
    return DequeOf(items, x.maxlen) if isinstance(x, deque) else ListOf(items)


def run(ev: Evaluator, a: Abstract, f: Callable[..., Any], *operands: Any) -> Abstract:
    """Call `f` on the opened container `a`, keep the new contents, and return the result."""
    return ev.choosing(lambda: _run(ev, a, f, *operands))


def _run(ev: Evaluator, a: Abstract, f: Callable[..., Any], *operands: Any) -> Abstract:
    made = opened(ev, a)
    if made is None:
        raise NotCovered("a method of a container of unknown length", ev.span)
    held = ev.held(a)
    before = _parts(made)
    found = guarded(ev, f, made, *operands)
    after = _parts(made)
    if len(before) != len(after) or any(x is not y for x, y in zip(before, after, strict=True)):
        keep(ev, a, held, made)
    return a if found is made else closed(ev, found)


def _parts(made: Any) -> list[Any]:
    return [*made, *made.values()] if isinstance(made, dict) else [*made]


def keep(ev: Evaluator, a: Abstract, held: HeapObject | None, made: Any) -> None:
    """Replace the contents `held` of `a` by those of the real container `made`."""
    if isinstance(a, FieldsOf) and isinstance(fields := ev.held(a.owner), Instance):
        kept = {n: x for n, x in zip(fields.names, fields.items, strict=True) if n in HIDDEN}
        kept |= {name: closed(ev, x) for name, x in made.items()}
        if not kept.keys() >= {*fields.names} and object_behind(ev.outside, a.owner):  # type: ignore[arg-type]
            raise NotCovered("a deletion of an attribute of an object from outside", ev.span)
        ev.demand_own_list(a.owner.address)  # type: ignore[union-attr]
        now = Instance(fields.cls, tuple(kept), tuple(kept.values()))
        ev.heap[a.owner.address] = now  # type: ignore[union-attr]
        for name in made:
            ev.outside.rely_on_field(fields.cls, name)
        return
    if not isinstance(a, Ref) or held is None or isinstance(held, Instance):
        raise NotCovered(f"a write to a {type(made).__name__} from outside", ev.span)
    if ev.held(a) is not held:
        raise NotCovered("a container that changes during its own method", ev.span)
    ev.demand_own_list(a.address)
    ev.heap[a.address] = contents(ev, made, held)


def guarded(ev: Evaluator, f: Callable[..., Any], *operands: Any) -> Any:
    """Call a function of real containers; one that raises is not covered."""
    try:
        return f(*operands)
    except (NotCovered, Undecided):
        raise
    except Exception as error:
        for x in operands:
            if isinstance(x, Element):
                ev.demand_value(x.abstract, f"a call that raises {type(error).__name__}")
        reason = f"a call that raises {type(error).__name__}"
        if isinstance(error, LookupError | StopIteration):
            raise Raises(type(error), reason, ev.span) from None
        raise NotCovered(reason, ev.span) from None
