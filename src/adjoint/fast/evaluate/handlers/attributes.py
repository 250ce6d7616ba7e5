"""Handlers of attribute access and of queries of types, lengths and shapes."""

from __future__ import annotations

import abc
import inspect
import numbers
import typing
from types import FunctionType, ModuleType, UnionType
from typing import Any

import numpy as np

from adjoint.fast.evaluate.attribute_reads import attribute, special_method
from adjoint.fast.evaluate.call_frames import attempted
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.growing import restorable
from adjoint.fast.evaluate.handlers.operators import is_numeric
from adjoint.fast.evaluate.handlers.table import handler
from adjoint.fast.evaluate.items import item, length_of
from adjoint.fast.evaluate.iterables import MOST_UNROLLED
from adjoint.fast.evaluate.leaves import LONG
from adjoint.fast.evaluate.objects.containers import KINDS
from adjoint.fast.evaluate.objects.derived import derived_instance
from adjoint.fast.evaluate.objects.instances import object_of_fields, set_attribute
from adjoint.fast.evaluate.objects.memory_orders import set_flag
from adjoint.fast.evaluate.objects.number_keys import tabled
from adjoint.fast.evaluate.objects.records import records
from adjoint.fast.evaluate.parts_of_numbers import part_of
from adjoint.fast.evaluate.plain_classes import (
    changed_by,
    has_own,
    is_plain_class,
    is_plain_object,
)
from adjoint.fast.evaluate.rows import count, row_of
from adjoint.fast.evaluate.types import (
    ANYTHING,
    Array,
    Number,
    Row,
    has_complex,
    is_complex,
    number,
)
from adjoint.fast.evaluate.values import (
    Abstract,
    Bound,
    Closure,
    External,
    Instance,
    IteratorOf,
    Known,
    ListOf,
    Partial,
    Ref,
    RowOf,
    Tuple,
)
from adjoint.fast.evaluate.writes.adopted_containers import object_behind
from adjoint.fast.evaluate.writes.array_writes import put
from adjoint.fast.not_covered import NeedsSize, NotCovered, Raises
from adjoint.ir import primitives
from adjoint.ir.single import Unpack, Value
from adjoint.primal.special_methods import class_attribute
from adjoint.rulekit.projection import project
from adjoint.rules.python.plain_fields import object_of


@handler(getattr)
def _(ev: Evaluator, a: Abstract, name: Abstract, default: Abstract | None = None) -> Abstract:
    if not isinstance(name, Known):
        raise NotCovered("an attribute whose name is not known", ev.span)
    try:
        with attempted(ev, default is not None):
            return attribute(ev, a, name.value)
    except Raises as error:
        if default is None or error.kind is None or not issubclass(error.kind, AttributeError):
            raise
        return default


@handler(vars)
def _(ev: Evaluator, a: Abstract) -> Abstract:
    return attribute(ev, a, "__dict__")


@handler(dir)
def _(ev: Evaluator, a: Abstract) -> Abstract:
    cls = ev.class_of(a)
    if cls is None or not is_plain_object(cls) or has_own(cls, "__dir__"):
        raise NotCovered("a call of dir", ev.span)
    fields = ev.keys(attribute(ev, a, "__dict__"))
    ev.outside.rely_on(cls)
    return ev.allocate(ListOf(tuple(map(Known, sorted({*dir(cls), *(fields or ())})))))


@handler(setattr)
def _(ev: Evaluator, a: Abstract, name: Abstract, value: Abstract) -> Abstract:
    assert isinstance(name, Known)
    if name.value in ("real", "imag") and isinstance(a, Value) and isinstance(ev.types[a], Array):
        part = part_of(ev, a, name.value)
        assert isinstance(part, Value)
        put(ev, part, Known(...), value)
    else:
        set_attribute(ev, a, name.value, value)
    return Known(None)


handler(object_of)(object_of_fields)


@handler(primitives.call_method)
def _(
    ev: Evaluator, a: Abstract, name: Abstract, /, *args: Abstract, **keywords: Abstract
) -> Abstract:
    assert isinstance(name, Known)
    return ev.call_any(attribute(ev, a, name.value), args, keywords)


@handler(isinstance)
def _(ev: Evaluator, a: Abstract, classes: Abstract) -> Abstract:
    known = _known_classes(ev, classes)
    if isinstance(a, Value) and isinstance(t := ev.types[a], Number):
        found = {issubclass(kind, known) for kind in t.kinds}
        if len(found) == 1:
            return Known(found.pop())
    else:
        cls = ev.class_of(a)
        if cls is not None:
            return Known(issubclass(cls, known))
        if isinstance(ev.held(a), IteratorOf) and not _may_iterate(known):
            return Known(False)
    raise NotCovered("isinstance of a value of several types", ev.span)


def _may_iterate(classes: Any) -> bool:
    """Return whether an iterator may be an object of one of the classes."""
    if isinstance(classes, tuple | UnionType):
        return any(map(_may_iterate, classes if isinstance(classes, tuple) else classes.__args__))
    return type(classes) is not type or classes is object or hasattr(classes, "__next__")


@handler(issubclass)
def _(ev: Evaluator, cls: Abstract, classes: Abstract) -> Abstract:
    if not isinstance(cls, Known) or not isinstance(cls.value, type):
        raise NotCovered("issubclass of what is not known", ev.span)
    ev.outside.rely_on(cls.value)
    return Known(issubclass(cls.value, _known_classes(ev, classes)))


def _known_classes(ev: Evaluator, classes: Abstract) -> Any:
    """Return the second argument of `isinstance`."""
    if not isinstance(classes, Known):
        items = ev.sequence(classes)
        if items is None or not all(isinstance(x, Known) for x in items):
            raise NotCovered("isinstance of a class that is not known", ev.span)
        classes = Known(tuple(x.value for x in items))  # type: ignore[union-attr]
    _demand_plain_checks(ev, classes.value)
    return classes.value


def _demand_plain_checks(ev: Evaluator, classes: Any) -> None:
    """Require that `isinstance` of the classes depends only on the class of the object and on
    registrations."""
    for cls in classes if isinstance(classes, tuple) else (classes,):
        if isinstance(cls, tuple | UnionType):
            _demand_plain_checks(ev, cls if isinstance(cls, tuple) else cls.__args__)
        elif isinstance(cls, abc.ABCMeta):
            hooked = next(base for base in cls.__mro__ if "__subclasshook__" in vars(base))
            if type(cls) is not abc.ABCMeta or hooked.__module__ not in _OWN_HOOKS:
                raise NotCovered(f"isinstance of {cls.__qualname__}, which has a say", ev.span)
            ev.outside.rely_on_registrations()
        elif type(cls) is not type:
            meta: Any = type(cls)
            if any(getattr(meta, name) is not getattr(type, name) for name in _CHECKS):
                raise NotCovered(f"isinstance of {cls}, which has a say", ev.span)
            ev.outside.rely_on(meta)


_CHECKS = ("__instancecheck__", "__subclasscheck__")
_OWN_HOOKS = frozenset({"collections.abc", "builtins", "abc"})
"""Modules whose ``__subclasshook__`` looks at methods only."""


@handler(type)
def _(ev: Evaluator, a: Abstract) -> Abstract:
    cls = ev.class_of(a)
    if cls is None:
        raise NotCovered("the type of a value of several types", ev.span)
    return Known(cls)


@handler(callable)
def _(ev: Evaluator, a: Abstract) -> Abstract:
    if isinstance(a, Value | Tuple):
        return Known(False)
    if isinstance(a, Closure | Bound | Partial):
        return Known(True)
    cls = ev.class_of(a)
    if cls is None:
        raise NotCovered("callable", ev.span)
    if isinstance(a, Known):
        return Known(callable(a.value))
    return Known(any("__call__" in vars(base) for base in cls.__mro__))


@handler(len)
def _(ev: Evaluator, a: Abstract) -> Abstract:
    if isinstance(a, Value) and isinstance(t := ev.types[a], Array) and t.shape:
        return length_of(ev, a, 0)
    if isinstance(a, Known) and isinstance(a.value, str | tuple):
        return Known(len(a.value))
    if isinstance(a, Known) and type(a.value) is np.ndarray and a.value.ndim:
        return Known(len(a.value))
    table = tabled(ev, a) or records(ev, a)
    row = row_of(ev, a if table is None else table.items[0])
    if row is not None:
        return count(ev, row)
    n = ev.count(a)
    if n is not None:
        return Known(n)
    cls = ev.class_of(a)
    if cls is not None and is_plain_object(cls):
        found = ev.call(special_method(ev, cls, "__len__"), [a], {})
        if isinstance(found, Known) and type(found.value) is int and found.value >= 0:
            return found
        held = derived_instance(ev, a)
        is_counted = held is not None and "__len__" not in changed_by(held.cls)
        if isinstance(found, Value) and (found in ev.dims or is_counted):
            return found
    none = cls in (float, int, complex, bool, type(None), slice)
    none = none or isinstance(ev.held(a), IteratorOf)
    raise Raises(TypeError if none else None, "a length", ev.span)


def _query(f: Any, name: str, of_number: Abstract | None, reason: str) -> None:
    """Register a function that returns the attribute `name` of an array."""

    @handler(f)
    def _(ev: Evaluator, a: Abstract) -> Abstract:
        if not isinstance(a, Known) and ev.sequence(a) is not None:
            a = ev.call(Known(np.asarray), [a], {})
        t = ev.types[a] if isinstance(a, Value) else None
        if isinstance(t, Array):
            return attribute(ev, a, name)
        is_known = isinstance(a, Known) and isinstance(a.value, int | float | complex)
        if of_number is None or not (is_known or isinstance(t, Number)):
            raise NotCovered(reason, ev.span)
        return of_number


_query(np.shape, "shape", Tuple(()), "a shape")
_query(np.ndim, "ndim", Known(0), "a rank")
_query(np.size, "size", Known(1), "a size")


@handler(np.iterable)
def _(ev: Evaluator, a: Abstract) -> Abstract:
    if isinstance(a, Value):
        t = ev.types[a]
        return Known(isinstance(t, Row) or (isinstance(t, Array) and bool(t.shape)))
    cls = ev.class_of(a)
    if cls not in (list, tuple, dict, str, int, float, bool, complex, type(None)):
        raise NotCovered("whether an object is iterable", ev.span)
    return Known(hasattr(cls, "__iter__"))


@handler(np.isscalar)
def _(ev: Evaluator, a: Abstract) -> Abstract:
    if isinstance(a, Value):
        return Known(isinstance(ev.types[a], Number))
    cls = ev.class_of(a)
    if isinstance(a, Known):
        return Known(np.isscalar(a.value))
    if cls is None or issubclass(cls, numbers.Number | np.generic | bytes):
        raise NotCovered("whether an object is a number", ev.span)
    return Known(cls is str)


@handler(np.iscomplexobj)
def _(ev: Evaluator, a: Abstract) -> Abstract:
    return Known(_is_complex(ev, a))


@handler(np.isrealobj)
def _(ev: Evaluator, a: Abstract) -> Abstract:
    return Known(not _is_complex(ev, a))


def _is_complex(ev: Evaluator, a: Abstract) -> bool:
    """Return whether a number or an array is complex; not covered if its type leaves it open."""
    if isinstance(a, Known) and is_numeric(a):
        return np.iscomplexobj(a.value)
    if isinstance(a, Value):
        t = ev.types[a]
        if not has_complex(t):
            return False
        if is_complex(t):
            return True
    raise NotCovered("whether a number is complex", ev.span)


_LISTED: dict[str, type] = {"f": float, "b": bool, "c": complex}
"""Classes of the elements of ``a.tolist()``, by kind of dtype; ``int`` for all others."""


@handler(np.ndarray.setflags)
def _(ev: Evaluator, a: Abstract, write: Abstract) -> Abstract:
    set_flag(ev, a, "writeable", write)
    return Known(None)


@handler(np.ndarray.tolist)
def _(ev: Evaluator, a: Abstract) -> Abstract:
    """Unpack a short array into a list; make a `RowOf` of a long one."""
    assert isinstance(a, Value)
    t = ev.types[a]
    if not isinstance(t, Array) or not t.shape:
        raise NotCovered("tolist of something else than an array", ev.span)
    n = t.shape[0]
    if len(t.shape) > 1:
        if not isinstance(n, int):
            raise NeedsSize(n, "a list of unknown length", ev.span, MOST_UNROLLED)
        inner = (item(ev, a, Known(i)) for i in range(n))
        rows = tuple(ev.call(Known(np.ndarray.tolist), [x], {}) for x in inner)
        return ev.allocate(ListOf(rows))
    kind = _LISTED.get(t.dtype.kind, int)
    if not isinstance(n, int):
        if not ev.outside.rows or (ev.outside.size_of(n) or LONG) < LONG:
            raise NeedsSize(n, "a list of unknown length", ev.span, MOST_UNROLLED)
        made = ev.operation(np.ndarray.tolist, (a,), Row(number(kind)), name="items")
        ev.row_lengths[made] = n
        return ev.allocate(RowOf(made))
    whole = ev.operation(np.ndarray.tolist, (a,), ANYTHING, name="parts")
    items = tuple(ev.value(number(kind), name=f"{a.name}{i}") for i in range(n))
    ev.write(Unpack(items, whole, None, ev.span))
    return ev.allocate(ListOf(items))


@handler(project)
def _(ev: Evaluator, bar: Abstract, x: Abstract) -> Abstract:
    """Return `bar` unchanged: `Scope.add` fits cotangents to their primal."""
    return bar


@handler(typing.get_args)
def _(ev: Evaluator, a: Abstract) -> Abstract:
    if not isinstance(a, Known):
        raise NotCovered("get_args of what is not known", ev.span)
    return Tuple(tuple(map(Known, typing.get_args(a.value))))


# ---- hasattr -------------------------------------------------------------------------------------


@handler(hasattr)
def _(ev: Evaluator, a: Abstract, name: Abstract) -> Abstract:
    if not isinstance(name, Known) or type(name.value) is not str:
        raise NotCovered("hasattr", ev.span)
    return Known(has(ev, a, name.value))


_WITHOUT_FIELDS = (
    np.ndarray,
    np.float64,
    float,
    int,
    bool,
    complex,
    str,
    type(None),
    *KINDS,
    tuple,
)


@handler(inspect.getattr_static)
def _(ev: Evaluator, a: Abstract, name: Abstract, default: Abstract | None = None) -> Abstract:
    cls = ev.class_of(a)
    if cls not in _WITHOUT_FIELDS or not isinstance(name, Known) or default is None:
        raise NotCovered("a call of getattr_static", ev.span)
    found = class_attribute(cls, name.value)
    return default if found is None else Known(found)


def has(ev: Evaluator, a: Abstract, name: str) -> bool:
    """Return whether an abstract value has an attribute; add the guards for it."""
    cls = ev.class_of(a)
    if isinstance(a, Value):
        if isinstance(ev.types[a], Array) or cls is not None:
            one = np.empty(0) if isinstance(ev.types[a], Array) else cls()  # type: ignore[misc]
            return hasattr(one, name)
    elif isinstance(a, Known) and isinstance(a.value, type) and is_plain_class(a.value):
        ev.outside.rely_on(a.value)
        return hasattr(a.value, name)
    elif isinstance(a, Known) and not has_fields(a.value):
        return hasattr(a.value, name)
    elif cls in (*KINDS, tuple):
        return hasattr(cls(), name)
    elif cls is not None and is_plain_object(cls) and isinstance(a, External | Ref):
        return _object_has(ev, a, cls, name)
    elif isinstance(a, Closure) or cls is ModuleType:
        return _can_be_read(ev, a, name)
    raise NotCovered("hasattr", ev.span)


def has_fields(x: Any) -> bool:
    """Return whether an object may have attributes of its own."""
    return hasattr(x, "__dict__") or type(x).__flags__ & (1 << 9) != 0


def _object_has(ev: Evaluator, a: External | Ref, cls: type, name: str) -> bool:
    held = ev.held(a)
    if isinstance(held, Instance) and name in held.names:
        return True
    if isinstance(a, Ref) and (outside := object_behind(ev.outside, a)) is not None:
        a = outside
    found = class_attribute(cls, name)
    if found is not None and hasattr(type(found), "__get__") and type(found) is not FunctionType:
        raise NotCovered("hasattr of a descriptor, which may raise", ev.span)
    return _can_be_read(ev, a, name)


def _can_be_read(ev: Evaluator, a: Abstract, name: str) -> bool:
    """Return whether a read of an attribute, which adds guards, does not raise."""
    with restorable(ev) as restore:
        try:
            with attempted(ev):
                attribute(ev, a, name)  # adds guards
        except Raises as error:
            if error.kind is not AttributeError:
                raise
            return False
        restore()
    return True
