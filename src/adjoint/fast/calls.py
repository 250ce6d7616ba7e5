"""Calls: what each callee means to the partial evaluator."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint.fast import primitives as single_primitives
from adjoint.fast import runtime
from adjoint.fast.covered import NotCovered
from adjoint.fast.infer import is_inferable, name_of
from adjoint.fast.library import call_library, is_library
from adjoint.fast.outside import LONG, is_named_tuple, is_own, is_plain_object
from adjoint.fast.reading import attribute, item, length_of, product
from adjoint.fast.rows import append, as_row, count, item_of, pop, reduced, repeated, row_of
from adjoint.fast.rows import put as put_into_list
from adjoint.fast.types import ANYTHING, Array, Number, Row, Symbol, number
from adjoint.fast.values import (
    MISSING,
    Abstract,
    Bound,
    CellOf,
    Closure,
    DictOf,
    External,
    Flag,
    Instance,
    Iterating,
    IteratorOf,
    Known,
    ListOf,
    Partial,
    Ref,
    RowOf,
    SliceOf,
    Tuple,
    parts,
    rebuild,
)
from adjoint.fast.writing import put, update
from adjoint.ir import primitives
from adjoint.ir.single import Unpack, Value
from adjoint.rules.evalpoly import evalpoly
from adjoint.rules.projection import project
from adjoint.rules.registry import Rules, lookup

if TYPE_CHECKING:
    from adjoint.fast.evaluate import Evaluator

__all__ = ["call", "handler", "handlers", "truth"]

Handler = Callable[..., Abstract]
handlers: dict[Any, Handler] = {}
"""What stands for a callee: ``handler(ev, *args, **keywords)``."""


def handler(*callees: Any) -> Callable[[Handler], Handler]:
    """The decorated function is what a call of each of `callees` means."""

    def add(function: Handler) -> Handler:
        for callee in callees:
            handlers[callee] = function
        return function

    return add


def call(
    ev: Evaluator, callee: Abstract, args: Sequence[Abstract], keywords: dict[str, Abstract]
) -> Abstract:
    """``callee(*args, **keywords)``."""
    match callee:
        case Known(value=value):
            return _call_known(ev, value, args, keywords)
        case Closure():
            return ev.inline(callee, args, keywords)
        case Bound():
            return call(ev, callee.function, [callee.owner, *args], keywords)
        case Partial():
            return call(
                ev, callee.function, [*callee.args, *args], {**dict(callee.keywords), **keywords}
            )
        case External() | Ref():
            cls = class_of(ev, callee)
            if isinstance(callee, External) and lookup(callee.sample) is not None:
                raise NotCovered("an object that has a rule", ev.span)
            if cls is not None and is_plain_object(cls):
                return call(ev, _special(ev, cls, "__call__"), [callee, *args], keywords)
    raise NotCovered("a call of something that is not a function", ev.span)


def class_of(ev: Evaluator, a: Abstract) -> type | None:
    """The class of a structure or a known object."""
    match a:
        case Known(value=value):
            return type(value)
        case External(sample=sample):
            return type(sample)
        case Tuple(kind=kind):
            return kind
        case Ref(address=address):
            held = ev.heap[address]
            if isinstance(held, Instance):
                return held.cls
            if isinstance(held, RowOf):
                return held.kind
            return list if isinstance(held, ListOf) else dict if isinstance(held, DictOf) else None
        case Closure():
            return FunctionType
        case Value():
            t = ev.types[a]
            if isinstance(t, Row):
                return list
            if isinstance(t, Array):
                return np.ndarray
            if isinstance(t, Number) and len(t.kinds) == 1:
                return next(iter(t.kinds))
    return None


def _special(ev: Evaluator, cls: type, name: str) -> Abstract:
    """A special method, as Python finds it: in the class."""
    return attribute(ev, Known(cls), name)


def _call_known(
    ev: Evaluator, f: Any, args: Sequence[Abstract], keywords: dict[str, Abstract]
) -> Abstract:
    try:
        found = handlers.get(f)
    except TypeError:
        found = None
    if isinstance(f, np.ufunc) or getattr(f, "__module__", None) in ("numpy", "numpy.linalg"):
        from adjoint.fast.building import as_arrays

        args = as_arrays(ev, f, args)
    if found is not None:
        try:
            return found(ev, *args, **keywords)
        except TypeError as error:
            if error.__traceback__ is not None and error.__traceback__.tb_next is None:
                raise NotCovered(f"such a call of {name_of(f)}", ev.span) from None
            raise
    if isinstance(f, functools.partial):
        raise NotCovered("a functools.partial", ev.span)
    if isinstance(f, type):
        return _instance(ev, f, args, keywords)
    folded = _folded(f, args, keywords)
    if folded is None and type(getattr(f, "__self__", None)) is str:
        from adjoint.fast.texts import of_text

        folded = of_text(ev, f, args, keywords)
    if folded is not None:
        return folded
    rules = lookup(f)
    if rules is not None and rules.overridden:
        raise NotCovered(f"{name_of(f)} has a rule from outside", ev.span)
    if is_inferable(f):
        return _inferred(ev, f, args, keywords)
    if is_library(f, rules):
        return call_library(ev, f, args, keywords)
    if type(f) is FunctionType:
        return _function(ev, f, rules, args, keywords)
    raise NotCovered(f"a call of {name_of(f)}", ev.span)


_FOLDED = (int, float, bool, str, tuple, type(None), type, np.dtype, slice, range, bytes)


def _folded(f: Any, args: Sequence[Abstract], keywords: dict[str, Abstract]) -> Abstract | None:
    """A pure function of known values is called."""
    if getattr(f, "__module__", None) not in ("_operator", "math") and f not in _PURE:
        return None
    values = [*args, *keywords.values()]
    if not all(isinstance(x, Known) and isinstance(x.value, _FOLDED) for x in values):
        return None
    if f not in _TESTS and any(isinstance(x, Flag) for x in values):
        raise NotCovered("a truth value as a number")
    try:
        return Known(
            f(
                *[x.value for x in args],  # type: ignore[union-attr]
                **{k: x.value for k, x in keywords.items()},  # type: ignore[union-attr]
            )
        )
    except Exception as error:
        raise NotCovered(f"a call that raises {type(error).__name__}") from None


_TESTS = frozenset(
    {operator.eq, operator.ne, operator.not_, operator.truth, operator.is_, operator.is_not, str}
)
_PURE = frozenset({abs, divmod, pow, round, min, max, len, str, repr, np.dtype})


def _inferred(
    ev: Evaluator, f: Any, args: Sequence[Abstract], keywords: dict[str, Abstract]
) -> Abstract:
    """An operation of the program, whose result type the types of the operands decide."""
    named = dict(keywords)
    if named.keys() & {"out", "where", "initial", "casting", "order", "subok", "like"}:
        raise NotCovered(f"an option of {name_of(f)}", ev.span)
    elementwise = isinstance(f, np.ufunc) or getattr(f, "__module__", None) in ("_operator", "math")
    if not elementwise:
        args = [_with_known_sizes(ev, f, x, i) for i, x in enumerate(args)]
        named = {k: _with_known_sizes(ev, f, x, k) for k, x in named.items()}
    return ev.infer(f, args, tuple(named.items()))


def _with_known_sizes(ev: Evaluator, f: Any, a: Abstract, place: int | str) -> Abstract:
    """Integers may be axes or lengths, which decide the type of the result."""
    inside = ev.sequence(a) if not isinstance(a, Value | Known) else None
    if inside is not None:
        known = [_with_known_sizes(ev, f, part, place) for part in inside]
        same = all(x is y for x, y in zip(known, inside, strict=True))
        return a if same else Tuple(tuple(known))
    if isinstance(a, Value) and a not in ev.dims:
        t = ev.types[a]
        if isinstance(t, Number) and int in t.kinds and f not in _OF_INTEGERS:
            if a in ev.outside.fixed:
                if not _is_of_sizes(f, place):
                    raise NotCovered(f"the derivative of {name_of(f)} in an integer", ev.span)
                return Known(ev.outside.fixed[a])
            raise NeedsKnown(a, f"{name_of(f)} of an integer that is not known", ev.span)
    return a


_OF_INTEGERS = frozenset({abs, float, int, bool, max, min, divmod, round, pow})
"""The type of their result does not depend on the value of an integer."""


_MADE_OF_SIZES: frozenset[Any] = frozenset(
    {np.zeros, np.ones, np.empty, np.eye, np.identity, np.arange}
)
_SIZES_BEHIND: frozenset[Any] = frozenset(
    {
        np.reshape,
        np.broadcast_to,
        np.tile,
        np.repeat,
        np.sum,
        np.mean,
        np.max,
        np.min,
        np.cumsum,
        np.expand_dims,
        np.transpose,
        np.swapaxes,
        np.moveaxis,
        np.concatenate,
        np.stack,
        np.flip,
        np.roll,
        np.tril,
        np.triu,
        np.ndarray.reshape,
        np.ndarray.sum,
        np.ndarray.mean,
        np.ndarray.max,
        np.ndarray.min,
        np.ndarray.repeat,
    }
)
"""Functions all of whose operands, or all behind the first, are axes or lengths."""


def _is_of_sizes(f: Any, place: int | str) -> bool:
    """Whether an integer at some place of a call is an axis or a length, not a number."""
    if f in _MADE_OF_SIZES or (f in _SIZES_BEHIND and place not in (0, "a")):
        return True
    return (f is np.full and place in (0, "shape")) or place in ("axis", "shape")


class NeedsSize(NotCovered):
    """The length of a dimension decides how many values there are."""

    def __init__(self, symbol: Symbol, reason: str, span: Any = None) -> None:
        super().__init__(reason, span)
        self.symbol = symbol


class NeedsKnown(NotCovered):
    """The value of an integer decides a type."""

    def __init__(self, value: Value, reason: str, span: Any = None) -> None:
        super().__init__(reason, span)
        self.value = value


def _function(
    ev: Evaluator,
    f: FunctionType,
    rules: Rules | None,
    args: Sequence[Abstract],
    keywords: dict[str, Abstract],
) -> Abstract:
    """A Python function that is known."""
    if rules is None:
        return ev.inline(ev.outside.own(f), args, keywords)  # type: ignore[arg-type]
    if rules.substitute is not None:
        return ev.inline(ev.outside.own(rules.substitute), args, keywords)  # type: ignore[arg-type]
    if rules.structural is not None or rules.primitive is not None:
        raise NotCovered(f"a call of {name_of(f)}", ev.span)
    closure = _plain_closure(ev, f)
    if f in DECOMPOSED and not _is_constant_polynomial(ev, args):
        return ev.inline(closure, args, keywords)
    if rules.inactive or not rules.rrules:
        if not is_own(f.__globals__):
            raise NotCovered(f"{name_of(f)} is not differentiable", ev.span)
        return ev.inline(closure, args, keywords)
    # its rule is asked in the reverse sweep; its own source says what it returns
    with ev.writing():
        known = ev.inline(closure, args, keywords)
    if not isinstance(known, Value):
        raise NotCovered(f"{name_of(f)} has a rule, and returns a structure", ev.span)
    operands = tuple(map(ev.operand, args))
    named = tuple((k, ev.operand(v)) for k, v in keywords.items())
    return ev.operation(f, operands, ev.types[known], named)


DECOMPOSED = frozenset({evalpoly})
"""Functions whose own source is as exact as their rule, and quicker once it is inlined."""


def _is_constant_polynomial(ev: Evaluator, args: Sequence[Abstract]) -> bool:
    """Whether a polynomial has but one coefficient: its slope is zero, where its source has no
    path."""
    a = args[1] if len(args) == 2 else None
    if isinstance(a, Value):
        return getattr(ev.types[a], "shape", ())[:1] == (1,)
    items = None if a is None else ev.sequence(a)
    return items is not None and len(items) < 2


def _plain_closure(ev: Evaluator, f: FunctionType) -> Closure:
    return Closure(
        f.__code__,
        f.__globals__,
        tuple(map(ev.outside.own, f.__defaults__ or ())),
        tuple((k, ev.outside.own(v)) for k, v in (f.__kwdefaults__ or {}).items()),
        tuple(map(Known, f.__closure__ or ())),
        f,
    )


# ---- classes -------------------------------------------------------------------------------------


def _instance(
    ev: Evaluator, cls: Any, args: Sequence[Abstract], keywords: dict[str, Abstract]
) -> Abstract:
    """A new object of a class of the user's."""
    if lookup(cls) is not None:
        raise NotCovered(f"{cls.__qualname__} has a rule", ev.span)
    if is_named_tuple(cls):
        given = dict(zip(cls._fields, args, strict=False)) | keywords
        if set(given) == set(cls._fields):
            return Tuple(tuple(given[name] for name in cls._fields), cls)
    if (
        not is_plain_object(cls)
        or type(cls) is not type
        or any(
            name in vars(base)
            for base in cls.__mro__[:-1]
            for name in ("__new__", "__setattr__", "__del__")
        )
    ):
        raise NotCovered(f"a new {cls.__qualname__}", ev.span)
    made = ev.allocate(Instance(cls, (), ()))
    if not any("__init__" in vars(base) for base in cls.__mro__[:-1]):
        if args or keywords:
            raise NotCovered("arguments that do not fit", ev.span)
        return made
    call(ev, _special(ev, cls, "__init__"), [made, *args], keywords)
    return made


def set_attribute(ev: Evaluator, a: Abstract, name: str, value: Abstract) -> None:
    """``a.name = value``, of an object that the program made."""
    held = ev.heap[a.address] if isinstance(a, Ref) else None
    if not isinstance(held, Instance):
        raise NotCovered("a write to an attribute of an object from outside", ev.span)
    for base in held.cls.__mro__:
        if name in vars(base) and hasattr(type(vars(base)[name]), "__set__"):
            raise NotCovered(f"a write to the descriptor {name!r}", ev.span)
    assert isinstance(a, Ref)
    if name in held.names:
        at = held.names.index(name)
        items = (*held.items[:at], value, *held.items[at + 1 :])
        ev.heap[a.address] = Instance(held.cls, held.names, items)
    else:
        ev.heap[a.address] = Instance(held.cls, (*held.names, name), (*held.items, value))


# ---- truth ---------------------------------------------------------------------------------------


def truth(ev: Evaluator, a: Abstract) -> Any:
    """Whether `a` is true: known, or a value of the program."""
    row = row_of(ev, a)
    if row is not None:
        return ev.infer(operator.gt, [count(ev, row), Known(0)])
    if isinstance(a, Value):
        t = ev.types[a]
        if isinstance(t, Number):
            if t.kinds <= {bool}:
                return a
            return ev.infer(operator.truth, [a])
        if isinstance(t, Array) and all(d == 1 for d in t.shape):
            return ev.infer(operator.truth, [a])
        raise NotCovered("the truth value of an array", ev.span)
    if isinstance(a, Known):
        if a.value is None or isinstance(a.value, bool | int | float | str | tuple | FunctionType):
            return Known(bool(a.value))
        if isinstance(a.value, type):
            return Known(True)
    if isinstance(a, Closure | Bound | Partial):
        return Known(True)
    items = ev.sequence(a)
    if items is not None:
        return Known(bool(items))
    cls = class_of(ev, a)
    if cls is dict:
        keys = a.sample if isinstance(a, External) else ev.heap[a.address].keys  # type: ignore
        return Known(bool(keys))
    if (
        cls is not None
        and is_plain_object(cls)
        and not (hasattr(cls, "__bool__") or hasattr(cls, "__len__"))
    ):
        return Known(True)
    raise NotCovered("a truth value", ev.span)


@handler(operator.truth, bool)
def _(ev: Evaluator, a: Abstract) -> Abstract:
    return truth(ev, a)  # type: ignore[no-any-return]


@handler(operator.not_)
def _(ev: Evaluator, a: Abstract) -> Abstract:
    known = truth(ev, a)
    if isinstance(known, Known):
        return Known(not known.value)
    return ev.infer(operator.not_, [known])


@handler(operator.is_)
def _(ev: Evaluator, a: Abstract, b: Abstract) -> Abstract:
    return Known(_identical(ev, a, b))


@handler(operator.is_not)
def _(ev: Evaluator, a: Abstract, b: Abstract) -> Abstract:
    return Known(not _identical(ev, a, b))


def _identical(ev: Evaluator, a: Abstract, b: Abstract) -> bool:
    if isinstance(a, Known) and isinstance(b, Known):
        return a.value is b.value
    for x, y in ((a, b), (b, a)):
        if isinstance(x, Known) and not isinstance(y, Known):
            if x.value is None or isinstance(x.value, type | str) or callable(x.value):
                return False
            if isinstance(y, Value) and x.value in (True, False, Ellipsis, NotImplemented):
                t = ev.types[y]
                if isinstance(t, Array) or (isinstance(t, Number) and bool not in t.kinds):
                    return False
    if isinstance(a, Ref) and isinstance(b, Ref):
        return a.address == b.address
    raise NotCovered("a test of identity", ev.span)


# ---- operators -----------------------------------------------------------------------------------

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
        folded = _folded(f, (a, b), {})
        if folded is not None:
            return folded
        if _is_numeric(a) and _is_numeric(b):
            return ev.infer(f, [a, b])
        if f is operator.add and isinstance(a, Tuple) and isinstance(b, Tuple):
            return Tuple(a.items + b.items)
        if f is operator.add and class_of(ev, a) is list and class_of(ev, b) is list:
            left, right = ev.sequence(a), ev.sequence(b)
            if left is not None and right is not None:
                return ev.allocate(ListOf((*left, *right)))
        if f is operator.mul and class_of(ev, a) is list and class_of(ev, b) is int:
            return repeated(ev, a, b)
        return _by_protocol(ev, f, f"__{name}__", f"__r{name}__", a, b)


def _is_numeric(a: Abstract) -> bool:
    if isinstance(a, Known):
        return type(a.value) in (int, float, bool) or isinstance(a.value, np.generic)
    return isinstance(a, Value)


def _by_protocol(
    ev: Evaluator, f: Any, name: str, reflected: str, a: Abstract, b: Abstract
) -> Abstract:
    """An operator of objects: their special methods."""
    left, right = class_of(ev, a), class_of(ev, b)
    if left is None or right is None or (right is not left and issubclass(right, left)):
        raise NotCovered(f"the operator {f.__name__} of such operands", ev.span)
    if left is np.ndarray or right is np.ndarray:
        raise NotCovered(f"the operator {f.__name__} of an array and an object", ev.span)
    for cls, method, operands in ((left, name, [a, b]), (right, reflected, [b, a])):
        if is_plain_object(cls) and hasattr(cls, method):
            found = getattr(cls, method)
            if found is getattr(object, method, None):
                continue
            result = call(ev, _special(ev, cls, method), operands, {})
            if isinstance(result, Known) and result.value is NotImplemented:
                continue
            return result
    raise NotCovered(f"the operator {f.__name__} of such operands", ev.span)


for _f, _name in _BINARY.items():
    _binary(_f, _name)


def _comparison(f: Any, name: str, reflected: str) -> None:
    @handler(f)
    def _(ev: Evaluator, a: Abstract, b: Abstract) -> Abstract:
        folded = _folded(f, (a, b), {})
        if folded is not None:
            return folded
        if _is_numeric(a) and _is_numeric(b):
            known = _compared_lengths(ev, f, a, b)
            return ev.infer(f, [a, b]) if known is None else Known(known)
        if isinstance(a, Tuple) and isinstance(b, Tuple) and f in (operator.eq, operator.ne):
            return _equal_tuples(ev, f, a, b)
        if isinstance(a, Known) and isinstance(b, Known) and f in (operator.eq, operator.ne):
            if isinstance(a.value, np.dtype | type | str):
                return Known(f(a.value, b.value))
        return _by_protocol(ev, f, f"__{name}__", f"__{reflected}__", a, b)


def _compared_lengths(ev: Evaluator, f: Any, a: Abstract, b: Abstract) -> bool | None:
    """A comparison of lengths that is decided by which symbols they are."""
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
    if len(a.items) != len(b.items):
        return Known(f is operator.ne)
    undecided = []
    for x, y in zip(a.items, b.items, strict=True):
        equal = call(ev, Known(operator.eq), [x, y], {})
        if isinstance(equal, Known):
            if not equal.value:
                return Known(f is operator.ne)
        else:
            undecided.append(equal)
    if not undecided:
        return Known(f is operator.eq)
    raise NotCovered("a comparison of tuples", ev.span)


for _f, (_name, _reflected) in _COMPARISONS.items():
    _comparison(_f, _name, _reflected)


def _in_place(f: Any, plain: Any) -> None:
    @handler(f)
    def _(ev: Evaluator, a: Abstract, b: Abstract) -> Abstract:
        if isinstance(a, Value) and isinstance(ev.types[a], Array):
            return update(ev, plain, a, b)
        is_list = isinstance(a, Ref) and class_of(ev, a) is list
        if f is operator.iadd and is_list and class_of(ev, b) in (list, tuple):
            call(ev, Known(list.extend), [a, b], {})
            return a
        if isinstance(a, Ref | External):
            raise NotCovered("an augmented assignment to an object", ev.span)
        return call(ev, Known(plain), [a, b], {})


for _f, _plain in _IN_PLACE.items():
    _in_place(_f, _plain)


def _unary(f: Any, name: str) -> None:
    @handler(f)
    def _(ev: Evaluator, a: Abstract) -> Abstract:
        folded = _folded(f, (a,), {})
        if folded is not None:
            return folded
        if isinstance(a, Value):
            return ev.infer(f, [a])
        cls = class_of(ev, a)
        if cls is not None and is_plain_object(cls):
            return call(ev, _special(ev, cls, name), [a], {})
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
    if isinstance(container, External) and type(container.sample) is dict:
        return Known(a.value in container.sample)
    if isinstance(container, Ref):
        held = ev.heap[container.address]
        if isinstance(held, DictOf):
            return Known(a.value in held.keys)
    if isinstance(container, Known) and isinstance(container.value, str | tuple | dict | frozenset):
        return Known(a.value in container.value)
    items = ev.sequence(container)
    if items is not None:
        equal = [call(ev, Known(operator.eq), [x, a], {}) for x in items]
        if any(isinstance(x, Known) and x.value for x in equal):
            return Known(True)
        if all(isinstance(x, Known) for x in equal):
            return Known(False)
    raise NotCovered("a test of membership", ev.span)


@handler(operator.getitem)
def _(ev: Evaluator, a: Abstract, index: Abstract) -> Abstract:
    cls = class_of(ev, a)
    if cls is not None and is_plain_object(cls) and hasattr(cls, "__getitem__"):
        return call(ev, _special(ev, cls, "__getitem__"), [a, index], {})
    return item(ev, a, index)


@handler(operator.setitem)
def _(ev: Evaluator, a: Abstract, index: Abstract, value: Abstract) -> Abstract:
    held = ev.heap[a.address] if isinstance(a, Ref) else None
    if isinstance(held, RowOf) or (isinstance(held, ListOf) and isinstance(index, Value)):
        put_into_list(ev, a, index, value)  # type: ignore[arg-type]
        return Known(None)
    if isinstance(held, ListOf) and isinstance(index, Known) and type(index.value) is int:
        n = len(held.items)
        if not -n <= index.value < n:
            raise NotCovered("an index out of range", ev.span)
        at = index.value % n
        ev.heap[a.address] = ListOf((*held.items[:at], value, *held.items[at + 1 :]))  # type: ignore
        return Known(None)
    if isinstance(held, DictOf) and isinstance(index, Known):
        if type(index.value) not in (str, int):
            raise NotCovered("a key of another kind", ev.span)
        items = dict(zip(held.keys, held.items, strict=True)) | {index.value: value}
        ev.heap[a.address] = DictOf(tuple(items), tuple(items.values()))  # type: ignore[union-attr]
        return Known(None)
    if isinstance(a, Value):
        put(ev, a, index, value)
        return Known(None)
    raise NotCovered("a write to an item", ev.span)


# ---- attributes, types ---------------------------------------------------------------------------


@handler(getattr)
def _(ev: Evaluator, a: Abstract, name: Abstract) -> Abstract:
    if not isinstance(name, Known):
        raise NotCovered("an attribute whose name is not known", ev.span)
    return attribute(ev, a, name.value)


@handler(setattr)
def _(ev: Evaluator, a: Abstract, name: Abstract, value: Abstract) -> Abstract:
    assert isinstance(name, Known)
    set_attribute(ev, a, name.value, value)
    return Known(None)


@handler(primitives.call_method)
def _(
    ev: Evaluator, a: Abstract, name: Abstract, *args: Abstract, **keywords: Abstract
) -> Abstract:
    assert isinstance(name, Known)
    return call(ev, attribute(ev, a, name.value), args, keywords)


@handler(isinstance)
def _(ev: Evaluator, a: Abstract, classes: Abstract) -> Abstract:
    if not isinstance(classes, Known):
        items = ev.sequence(classes)
        if items is None or not all(isinstance(x, Known) for x in items):
            raise NotCovered("isinstance of a class that is not known", ev.span)
        classes = Known(tuple(x.value for x in items))  # type: ignore[union-attr]
    if isinstance(a, Value) and isinstance(t := ev.types[a], Number):
        found = {issubclass(kind, classes.value) for kind in t.kinds}
        if len(found) == 1:
            return Known(found.pop())
    else:
        cls = class_of(ev, a)
        if cls is not None:
            return Known(issubclass(cls, classes.value))
    raise NotCovered("isinstance of a value of several types", ev.span)


@handler(type)
def _(ev: Evaluator, a: Abstract) -> Abstract:
    cls = class_of(ev, a)
    if cls is None:
        raise NotCovered("the type of a value of several types", ev.span)
    return Known(cls)


@handler(callable)
def _(ev: Evaluator, a: Abstract) -> Abstract:
    if isinstance(a, Value | Tuple):
        return Known(False)
    if isinstance(a, Closure | Bound | Partial):
        return Known(True)
    cls = class_of(ev, a)
    if cls is None:
        raise NotCovered("callable", ev.span)
    return Known(callable(a.value) if isinstance(a, Known) else "__call__" in dir(cls))


@handler(len)
def _(ev: Evaluator, a: Abstract) -> Abstract:
    if isinstance(a, Value) and isinstance(t := ev.types[a], Array) and t.shape:
        return length_of(ev, a, 0)
    if isinstance(a, Known) and isinstance(a.value, str | tuple):
        return Known(len(a.value))
    row = row_of(ev, a)
    if row is not None:
        return count(ev, row)
    items = ev.sequence(a)
    if items is not None:
        return Known(len(items))
    if isinstance(a, External) and type(a.sample) is dict:
        return Known(len(a.sample))
    cls = class_of(ev, a)
    if cls is not None and is_plain_object(cls):
        return call(ev, _special(ev, cls, "__len__"), [a], {})
    raise NotCovered("a length", ev.span)


@handler(np.shape)
def _(ev: Evaluator, a: Abstract) -> Abstract:
    if isinstance(a, Value):
        if isinstance(ev.types[a], Number):
            return Tuple(())
        return attribute(ev, a, "shape")
    if isinstance(a, Known) and isinstance(a.value, int | float):
        return Tuple(())
    raise NotCovered("a shape", ev.span)


@handler(np.ndim)
def _(ev: Evaluator, a: Abstract) -> Abstract:
    if isinstance(a, Value):
        t = ev.types[a]
        return Known(len(t.shape) if isinstance(t, Array) else 0)
    if isinstance(a, Known) and isinstance(a.value, int | float):
        return Known(0)
    raise NotCovered("a rank", ev.span)


@handler(np.size)
def _(ev: Evaluator, a: Abstract) -> Abstract:
    if isinstance(a, Value) and isinstance(ev.types[a], Array):
        return attribute(ev, a, "size")
    raise NotCovered("a size", ev.span)


@handler(np.iscomplexobj)
def _(ev: Evaluator, a: Abstract) -> Abstract:
    if _is_numeric(a):
        return Known(False)
    raise NotCovered("iscomplexobj", ev.span)


@handler(np.isrealobj)
def _(ev: Evaluator, a: Abstract) -> Abstract:
    if _is_numeric(a):
        return Known(True)
    raise NotCovered("isrealobj", ev.span)


@handler(np.ndarray.tolist)
def _(ev: Evaluator, a: Abstract) -> Abstract:
    """A short array, as a list of Python's numbers."""
    assert isinstance(a, Value)
    t = ev.types[a]
    if not isinstance(t, Array) or len(t.shape) != 1:
        raise NotCovered("tolist of something else than a row", ev.span)
    (n,) = t.shape
    kind = float if t.dtype.kind == "f" else bool if t.dtype.kind == "b" else int
    if not isinstance(n, int):
        if not ev.outside.rows or (ev.outside.size_of(n) or LONG) < LONG:
            raise NeedsSize(n, "a list of unknown length", ev.span)
        made = ev.operation(np.ndarray.tolist, (a,), Row(number(kind)), name="items")
        ev.row_lengths[made] = n
        return ev.allocate(RowOf(made))
    whole = ev.operation(np.ndarray.tolist, (a,), ANYTHING, name="parts")
    items = tuple(ev.value(number(kind), name=f"{a.name}{i}") for i in range(n))
    ev.write(Unpack(items, whole, None, ev.span))
    return ev.allocate(ListOf(items))


@handler(project)
def _(ev: Evaluator, bar: Abstract, x: Abstract) -> Abstract:
    """In the fast tier, cotangents have the type of their primal where they are summed."""
    return bar


# ---- construction --------------------------------------------------------------------------------


@handler(primitives.build_tuple)
def _(ev: Evaluator, *items: Abstract) -> Abstract:
    return Tuple(items)


@handler(primitives.build_list)
def _(ev: Evaluator, *items: Abstract) -> Abstract:
    return ev.allocate(ListOf(items))


@handler(primitives.build_slice)
def _(ev: Evaluator, start: Abstract, stop: Abstract, step: Abstract) -> Abstract:
    return SliceOf(start, stop, step)


@handler(primitives.build_dict)
def _(ev: Evaluator, *items: Abstract) -> Abstract:
    keys = items[::2]
    if not all(isinstance(k, Known) and type(k.value) in (str, int) for k in keys):
        raise NotCovered("a dict with keys of another kind", ev.span)
    made = dict(zip([k.value for k in keys], items[1::2], strict=True))  # type: ignore[union-attr]
    return ev.allocate(DictOf(tuple(made), tuple(made.values())))


@handler(primitives.list_append)
def _(ev: Evaluator, xs: Abstract, value: Abstract) -> Abstract:
    held = ev.heap[xs.address] if isinstance(xs, Ref) else None
    if not isinstance(held, ListOf | RowOf):
        raise NotCovered("append to a list from outside", ev.span)
    append(ev, xs, value)
    return Known(None)


handlers[list.append] = handlers[primitives.list_append]


@handler(list.pop)
def _(ev: Evaluator, xs: Abstract) -> Abstract:
    held = ev.heap[xs.address] if isinstance(xs, Ref) else None
    if not isinstance(xs, Ref) or not isinstance(held, ListOf | RowOf):
        raise NotCovered("a write to a list from outside", ev.span)
    return pop(ev, xs)


@handler(primitives.list_extend)
def _(ev: Evaluator, xs: Abstract, values: Abstract, function: Abstract | None = None) -> Abstract:
    from adjoint.fast.loops import iterate

    held = ev.heap[xs.address] if isinstance(xs, Ref) else None
    if not isinstance(held, ListOf | RowOf) or values == xs:
        raise NotCovered("extending a list", ev.span)

    def add(x: Abstract, carried: list[Abstract]) -> list[Abstract]:
        append(ev, xs, x)
        return carried

    iterate(ev, values, [], add)
    return Known(None)


handlers[list.extend] = handlers[primitives.list_extend]


@handler(primitives.list_to_tuple)
def _(ev: Evaluator, xs: Abstract) -> Abstract:
    return _as_tuple(ev, xs)


@handler(tuple)
def _(ev: Evaluator, xs: Abstract | None = None) -> Abstract:
    return Tuple(()) if xs is None else _as_tuple(ev, xs)


def _as_tuple(ev: Evaluator, xs: Abstract) -> Abstract:
    from adjoint.fast.loops import collected

    if isinstance(xs, Tuple):
        return Tuple(xs.items)
    made = collected(ev, xs)
    held = ev.heap[made.address]
    if isinstance(held, RowOf):
        ev.heap[made.address] = RowOf(held.value, tuple)
        return made
    assert isinstance(held, ListOf)
    return Tuple(held.items)


@handler(list)
def _(ev: Evaluator, xs: Abstract | None = None) -> Abstract:
    from adjoint.fast.loops import collected

    if xs is None:
        return ev.allocate(ListOf(()))
    row = row_of(ev, xs)
    if row is not None:
        made = item_of(ev, xs, row, Known(slice(None)))
        assert isinstance(made, Ref)
        held = ev.heap[made.address]
        assert isinstance(held, RowOf)
        if held.kind is tuple:
            raise NotCovered("a list of a tuple of unknown length", ev.span)
        return made
    return collected(ev, xs)


@handler(primitives.apply)
def _(ev: Evaluator, f: Abstract, args: Abstract, keywords: Abstract) -> Abstract:
    items = ev.sequence(args)
    named: dict[str, Abstract] = {}
    if isinstance(keywords, Ref) and isinstance(held := ev.heap[keywords.address], DictOf):
        named = dict(zip(held.keys, held.items, strict=True))
    elif not (isinstance(keywords, Known) and not keywords.value):
        raise NotCovered("a call with **", ev.span)
    if items is None:
        raise NotCovered("a call with * of unknown length", ev.span)
    return call(ev, f, items, named)


@handler(primitives.dict_merge, primitives.dict_update)
def _(ev: Evaluator, mapping: Abstract, other: Abstract, f: Abstract | None = None) -> Abstract:
    held = ev.heap[mapping.address] if isinstance(mapping, Ref) else None
    if not isinstance(held, DictOf):
        raise NotCovered("a dict", ev.span)
    made = dict(zip(held.keys, held.items, strict=True))
    if isinstance(other, External) and type(other.sample) is dict:
        more = {k: item(ev, other, Known(k)) for k in other.sample}
    elif isinstance(other, Ref) and isinstance(inner := ev.heap[other.address], DictOf):
        more = dict(zip(inner.keys, inner.items, strict=True))
    else:
        raise NotCovered("** of something else than a dict", ev.span)
    if f is not None and made.keys() & more.keys():
        raise NotCovered("a keyword that is given twice", ev.span)
    made |= more
    ev.heap[mapping.address] = DictOf(tuple(made), tuple(made.values()))  # type: ignore[union-attr]
    return Known(None)


# ---- functions and cells -------------------------------------------------------------------------


@handler(primitives.current_globals)
def _(ev: Evaluator) -> Abstract:
    return Known(ev.frames[-1].namespace)


@handler(primitives.make_function)
def _(
    ev: Evaluator,
    code: Abstract,
    namespace: Abstract,
    defaults: Abstract,
    named: Abstract,
    annotations: Abstract,
    *cells: Abstract,
) -> Abstract:
    assert isinstance(code, Known) and isinstance(namespace, Known)
    given = () if isinstance(defaults, Known) and defaults.value is None else ev.sequence(defaults)
    by_name: tuple[tuple[str, Abstract], ...] = ()
    if isinstance(named, Ref) and isinstance(held := ev.heap[named.address], DictOf):
        by_name = tuple(zip(held.keys, held.items, strict=True))
    if given is None:
        raise NotCovered("defaults of unknown number", ev.span)
    return Closure(code.value, namespace.value, given, by_name, cells)


@handler(primitives.new_cell)
def _(ev: Evaluator) -> Abstract:
    return ev.allocate(CellOf((MISSING,)))


@handler(primitives.load_cell)
def _(ev: Evaluator, cell: Abstract, name: Abstract) -> Abstract:
    found = ev.load_cell(cell)
    if found is MISSING:
        raise NotCovered("a captured variable without a value", ev.span)
    return found


@handler(primitives.store_cell)
def _(ev: Evaluator, cell: Abstract, value: Abstract) -> Abstract:
    if not isinstance(cell, Ref):
        raise NotCovered("a write to a variable of an enclosing function", ev.span)
    ev.heap[cell.address] = CellOf((value,))
    return Known(None)


@handler(single_primitives.assigned)
def _(ev: Evaluator, a: Abstract, name: Abstract) -> Abstract:
    """A variable that may have no value."""
    if a is MISSING:
        raise NotCovered("a variable that may have no value", ev.span)
    inside = parts(a)
    if inside:
        checked = [call(ev, Known(single_primitives.assigned), [x, name], {}) for x in inside]
        same = all(x is y for x, y in zip(inside, checked, strict=True))
        return a if same else rebuild(a, iter(checked))
    if not isinstance(a, Value) or a not in ev.maybe:
        return a
    return ev.operation(runtime.assigned, (a,), ev.types[a])


@handler(single_primitives.same)
def _(ev: Evaluator, a: Abstract) -> Abstract:
    return a


# ---- iteration -----------------------------------------------------------------------------------


@handler(range)
def _(ev: Evaluator, *operands: Abstract) -> Abstract:
    return Iterating(range, operands)


def _iterating(kind: Any) -> None:
    @handler(kind)
    def _(ev: Evaluator, xs: Abstract) -> Abstract:
        return ev.allocate(IteratorOf(Iterating(kind, (xs,))))


_iterating(reversed)


@handler(enumerate)
def _(ev: Evaluator, xs: Abstract, start: Abstract = Known(0)) -> Abstract:
    return ev.allocate(IteratorOf(Iterating(enumerate, (xs, start))))


@handler(zip)
def _(ev: Evaluator, *operands: Abstract, strict: Abstract = Known(False)) -> Abstract:
    if not isinstance(strict, Known) or type(strict.value) is not bool:
        raise NotCovered("an option of zip", ev.span)
    return ev.allocate(IteratorOf(Iterating(zip, operands, None, strict.value)))


@handler(map)
def _(ev: Evaluator, f: Abstract, *operands: Abstract) -> Abstract:
    return ev.allocate(IteratorOf(Iterating(map, operands, f)))


@handler(filter)
def _(ev: Evaluator, f: Abstract, xs: Abstract) -> Abstract:
    return ev.allocate(IteratorOf(Iterating(filter, (xs,), f)))


@handler(iter)
def _(ev: Evaluator, xs: Abstract) -> Abstract:
    if isinstance(xs, Ref) and isinstance(ev.heap[xs.address], IteratorOf):
        return xs
    return ev.allocate(IteratorOf(Iterating(iter, (xs,))))


@handler(single_primitives.yielded)
def _(ev: Evaluator, value: Abstract) -> Abstract:
    consumer = ev.frames[-1].consumer
    assert consumer is not None
    return consumer.take(ev, value)


def _quantifier(f: Any, stopping: bool) -> None:
    """``any`` and ``all``: whether one item is, or is not, what ends the search."""

    @handler(f)
    def _(ev: Evaluator, xs: Abstract) -> Abstract:
        from adjoint.fast.loops import search

        def body(x: Abstract, carried: list[Abstract]) -> list[Abstract]:
            found = truth(ev, x)
            return [call(ev, Known(operator.not_), [found], {}) if stopping else found]

        (ended,) = search(ev, xs, [], body)
        return call(ev, Known(operator.not_), [ended], {}) if stopping else ended


_quantifier(any, True)
_quantifier(all, False)


@handler(next)
def _(ev: Evaluator, xs: Abstract, default: Abstract | None = None) -> Abstract:
    """The first item of an iterator, of which nothing else is asked."""
    from adjoint.fast.loops import search

    if not isinstance(xs, Ref) or not isinstance(ev.heap[xs.address], IteratorOf):
        raise NotCovered("next of something else than an iterator", ev.span)
    first = MISSING if default is None else default
    ended, found = search(ev, xs, [first], lambda x, carried: [Known(False), x])
    if default is not None:
        return found
    if isinstance(ended, Known) and ended.value:
        raise NotCovered("next of an empty iterator", ev.span)
    if isinstance(ended, Value):
        ev.branch(ended, ev._leave, list, ev.span)
    return call(ev, Known(single_primitives.assigned), [found, Known("item")], {})


@handler(sum)
def _(ev: Evaluator, xs: Abstract, start: Abstract = Known(0)) -> Abstract:
    from adjoint.fast.loops import iterate

    seen: list[Abstract] = []

    def add(x: Abstract, carried: list[Abstract]) -> list[Abstract]:
        seen[:] = [call(ev, Known(operator.add), [carried[0], x], {})]
        return list(seen)

    row = row_of(ev, xs)
    if row is not None:
        found = reduced(ev, runtime.total, row)
        is_zero = isinstance(start, Known) and type(start.value) is int and start.value == 0
        return found if is_zero else call(ev, Known(operator.add), [start, found], {})
    (total,) = iterate(ev, xs, [start], add)
    return _of_some(ev, total, seen[0]) if seen else total


def _of_some(ev: Evaluator, total: Abstract, last: Abstract) -> Abstract:
    """A sum whose type does not depend on whether there was anything to add: where nothing was
    added to 0, it would be an integer."""
    if isinstance(total, Value) and isinstance(last, Value):
        of_total, of_last = ev.types[total], ev.types[last]
        if isinstance(of_total, Number) and isinstance(of_last, Number):
            if int in of_total.kinds and int not in of_last.kinds:
                kinds = Number(of_total.kinds - {int})
                return ev.operation(runtime.inexact, (total,), kinds)
    return total


# ---- numbers, arrays -----------------------------------------------------------------------------


@handler(float)
def _(ev: Evaluator, a: Abstract) -> Abstract:
    if isinstance(a, Known) and isinstance(a.value, int | float) and not isinstance(a, Flag):
        return Known(float(a.value))
    if isinstance(a, Value):
        t = ev.types[a]
        if isinstance(t, Number) and t.kinds <= {float}:
            return a
        if isinstance(t, Number) or all(d == 1 for d in t.shape):  # type: ignore[union-attr]
            return ev.infer(float, [a])
    raise NotCovered("float of something else than a number", ev.span)


def _extreme(f: Any) -> None:
    @handler(f)
    def _(ev: Evaluator, *operands: Abstract) -> Abstract:
        items: Sequence[Abstract] | None = operands
        if len(operands) == 1:
            from adjoint.fast.loops import collected

            row = row_of(ev, operands[0])
            if row is None:
                made = collected(ev, operands[0])
                row, items = row_of(ev, made), ev.sequence(made)
            if row is not None:
                return reduced(ev, runtime.greatest if f is max else runtime.least, row)
        if not items or not all(map(_is_numeric, items)):
            raise NotCovered(f"{f.__name__} of such operands", ev.span)
        if len(items) == 1:
            return items[0]
        folded = _folded(f, items, {})
        if folded is not None:
            return folded
        kinds: set[type] = set()
        for x in items:
            t = ev.types[x] if isinstance(x, Value) else number(type(x.value))  # type: ignore[union-attr]
            if not isinstance(t, Number):
                raise NotCovered(f"{f.__name__} of arrays", ev.span)
            kinds |= t.kinds
        return ev.operation(f, tuple(map(ev.operand, items)), Number(frozenset(kinds)))


for _f in (max, min):
    _extreme(_f)


@handler(np.mean, np.ndarray.mean)
def _(
    ev: Evaluator, a: Abstract, axis: Abstract = Known(None), *, keepdims: Abstract = Known(False)
) -> Abstract:
    """The sum over the number of elements, which is how NumPy computes it."""
    t = ev.types.get(a) if isinstance(a, Value) else None
    plain = isinstance(t, Array) and t.dtype.char in "fd"
    if not plain or not isinstance(axis, Known) or not isinstance(keepdims, Known):
        return _inferred(ev, np.mean, [a, axis], {"keepdims": keepdims})
    assert isinstance(t, Array) and isinstance(a, Value)
    options: dict[str, Abstract] = {"axis": axis} if axis.value is not None else {}
    if keepdims.value:
        options["keepdims"] = keepdims
    total = call(ev, Known(np.sum), [a], options)
    axes = range(len(t.shape)) if axis.value is None else np.atleast_1d(axis.value).tolist()
    count: Abstract = Known(1)
    for i in axes:
        count = product(ev, count, length_of(ev, a, i))
    return call(ev, Known(operator.truediv), [total, count], {})


@handler(math.fsum)
def _(ev: Evaluator, xs: Abstract) -> Abstract:
    from adjoint.fast.loops import collected

    row = row_of(ev, xs)
    if row is None:
        made = collected(ev, xs)
        if row_of(ev, made) is None:
            as_row(ev, made.address)
        row = row_of(ev, made)
    assert row is not None
    found = reduced(ev, runtime.exact_total, row)
    assert isinstance(found, Value)
    ev.types[found] = number(float)
    return found
