"""Binary operators of objects by their special methods, also beside arrays and numbers of NumPy."""

from __future__ import annotations

import operator
from collections import Counter, OrderedDict, defaultdict, deque
from types import ModuleType
from typing import Any

import numpy as np

from adjoint.fast.evaluate.attribute_reads import special_method
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.new_arrays import LISTED, new_arrays
from adjoint.fast.evaluate.plain_classes import base_of, has_own, is_plain_object
from adjoint.fast.evaluate.values import Abstract, Known
from adjoint.fast.not_covered import NotCovered

_COMPARISONS = frozenset(
    {operator.eq, operator.ne, operator.lt, operator.gt, operator.le, operator.ge}
)


def by_protocol(
    ev: Evaluator, f: Any, name: str, reflected: str, a: Abstract, b: Abstract
) -> Abstract:
    """Evaluate a binary operator of objects by their special methods."""
    left, right = ev.class_of(a), ev.class_of(b)
    if left is right is ModuleType and f in (operator.eq, operator.ne):
        return ev.call(Known(operator.is_ if f is operator.eq else operator.is_not), [a, b], {})
    if left is None or right is None:
        raise NotCovered(f"the operator {f.__name__} of such operands", ev.span)
    derives = _derives(right, left)
    is_first = derives and is_plain_object(right) and _overrides(right, left, reflected)
    if derives and not is_plain_object(left) and not (is_first and left in _FAMILIES):
        raise NotCovered(f"the operator {f.__name__} of such operands", ev.span)
    found = _beside_numpy(ev, name, reflected, a, b)
    if found is not None:
        if not isinstance(found, Known) or found.value is not NotImplemented:
            return found
        raise NotCovered(f"the operator {f.__name__} that an operand declines", ev.span)
    if left is np.ndarray or right is np.ndarray:
        if left in LISTED or right in LISTED:
            return ev.infer(f, new_arrays(ev, (a, b)))
        raise NotCovered(f"the operator {f.__name__} of an array and an object", ev.span)
    is_equality = f in (operator.eq, operator.ne)
    if is_equality and type(None) in (left, right):
        if issubclass(right if left is type(None) else left, np.number):
            return Known(f is operator.ne)
    if is_equality and left in _FAMILIES and right in _FAMILIES:
        if _FAMILIES[left] != _FAMILIES[right]:
            return Known(f is operator.ne)
        if left is not type(None):  # what they hold is compared
            raise NotCovered(f"the operator {f.__name__} of such operands", ev.span)
    elif issubclass(left, np.generic | str | bytes) and not (is_equality and left in _FAMILIES):
        # their operators accept any object
        raise NotCovered(f"the operator {f.__name__} of such operands", ev.span)
    asked = [(left, name, [a, b]), (right, reflected, [b, a])]
    if left is right and f not in _COMPARISONS:
        asked.pop()
    if derives:
        ev.outside.rely_on(right)
        if f in _COMPARISONS or _overrides(right, left, reflected):
            asked.reverse()
    for cls, method, operands in asked:
        if is_plain_object(cls) and hasattr(cls, method):
            found = getattr(cls, method)
            if found is getattr(object, method, None):
                if any(method in vars(base) for base in cls.__mro__[:-1]):
                    raise NotCovered(f"{method} of {cls.__qualname__}", ev.span)
                if f is operator.ne and has_own(cls, "__eq__"):
                    result = ev.call(special_method(ev, cls, "__eq__"), operands, {})
                    if not isinstance(result, Known) or result.value is not NotImplemented:
                        return ev.call(Known(operator.not_), [result], {})
                continue
            result = ev.call(special_method(ev, cls, method), operands, {})
            if isinstance(result, Known) and result.value is NotImplemented:
                continue
            return result
    if is_equality and all(is_plain_object(x) or x in _FAMILIES for x in (left, right)):
        return ev.call(Known(operator.is_ if f is operator.eq else operator.is_not), [a, b], {})
    raise NotCovered(f"the operator {f.__name__} of such operands", ev.span)


def _beside_numpy(
    ev: Evaluator, name: str, reflected: str, a: Abstract, b: Abstract
) -> Abstract | None:
    """Evaluate an operator of an array or a number of NumPy's and an object which it asks; ``None``
    for other operands.

    An object on the left is asked by Python. One on the right is asked by NumPy: with the operand
    as it is if its class says so, else with the number of Python that a scalar is.
    """
    left, right = ev.class_of(a), ev.class_of(b)
    assert left is not None and right is not None
    if right is np.ndarray and is_plain_object(left) and has_own(left, name):
        return ev.call(special_method(ev, left, name), [a, b], {})
    is_scalar = issubclass(left, np.number)
    if not (is_scalar or left is np.ndarray) or not is_plain_object(right):
        return None
    if not has_own(right, reflected) or base_of(right) is not None:
        return None
    method = special_method(ev, right, reflected)
    if _defer(right, 0.0 if left is np.ndarray else -1e6):
        return ev.call(method, [b, a], {})
    if not is_scalar or any(hasattr(right, one) for one in _CONVERTED):
        return None
    number = Known(a.value.item()) if isinstance(a, Known) else _as_python(ev, a, left)
    return ev.call(method, [b, number], {})


def _as_python(ev: Evaluator, a: Abstract, kind: Any) -> Abstract:
    return ev.call(Known(type(kind(1).item())), [a], {})


_CONVERTED = (
    *("__array__", "__array_interface__", "__array_struct__", "__array_ufunc__"),
    *("__len__", "__getitem__", "__buffer__", "dtype"),
)
"""Attributes of classes whose objects NumPy may convert to arrays."""


def _defer(cls: Any, priority: float) -> bool:
    """Return whether operators of NumPy's, which have a priority, leave an object on their right to
    its class."""
    if hasattr(cls, "__array_ufunc__"):
        return cls.__array_ufunc__ is None
    return float(getattr(cls, "__array_priority__", -np.inf)) > priority


def _derives(cls: type, base: type) -> bool:
    return cls is not base and issubclass(cls, base)


def _overrides(derived: type, base: type, method: str) -> bool:
    """Return whether a class has a reflected operator that its base class does not have."""
    return getattr(derived, method, None) is not getattr(base, method, None)


_FAMILIES: dict[type, Any] = {
    **dict.fromkeys((int, float, bool, complex), "number"),
    **dict.fromkeys((dict, defaultdict, OrderedDict, Counter), "mapping"),
    **dict.fromkeys((set, frozenset), "set"),
    **{kind: kind for kind in (str, bytes, list, tuple, deque, type(None))},
}
"""Builtin classes; objects of different families are never equal."""
