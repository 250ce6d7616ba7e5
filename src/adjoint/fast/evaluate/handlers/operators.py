"""Handlers of operators, comparisons and subscripts."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from adjoint.fast.evaluate.array_writes import is_alias_of_part, put, update
from adjoint.fast.evaluate.attribute_reads import special_method
from adjoint.fast.evaluate.calls import fold_known
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.new_arrays import new_arrays
from adjoint.fast.evaluate.handlers.table import handler
from adjoint.fast.evaluate.items import item
from adjoint.fast.evaluate.plain_classes import is_plain_class, is_plain_object
from adjoint.fast.evaluate.rows import put as put_into_list
from adjoint.fast.evaluate.rows import repeated
from adjoint.fast.evaluate.types import Array, Number
from adjoint.fast.evaluate.values import (
    Abstract,
    DictOf,
    External,
    Known,
    ListOf,
    Ref,
    RowOf,
    Tuple,
)
from adjoint.fast.evaluate.writes.adoption import demand_not_written
from adjoint.fast.not_covered import NotCovered
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
        if is_numeric(a) and is_numeric(b):
            return ev.infer(f, [a, b])
        if f is operator.add and isinstance(a, Tuple) and isinstance(b, Tuple):
            return Tuple(a.items + b.items)
        if f is operator.add and ev.class_of(a) is list and ev.class_of(b) is list:
            left, right = ev.sequence(a), ev.sequence(b)
            if left is not None and right is not None:
                return ev.allocate(ListOf((*left, *right)))
        if f is operator.mul and ev.class_of(a) is list and ev.class_of(b) is int:
            return repeated(ev, a, b)
        return _by_protocol(ev, f, f"__{name}__", f"__r{name}__", a, b)


def is_numeric(a: Abstract) -> bool:
    if isinstance(a, Known):
        return type(a.value) in (int, float, bool, complex) or isinstance(a.value, np.generic)
    return isinstance(a, Value)


def _by_protocol(
    ev: Evaluator, f: Any, name: str, reflected: str, a: Abstract, b: Abstract
) -> Abstract:
    """Evaluate a binary operator of objects by their special methods."""
    left, right = ev.class_of(a), ev.class_of(b)
    if left is None or right is None or (right is not left and issubclass(right, left)):
        raise NotCovered(f"the operator {f.__name__} of such operands", ev.span)
    if left is np.ndarray or right is np.ndarray:
        if left in (list, tuple) or right in (list, tuple):
            return ev.infer(f, new_arrays(ev, (a, b)))
        raise NotCovered(f"the operator {f.__name__} of an array and an object", ev.span)
    if issubclass(left, np.generic | str | bytes):  # their operators accept any object
        raise NotCovered(f"the operator {f.__name__} of such operands", ev.span)
    asked = [(left, name, [a, b]), (right, reflected, [b, a])]
    if left is right and f in _BINARY:
        asked.pop()
    for cls, method, operands in asked:
        if is_plain_object(cls) and hasattr(cls, method):
            found = getattr(cls, method)
            if found is getattr(object, method, None):
                if any(method in vars(base) for base in cls.__mro__[:-1]):
                    raise NotCovered(f"{method} of {cls.__qualname__}", ev.span)
                continue
            result = ev.call(special_method(ev, cls, method), operands, {})
            if isinstance(result, Known) and result.value is NotImplemented:
                continue
            return result
    raise NotCovered(f"the operator {f.__name__} of such operands", ev.span)


for _f, _name in _BINARY.items():
    _binary(_f, _name)


def _comparison(f: Any, name: str, reflected: str) -> None:
    @handler(f)
    def _(ev: Evaluator, a: Abstract, b: Abstract) -> Abstract:
        folded = fold_known(f, (a, b), {})
        if folded is not None:
            return folded
        if is_numeric(a) and is_numeric(b):
            known = _compared_lengths(ev, f, a, b)
            return ev.infer(f, [a, b]) if known is None else Known(known)
        if isinstance(a, Tuple) and isinstance(b, Tuple) and f in (operator.eq, operator.ne):
            return _equal_tuples(ev, f, a, b)
        if isinstance(a, Known) and isinstance(b, Known) and f in (operator.eq, operator.ne):
            if isinstance(a.value, np.dtype | type | str) and all(
                is_plain_class(x.value) for x in (a, b) if isinstance(x.value, type)
            ):
                return Known(f(a.value, b.value))
        return _by_protocol(ev, f, f"__{name}__", f"__{reflected}__", a, b)


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


def _equal_tuples(ev: Evaluator, f: Any, a: Tuple, b: Tuple) -> Abstract:
    undecided = []
    for x, y in zip(a.items, b.items, strict=False):
        if not (_is_compared(ev, x) and _is_compared(ev, y)):
            raise NotCovered("a comparison of tuples", ev.span)
        equal = ev.call(Known(operator.eq), [x, y], {})
        if isinstance(equal, Known):
            if not equal.value:
                if all(isinstance(z, Known) and z.value != z.value for z in (x, y)):
                    raise NotCovered("a comparison of NaN, which may be one object", ev.span)
                return Known(f is operator.ne)
        else:
            undecided.append(equal)
    if len(a.items) != len(b.items):
        return Known(f is operator.ne)
    if not undecided:
        return Known(f is operator.eq)
    raise NotCovered("a comparison of tuples", ev.span)


def _is_compared(ev: Evaluator, x: Abstract) -> bool:
    """Return whether an item of a tuple can be compared: Python compares objects by identity first,
    and a comparison of arrays has no truth value."""
    if isinstance(x, Value):
        return isinstance(ev.types[x], Number)
    return isinstance(x, Tuple | Known)


for _f, (_name, _reflected) in _COMPARISONS.items():
    _comparison(_f, _name, _reflected)


def _in_place(f: Any, plain: Any) -> None:
    @handler(f)
    def _(ev: Evaluator, a: Abstract, b: Abstract) -> Abstract:
        if isinstance(a, Value) and isinstance(ev.types[a], Array):
            return update(ev, plain, a, b)
        is_list = isinstance(a, Ref) and ev.class_of(a) is list
        if f is operator.iadd and is_list and ev.class_of(b) in (list, tuple):
            ev.call(Known(list.extend), [a, b], {})
            return a
        demand_not_written(a, f"__{f.__name__}__", ev.span)
        if isinstance(a, Ref | External):
            raise NotCovered("an augmented assignment to an object", ev.span)
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
    if not isinstance(a, Known) or not isinstance(a.value, str | int | bool | None):
        raise NotCovered("a test of membership", ev.span)
    keys = ev.keys(container)
    if keys is not None:
        return Known(a.value in keys)
    if isinstance(container, Known) and isinstance(container.value, str | tuple | dict | frozenset):
        return Known(a.value in container.value)
    items = ev.sequence(container)
    if items is not None:
        for x in items:
            equal = ev.call(Known(operator.eq), [x, a], {})
            if not isinstance(equal, Known):
                break
            if equal.value:
                return Known(True)
        else:
            return Known(False)
    raise NotCovered("a test of membership", ev.span)


@handler(operator.getitem)
def _(ev: Evaluator, a: Abstract, index: Abstract) -> Abstract:
    cls = ev.class_of(a)
    if cls is not None and is_plain_object(cls) and hasattr(cls, "__getitem__"):
        return ev.call(special_method(ev, cls, "__getitem__"), [a, index], {})
    return item(ev, a, index)


@handler(operator.setitem)
def _(ev: Evaluator, a: Abstract, index: Abstract, value: Abstract) -> Abstract:
    held = ev.held(a)
    demand_not_written(a, "__setitem__", ev.span)
    if isinstance(a, Value):
        if not is_alias_of_part(ev, a, index, value):
            put(ev, a, index, value)
    elif not isinstance(a, Ref):
        raise NotCovered("a write to an item", ev.span)
    elif isinstance(held, RowOf) or (isinstance(held, ListOf) and isinstance(index, Value)):
        put_into_list(ev, a, index, value)
    elif isinstance(held, ListOf) and isinstance(index, Known) and type(index.value) is int:
        if not -len(held.items) <= index.value < len(held.items):
            raise NotCovered("an index out of range", ev.span)
        ev.demand_own_list(a.address)
        changed = [*held.items]
        changed[index.value] = value
        ev.heap[a.address] = ListOf(tuple(changed))
    elif isinstance(held, DictOf) and isinstance(index, Known):
        if type(index.value) not in (str, int):
            raise NotCovered("a key of another kind", ev.span)
        items = dict(zip(held.keys, held.items, strict=True)) | {index.value: value}
        ev.heap[a.address] = DictOf(tuple(items), tuple(items.values()))
    else:
        raise NotCovered("a write to an item", ev.span)
    return Known(None)
