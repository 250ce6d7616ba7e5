"""Handlers of the special methods of builtin containers and numbers, and of how they make objects
of classes that derive from them."""

from __future__ import annotations

import operator
from collections import deque
from typing import Any

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.table import handler, handlers
from adjoint.fast.evaluate.objects.instances import new_object
from adjoint.fast.evaluate.plain_classes import BASES, base_of
from adjoint.fast.evaluate.types import PYTHON_NUMBERS, Number
from adjoint.fast.evaluate.values import Abstract, Known, Ref
from adjoint.fast.not_covered import NotCovered
from adjoint.ir.single import Value

_NUMBERS = (int, float, complex)
_PLAIN: dict[str, Any] = {
    "getitem": operator.getitem,
    "setitem": operator.setitem,
    "delitem": operator.delitem,
    "contains": operator.contains,
    "len": len,
    "iter": iter,
    "reversed": reversed,
    "hash": hash,
    "bool": bool,
    "float": float,
    "int": int,
    "neg": operator.neg,
    "pos": operator.pos,
    "abs": abs,
    "iadd": operator.iadd,
    "imul": operator.imul,
    "ior": operator.ior,
    "iand": operator.iand,
    "isub": operator.isub,
    "ixor": operator.ixor,
}
_BINARY = {
    name: getattr(operator, f"{name}_", None) or getattr(operator, name)
    for name in "add sub mul truediv floordiv mod pow and or xor eq ne lt gt le ge".split()
}


def _fits(ev: Evaluator, kind: Any, other: Abstract) -> bool:
    """Return whether an operator of C of a builtin class takes an operand."""
    cls = ev.class_of(other)
    if kind in _NUMBERS:
        taken = {bool, *_NUMBERS[: _NUMBERS.index(kind) + 1]}
        if isinstance(other, Value) and isinstance(t := ev.types[other], Number):
            return t.kinds <= taken & PYTHON_NUMBERS
        return cls in taken
    families = ((list,), (tuple,), (deque,), (set, frozenset), (dict,))
    family = next(x for x in families if issubclass(kind, x))
    return cls is not None and issubclass(cls, family)


def _operators(kind: Any) -> None:
    """Register the special methods of a builtin class as operators."""
    for name, f in _PLAIN.items():
        method = getattr(kind, f"__{name}__", None)
        if method is not None and method not in handlers:

            @handler(method)
            def _(ev: Evaluator, *operands: Abstract, f: Any = f) -> Abstract:
                return ev.call(Known(f), operands, {})

    for name, f in _BINARY.items():
        for is_reflected in (False, True):
            method = getattr(kind, f"__{'r' * is_reflected}{name}__", None)
            if method is None or method in handlers or method is getattr(object, name, 0):
                continue

            @handler(method)
            def _(
                ev: Evaluator,
                a: Abstract,
                b: Abstract,
                f: Any = f,
                swaps: bool = is_reflected,
                repeats: bool = name == "mul" and kind not in _NUMBERS,
            ) -> Abstract:
                if not repeats and not _fits(ev, kind, b):
                    if kind in (list, tuple, deque) and f is operator.add:
                        raise NotCovered("a sum of sequences of several classes", ev.span)
                    return Known(NotImplemented)
                return ev.call(Known(f), [b, a] if swaps else [a, b], {})


def _making(base: Any) -> None:
    """Register how a builtin class makes and fills objects."""
    if base.__new__ not in handlers:

        @handler(base.__new__)
        def _(ev: Evaluator, cls: Abstract, /, *args: Abstract, **keywords: Abstract) -> Abstract:
            kind = base_of(cls.value) if isinstance(cls, Known) else None
            if kind is None:
                raise NotCovered("a new object of another kind", ev.span)
            if kind.__init__ is not object.__init__:  # which fills it
                args, keywords = (), {}
            return new_object(ev, cls, ev.call(Known(kind), args, keywords))

    fill: Any = base.__init__
    if fill is not object.__init__ and fill not in handlers:

        @handler(fill)
        def _(ev: Evaluator, a: Abstract, /, *args: Abstract, **keywords: Abstract) -> Abstract:
            kind = ev.class_of(a)
            made = ev.call(Known(kind), args, keywords)
            is_empty = ev.call(Known(operator.not_), [a], {})
            if kind not in BASES or not isinstance(a, Ref) or not isinstance(made, Ref):
                raise NotCovered("a container that is filled again", ev.span)
            if not isinstance(is_empty, Known) or not is_empty.value:
                raise NotCovered("a container that is filled again", ev.span)
            ev.demand_own_list(a.address)
            ev.heap[a.address] = ev.heap.pop(made.address)
            return Known(None)


for _base in BASES:
    _operators(_base)
    _making(_base)
