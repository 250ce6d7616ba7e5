"""Handlers of operators, comparisons and subscripts."""

from __future__ import annotations

import operator
from enum import Enum
from types import UnionType
from typing import Any

import numpy as np

from adjoint.fast.evaluate.attribute_reads import special_method
from adjoint.fast.evaluate.calls import fold_known
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.operators_of_objects import by_protocol
from adjoint.fast.evaluate.handlers.strings import formatted_by_percent, unknown_text
from adjoint.fast.evaluate.handlers.table import handler
from adjoint.fast.evaluate.objects.containers import (
    KINDS,
    closed,
    guarded,
    key_of,
    opened,
    run,
)
from adjoint.fast.evaluate.objects.derived import content_of, derived_instance
from adjoint.fast.evaluate.objects.loaded_modules import is_modules, loaded
from adjoint.fast.evaluate.objects.number_keys import call, is_empty, is_key, tabled
from adjoint.fast.evaluate.plain_classes import (
    base_of,
    changed_by,
    has_own,
    is_plain_class,
    is_plain_object,
)
from adjoint.fast.evaluate.rows import repeated
from adjoint.fast.evaluate.truth_values import truth
from adjoint.fast.evaluate.types import Array, Number, number
from adjoint.fast.evaluate.values import (
    Abstract,
    External,
    Iterating,
    IteratorOf,
    Known,
    Ref,
    Text,
    Tuple,
)
from adjoint.fast.evaluate.writes.adoption import demand_not_written
from adjoint.fast.evaluate.writes.array_writes import update
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.support import functions as runtime
from adjoint.ir.single import Value

_BINARY = {
    operator.add: "add",
    operator.sub: "sub",
    operator.mul: "mul",
    operator.truediv: "truediv",
    operator.floordiv: "floordiv",
    operator.mod: "mod",
    operator.pow: "pow",
    operator.matmul: "matmul",
    operator.and_: "and",
    operator.or_: "or",
    operator.xor: "xor",
    operator.lshift: "lshift",
    operator.rshift: "rshift",
}
_COMPARISONS = {
    operator.eq: ("eq", "eq"),
    operator.ne: ("ne", "ne"),
    operator.lt: ("lt", "gt"),
    operator.gt: ("gt", "lt"),
    operator.le: ("le", "ge"),
    operator.ge: ("ge", "le"),
}
_IN_PLACE = {getattr(operator, f"i{name}"): f for f, name in _BINARY.items()}


def _binary(f: Any, name: str) -> None:
    @handler(f)
    def _(ev: Evaluator, a: Abstract, b: Abstract) -> Abstract:
        folded = fold_known(f, (a, b), {})
        if folded is not None:
            return folded
        a, b = _plain_number(ev, a, name, b), _plain_number(ev, b, f"r{name}", a)
        if is_numeric(a) and is_numeric(b):
            return ev.infer(f, [a, b])
        if f is operator.add and isinstance(a, Tuple) and isinstance(b, Tuple):
            return Tuple(a.items + b.items)
        if f is operator.mod and ev.class_of(a) is str:
            return formatted_by_percent(ev, a, b)
        if f is operator.add and Text in (type(a), type(b)):
            if ev.class_of(a) is str and ev.class_of(b) is str:
                return unknown_text(ev, f, [a, b], {})
        if f is operator.mul and {ev.class_of(a), ev.class_of(b)} == {str, int}:
            return unknown_text(ev, f, [a, b], {})
        if f is operator.mul and {ev.class_of(a), ev.class_of(b)} == {list, int}:
            return repeated(ev, *((a, b) if ev.class_of(a) is list else (b, a)))
        found = _of_containers(ev, f, a, b)
        if found is not None:
            return found
        if f is operator.add and ev.class_of(a) is ev.class_of(b) in (list, tuple):
            return ev.call(ev.outside.own(_joined), [Known(ev.class_of(a)), a, b], {})
        if f is operator.or_ and _is_class(a) and (_is_class(b) or ev.class_of(b) is type(None)):
            return Known(f(a.value, b.value))  # type: ignore[union-attr]
        return by_protocol(ev, f, f"__{name}__", f"__r{name}__", a, b)


def _joined(kind: Any, xs: Any, ys: Any) -> Any:
    """Return ``xs + ys`` of two lists or two tuples."""
    made: list[Any] = []
    made.extend(xs)
    made.extend(ys)
    return made if kind is list else tuple(made)


def _plain_number(ev: Evaluator, a: Abstract, name: str, other: Abstract) -> Abstract:
    """Return a member of an `IntEnum` with the operator of integers as a plain integer, and so a
    number of a derived class beside a number of Python; anything else unchanged."""
    if type(a) is Value:
        return a
    held = derived_instance(ev, a)
    if held is not None and base_of(held.cls) in (int, float, complex):
        is_of_python = ev.class_of(other) in (bool, int, float, complex)
        if is_of_python and f"__{name}__" not in changed_by(held.cls):
            return content_of(held)
    if isinstance(a, Known) and isinstance(a.value, Enum) and isinstance(a.value, int):
        if getattr(type(a.value), f"__{name}__", None) is getattr(int, f"__{name}__", 0):
            return Known(int.__index__(a.value))
    return a


def _is_class(a: Abstract) -> bool:
    """Return whether `a` is a known class without a metaclass, or a union of such."""
    return isinstance(a, Known) and isinstance(a.value, type | UnionType)


_CONTAINERS = frozenset({*KINDS, tuple})


def _of_containers(ev: Evaluator, f: Any, a: Abstract, b: Abstract) -> Abstract | None:
    """Evaluate an operator of containers of known structure; ``None`` for other operands."""
    kinds = {ev.class_of(a), ev.class_of(b)}
    if not kinds <= _CONTAINERS | {int} or kinds == {int}:
        return None

    def made() -> list[Any]:
        return [x.value if _is_integer(x) else opened(ev, x) for x in (a, b)]  # type: ignore[union-attr]

    if any(x is None for x in made()):
        return None
    return ev.choosing(lambda: closed(ev, guarded(ev, f, *made())))


def _is_integer(a: Abstract) -> bool:
    return isinstance(a, Known) and type(a.value) is int


def is_numeric(a: Abstract) -> bool:
    if type(a) is Value:
        return True
    if not isinstance(a, Known):
        return False
    return type(a.value) in (int, float, bool, complex) or isinstance(a.value, np.generic)


@handler(divmod)
def _(ev: Evaluator, a: Abstract, b: Abstract) -> Abstract:
    if not (is_numeric(a) and is_numeric(b)):
        return by_protocol(ev, divmod, "__divmod__", "__rdivmod__", a, b)
    return Tuple(tuple(ev.call(Known(f), [a, b], {}) for f in (operator.floordiv, operator.mod)))


for _f, _name in _BINARY.items():
    _binary(_f, _name)


def _comparison(f: Any, name: str, reflected: str) -> None:
    @handler(f)
    def _(ev: Evaluator, a: Abstract, b: Abstract) -> Abstract:
        folded = fold_known(f, (a, b), {})
        if folded is not None:
            return folded
        a, b = _plain_number(ev, a, name, b), _plain_number(ev, b, reflected, a)
        if is_numeric(a) and is_numeric(b):
            known = _compared_integers(ev, f, a, b)
            if known is None:
                known = _compared_lengths(ev, f, a, b)
            return ev.infer(f, [a, b]) if known is None else Known(known)
        for kind in (tuple, list):
            left, right = ev.sequence(a), ev.sequence(b)
            if left is None or right is None:
                break
            if not all(issubclass(ev.class_of(x) or object, kind) for x in (a, b)):
                continue
            if f in (operator.eq, operator.ne):
                return _equal_sequences(ev, f, left, right)
            if all(is_numeric(x) and _is_number(ev, x) for x in (*left, *right)):
                return _ordered_sequences(ev, f, left, right)
        if isinstance(a, Known) and isinstance(b, Known) and f in (operator.eq, operator.ne):
            if isinstance(a.value, Enum) and not has_own(type(a.value), "__eq__"):
                return Known(f(a.value, b.value))
            if isinstance(a.value, np.dtype | type | str) and all(
                is_plain_class(x.value) for x in (a, b) if isinstance(x.value, type)
            ):
                return Known(f(a.value, b.value))
        found = _of_containers(ev, f, a, b)
        if found is not None:
            return found
        return by_protocol(ev, f, f"__{name}__", f"__{reflected}__", a, b)


def _compared_integers(ev: Evaluator, f: Any, a: Abstract, b: Abstract) -> bool | None:
    """Compare two integers that are known, also one that carries a derivative; ``None`` for other
    numbers."""
    if not ev.outside.fixed:
        return None
    m, n = (ev.known_integer(ev.operand(x)) for x in (a, b))
    return None if m is None or n is None else bool(f(m, n))


def _compared_lengths(ev: Evaluator, f: Any, a: Abstract, b: Abstract) -> bool | None:
    """Compare two lengths by their symbols; ``None`` if the symbols do not decide."""
    of_a, of_b = (ev.dims.get(x) if isinstance(x, Value) else None for x in (a, b))
    if of_a is not None and of_a is of_b:
        return bool(f(0, 0))
    for symbol, other, swapped in ((of_a, b, False), (of_b, a, True)):
        if symbol is None or not isinstance(other, Known) or isinstance(symbol, int):
            continue
        if symbol.is_argument and type(other.value) is int and other.value <= 1:
            return bool(f(other.value, 2) if swapped else f(2, other.value))
    return None


def _equal_sequences(
    ev: Evaluator, f: Any, a: tuple[Abstract, ...], b: tuple[Abstract, ...]
) -> Abstract:
    """Compare tuples or lists, whose items Python compares by identity first."""
    found: Abstract = Known(True)
    for x, y in zip(a, b, strict=False):
        equal = _equal_items(ev, x, y)
        if isinstance(equal, Known):
            if not equal.value:
                return Known(f is operator.ne)
        elif isinstance(found, Known):
            found = equal
        else:
            found = ev.call(Known(operator.and_), [found, equal], {})
    if len(a) != len(b):
        return Known(f is operator.ne)
    return found if f is operator.eq else ev.call(Known(operator.not_), [found], {})


def _ordered_sequences(
    ev: Evaluator, f: Any, a: tuple[Abstract, ...], b: tuple[Abstract, ...]
) -> Abstract:
    """Compare tuples or lists of numbers by the first items that differ."""
    found: Abstract = Known(f(len(a), len(b)))
    for x, y in reversed([*zip(a, b, strict=False)]):
        equal, here = _equal_items(ev, x, y), truth(ev, ev.call(Known(f), [x, y], {}))
        if isinstance(equal, Known):
            found = found if equal.value else here
        else:
            found = ev.call(Known(operator.and_), [equal, found], {})
            differ = ev.call(Known(operator.not_), [equal], {})
            here = ev.call(Known(operator.and_), [differ, here], {})
            found = ev.call(Known(operator.or_), [found, here], {})
    return found


def _equal_items(ev: Evaluator, x: Abstract, y: Abstract) -> Abstract:
    if isinstance(x, Ref) and x == y:
        return Known(True)
    if all(isinstance(z, Known) and z.value != z.value for z in (x, y)):
        raise NotCovered("a comparison of NaN, which may be one object", ev.span)
    if any(isinstance(z, Value) for z in (x, y)) and is_numeric(x) and is_numeric(y):
        if not all(_is_number(ev, z) for z in (x, y)):
            raise NotCovered("a comparison of arrays in a sequence", ev.span)
        return ev.operation(runtime.equal_items, (ev.operand(x), ev.operand(y)), number(bool))
    return truth(ev, ev.call(Known(operator.eq), [x, y], {}))  # type: ignore[no-any-return]


def _is_number(ev: Evaluator, x: Abstract) -> bool:
    return not isinstance(x, Value) or isinstance(ev.types[x], Number)


for _f, (_name, _reflected) in _COMPARISONS.items():
    _comparison(_f, _name, _reflected)


def _in_place(f: Any, plain: Any) -> None:
    @handler(f)
    def _(ev: Evaluator, a: Abstract, b: Abstract) -> Abstract:
        if isinstance(a, Value) and isinstance(ev.types[a], Array):
            return update(ev, plain, a, b)
        is_list = isinstance(a, Ref) and ev.class_of(a) is list
        is_iterable = isinstance(b, Iterating) or isinstance(ev.held(b), IteratorOf)
        is_iterable |= ev.class_of(b) in _CONTAINERS or derived_instance(ev, b) is not None
        if f is operator.iadd and is_list and is_iterable:
            ev.call(Known(list.extend), [a, b], {})
            return a
        cls = ev.class_of(a)
        if cls in (list, tuple) and isinstance(b, Value) and isinstance(ev.types[b], Array):
            return ev.call(Known(plain), [a, b], {})  # the array answers, with a new one
        demand_not_written(a, f"__{f.__name__}__", ev.span)
        if isinstance(a, Ref) and cls in KINDS:
            made = b.value if _is_integer(b) else opened(ev, b)  # type: ignore[union-attr]
            if made is None:
                raise NotCovered("an augmented assignment to a container", ev.span)
            return run(ev, a, f, made)
        if isinstance(a, External) and (cls is None or not is_plain_object(cls)):
            raise NotCovered("an augmented assignment to an object", ev.span)
        name = f"__{f.__name__.strip('_')}__"
        if cls is not None and is_plain_object(cls) and hasattr(cls, name):
            result = ev.call(special_method(ev, cls, name), [a, b], {})
            if not isinstance(result, Known) or result.value is not NotImplemented:
                return result
        return ev.call(Known(plain), [a, b], {})


for _f, _plain in _IN_PLACE.items():
    _in_place(_f, _plain)


def _unary(f: Any, name: str) -> None:
    @handler(f)
    def _(ev: Evaluator, a: Abstract) -> Abstract:
        folded = fold_known(f, (a,), {})
        if folded is not None:
            return folded
        if isinstance(a, Value):
            return ev.infer(f, [a])
        cls = ev.class_of(a)
        if cls is not None and is_plain_object(cls):
            return ev.call(special_method(ev, cls, name), [a], {})
        raise NotCovered(f"the operator {f.__name__} of such an operand", ev.span)


_UNARY: dict[Any, str] = {
    operator.neg: "__neg__",
    operator.pos: "__pos__",
    operator.abs: "__abs__",
    abs: "__abs__",
    operator.invert: "__invert__",
}
for _f, _name in _UNARY.items():
    _unary(_f, _name)


@handler(operator.contains)
def _(ev: Evaluator, container: Abstract, a: Abstract) -> Abstract:
    if isinstance(container, Iterating) and container.kind in (dict.keys, iter):
        (container,) = container.operands
    if is_modules(container):
        return Known(loaded(ev, key_of(ev, a)) is not None)
    if isinstance(container, Known) and isinstance(a, Known):
        if isinstance(container.value, str | range | dict | frozenset):
            return Known(a.value in container.value)
    cls = ev.class_of(container)
    if cls is not None and is_plain_object(cls) and hasattr(cls, "__contains__"):
        found = ev.call(special_method(ev, cls, "__contains__"), [container, a], {})
        return truth(ev, found)  # type: ignore[no-any-return]
    if isinstance(container, External) and type(container.sample) is dict:
        return Known(key_of(ev, a) in container.sample)  # its keys are guarded
    if is_empty(ev, container) and is_key(ev, a):
        return Known(False)
    table = tabled(ev, container, a)
    if table is not None:
        return call(ev, table, "__contains__", a)
    made = opened(ev, container)
    if made is None:
        raise NotCovered("a test of membership", ev.span)
    if isinstance(made, dict | set | frozenset):
        return Known(key_of(ev, a) in made)
    return _among(ev, [closed(ev, x) for x in made], a)


def _among(ev: Evaluator, items: list[Abstract], a: Abstract) -> Abstract:
    """Evaluate ``a in items`` for a list or tuple."""
    found: Abstract = Known(False)
    for x in items:
        equal = _equal_items(ev, x, a)
        if not isinstance(equal, Known):
            found = ev.call(Known(operator.or_), [found, equal], {})
        elif equal.value:
            return equal
    return found
