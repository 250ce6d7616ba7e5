"""Handlers of containers: constructors, methods, comparisons and operators of `containers`."""

from __future__ import annotations

import operator
from bisect import bisect_left, bisect_right
from collections import Counter, OrderedDict, defaultdict, deque
from types import FunctionType, MethodDescriptorType, SimpleNamespace
from typing import Any

from adjoint.fast.evaluate.attribute_reads import special_method
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.table import handler, handlers
from adjoint.fast.evaluate.item_lists import collected, demand_listed, listed
from adjoint.fast.evaluate.items import item
from adjoint.fast.evaluate.joins import is_number
from adjoint.fast.evaluate.objects.containers import (
    KINDS,
    Element,
    closed,
    factory_of,
    guarded,
    key_of,
    opened,
    opened_element,
    run,
)
from adjoint.fast.evaluate.objects.loaded_modules import is_modules, loaded
from adjoint.fast.evaluate.objects.number_keys import (
    call,
    copy_of,
    is_empty,
    is_key,
    new_table,
    tabled,
)
from adjoint.fast.evaluate.objects.queues import as_queue, call_queue
from adjoint.fast.evaluate.plain_classes import has_own, is_plain_object
from adjoint.fast.evaluate.rows import as_row, number_of, row_of
from adjoint.fast.evaluate.types import number
from adjoint.fast.evaluate.values import (
    Abstract,
    External,
    Generating,
    Instance,
    Iterating,
    IteratorOf,
    Known,
    ListOf,
    Ref,
    Tuple,
)
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.support import rows
from adjoint.ir import primitives
from adjoint.ir.single import Const, Operand, Value

_OF_ITERABLES = frozenset(
    "extend extendleft update subtract union intersection difference symmetric_difference"
    " intersection_update difference_update symmetric_difference_update issubset issuperset"
    " isdisjoint".split()
)
"""Methods whose arguments are iterated over."""
_OF_KEYS = frozenset("pop get setdefault add discard remove move_to_end".split())
"""Methods of dicts and sets whose first argument is hashed."""
_VIEWS = ("items", "keys", "values")
_AS_ITERATORS = frozenset({"elements", "fromkeys"})


def real(ev: Evaluator, a: Abstract) -> Any:
    """Return a real container of the items of an iterable."""
    made = opened(ev, a)
    if made is not None:
        return made
    items = demand_listed(ev, a, "a container of what is not known")
    return [opened_element(ev, x) for x in items]


def _method(kind: type, name: str) -> None:
    f = getattr(kind, name)

    @handler(f)
    def _(ev: Evaluator, a: Abstract, /, *args: Abstract, **keywords: Abstract) -> Abstract:
        operands: list[Any]
        table = tabled(ev, a, *(args[:2] if name in _OF_KEYS else ()))
        if table is not None and not keywords:
            return call(ev, table, name, *args)
        if name in _OF_ITERABLES:
            operands = [real(ev, x) for x in args]
        else:
            operands = [opened_element(ev, x) for x in args]
            if name in _OF_KEYS and args and not issubclass(kind, list | deque):
                operands[0] = key_of(ev, args[0])
        named = {k: opened_element(ev, x) for k, x in keywords.items()}
        return run(ev, a, lambda made, *given: f(made, *given, **named), *operands)


@handler(dict.get)
def _(ev: Evaluator, a: Abstract, key: Abstract, default: Abstract = Known(None)) -> Abstract:
    if isinstance(a, External) and type(a.sample) is dict:
        is_there = key_of(ev, key) in a.sample  # its keys are guarded
        return item(ev, a, key) if is_there else default
    if is_modules(a):
        module = loaded(ev, key_of(ev, key))
        return default if module is None else module
    if is_empty(ev, a) and is_key(ev, key):
        return default
    table = tabled(ev, a, key, default)
    if table is not None:
        return call(ev, table, "get", key, default)
    return run(ev, a, dict.get, key_of(ev, key), opened_element(ev, default))


def _view(f: Any, kind: Any) -> None:
    @handler(f)
    def _(ev: Evaluator, mapping: Abstract) -> Abstract:
        table = tabled(ev, mapping)
        if table is None:
            return Iterating(kind, (mapping,))
        keys, values = table.items
        if kind is dict.items:
            return Iterating(zip, (keys, values))
        return Iterating(iter, (keys if kind is dict.keys else values,))


for _kind in KINDS:
    for _name in dir(_kind):
        _f = getattr(_kind, _name)
        if _name.startswith("_") or type(_f) not in (MethodDescriptorType, FunctionType):
            continue
        if _name in _VIEWS:
            _view(_f, getattr(dict, _name))
        elif _name not in _AS_ITERATORS and _f not in handlers:
            _method(_kind, _name)


def _search(plain: Any, f: Any, *searches: Any) -> None:
    """Evaluate functions that find an integer in a list or a tuple: `plain`, of a container of
    known structure, or `f`, of a list of numbers."""

    @handler(*searches)
    def _(ev: Evaluator, xs: Abstract, value: Abstract, *bounds: Abstract) -> Abstract:
        numbers = ev.sequence(xs) or ()
        row: Operand | None = None
        if (held := row_of(ev, xs)) is not None:
            number_of(ev, held)
            row = held
        elif not bounds and any(isinstance(x, Value) for x in (value, *numbers)):
            if numbers and all(is_number(x, ev.types) for x in (value, *numbers)):
                known = [x.value for x in numbers if isinstance(x, Known)]
                is_known = len(known) == len(numbers)
                made = ev.allocate(ListOf(numbers)).address
                row = Const(tuple(known)) if is_known else as_row(ev, made)
        if row is None:
            return run(ev, xs, plain, *(opened_element(ev, x) for x in (value, *bounds)))
        if bounds or not is_number(value, ev.types):
            raise NotCovered("a search in a list of numbers", ev.span)
        return ev.operation(f, (row, ev.operand(value)), number(int), name="i")


_search(lambda xs, *x: xs.index(*x), rows.place_of, list.index, tuple.index)
_search(lambda xs, *x: xs.count(*x), rows.count_of, list.count, tuple.count)
_search(bisect_left, bisect_left, bisect_left)
_search(bisect_right, bisect_right, bisect_right)


# ---- new containers ------------------------------------------------------------------------------


def _collected(ev: Evaluator, xs: Abstract) -> Abstract:
    """Return a list of the items of a generator; other iterables unchanged."""
    held = ev.held(xs)
    is_run = isinstance(held, IteratorOf) and isinstance(held.source, Generating)
    return collected(ev, xs) if is_run else xs


def _is_listed(ev: Evaluator, xs: Abstract) -> bool:
    """Return whether an iterable is an array or a list of the program, of unknown length."""
    return row_of(ev, xs) is not None or isinstance(xs, Value)


def _filled(ev: Evaluator, kind: Any, method: str, xs: Abstract) -> Abstract:
    """Return a container that a method fills with the numbers of a list."""
    made = new_table(ev, kind, [])
    held = tabled(ev, made)
    assert held is not None
    call(ev, held, method, xs)
    return made


def _from_keys(keys: Any, value: Any = None) -> Any:
    made = {}
    for key in keys:
        made[key] = value
    return made


@handler(dict.fromkeys)
def _(ev: Evaluator, *operands: Abstract) -> Abstract:
    return ev.call(ev.outside.own(_from_keys), operands, {})


def _new_dict(kind: Any) -> None:
    @handler(kind)
    def _(ev: Evaluator, /, *args: Abstract, **keywords: Abstract) -> Abstract:
        if kind is Counter and len(args) == 1 and not keywords:
            args = (_collected(ev, args[0]),)
            if _is_listed(ev, args[0]):
                return _filled(ev, kind, "tally", args[0])
        if kind is dict and len(args) == 1 and not keywords:
            table = tabled(ev, args[0])
            if table is not None and issubclass(table.kind, dict):
                return copy_of(ev, table, dict)
        named = {k: opened_element(ev, x) for k, x in keywords.items()}
        given = [_entries(ev, x, kind) for x in args]
        return closed(ev, guarded(ev, lambda: kind(*given, **named)))


def _entries(ev: Evaluator, a: Abstract, kind: type) -> Any:
    """Return the operand of a constructor of dicts: a mapping, or pairs."""
    made = real(ev, a)
    if isinstance(made, dict):
        return made
    if kind is Counter:
        return [key_of(ev, closed(ev, x)) for x in made]
    pairs = []
    for x in made:
        pair = listed(ev, closed(ev, x))
        if pair is None or len(pair) != 2:
            raise NotCovered("a dict of what are no pairs", ev.span)
        pairs.append((key_of(ev, pair[0]), opened_element(ev, pair[1])))
    return pairs


for _kind in (dict, OrderedDict, Counter):
    _new_dict(_kind)


@handler(defaultdict)
def _(
    ev: Evaluator, factory: Abstract = Known(None), /, *args: Abstract, **keywords: Abstract
) -> Abstract:
    named = {k: opened_element(ev, x) for k, x in keywords.items()}
    given = [_entries(ev, x, dict) for x in args]
    make = factory_of(ev, factory)
    return closed(ev, guarded(ev, lambda: defaultdict(make, *given, **named)))


def _new_set(kind: Any) -> None:
    @handler(kind)
    def _(ev: Evaluator, xs: Abstract = Tuple(())) -> Abstract:
        xs = _collected(ev, xs)
        if kind is set and _is_listed(ev, xs):
            return _filled(ev, kind, "add_all", xs)
        return _set(ev, kind, [closed(ev, x) for x in real(ev, xs)])


def _set(ev: Evaluator, kind: Any, items: list[Abstract]) -> Abstract:
    if kind is set and any(isinstance(x, Value) and is_key(ev, x) for x in items):
        return new_table(ev, set, [(x,) for x in items])
    keys = [key_of(ev, x) for x in items]
    return closed(ev, guarded(ev, kind, keys))


for _kind in (set, frozenset):
    _new_set(_kind)


@handler(primitives.build_set)
def _(ev: Evaluator, *items: Abstract) -> Abstract:
    return _set(ev, set, [*items])


@handler(deque)
def _(ev: Evaluator, iterable: Abstract = Tuple(()), maxlen: Abstract = Known(None)) -> Abstract:
    most = opened_element(ev, _known_length(ev, maxlen))
    if _is_listed(ev, iterable):
        made = closed(ev, guarded(ev, deque, (), most))
        assert isinstance(made, Ref)
        call_queue(ev, as_queue(ev, made.address), "extend", iterable)
        return made
    return closed(ev, guarded(ev, deque, real(ev, iterable), most))


def _known_length(ev: Evaluator, n: Abstract) -> Abstract:
    """Return an integer from outside as a known one; anything else unchanged."""
    if not isinstance(n, Value):
        return n
    found = ev.known_integer(n)
    if found is None:
        ev.demand_value(n, "a greatest length that is not known")
    return Known(found)


# ---- comprehensions, items -----------------------------------------------------------------------


@handler(primitives.set_add)
def _(ev: Evaluator, xs: Abstract, value: Abstract) -> Abstract:
    table = tabled(ev, xs, value)
    if table is not None:
        return call(ev, table, "add", value)
    return run(ev, xs, set.add, key_of(ev, value))


@handler(primitives.set_update)
def _(ev: Evaluator, xs: Abstract, values: Abstract) -> Abstract:
    return run(ev, xs, set.update, real(ev, values))


@handler(primitives.dict_insert)
def _(ev: Evaluator, mapping: Abstract, key: Abstract, value: Abstract) -> Abstract:
    table = tabled(ev, mapping, key, value)
    if table is not None:
        return call(ev, table, "__setitem__", key, value)
    return run(ev, mapping, operator.setitem, key_of(ev, key), opened_element(ev, value))


@handler(SimpleNamespace)
def _(ev: Evaluator, /, **fields: Abstract) -> Abstract:
    return ev.allocate(Instance(SimpleNamespace, tuple(fields), tuple(fields.values())))


@handler(hash)
def _(ev: Evaluator, a: Abstract) -> Abstract:
    """Hash a constant; an object by its ``__hash__``, or by its address."""
    cls = ev.class_of(a)
    if isinstance(a, Ref) and cls is not None and is_plain_object(cls):
        if not has_own(cls, "__hash__"):
            ev.demand_one(a.address)
            return Known(a.address)
        if getattr(cls, "__hash__") is not None:  # noqa: B009  of any type
            return ev.call(special_method(ev, cls, "__hash__"), [a], {})
    elif isinstance(a, Known) and not has_own(type(a.value), "__hash__"):
        return Known(id(a.value))
    elif isinstance(a, Known | Tuple) or ev.class_of(a) is frozenset:
        key = opened(ev, a) if isinstance(a, Ref) else key_of(ev, a)
        if not isinstance(key, Element):
            return Known(hash(key))
    raise NotCovered("a hash", ev.span)
