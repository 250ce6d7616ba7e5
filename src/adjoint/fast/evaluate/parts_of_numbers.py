"""Attributes of the numbers and arrays of a program, such as real and imaginary parts."""

from __future__ import annotations

import numpy as np

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.items import length_of, product
from adjoint.fast.evaluate.objects.memory_orders import is_contiguous
from adjoint.fast.evaluate.types import Array, Number, has_complex, part_type, witnesses
from adjoint.fast.evaluate.values import (
    Abstract,
    Bound,
    Iterating,
    IteratorOf,
    Known,
    Partial,
    Tuple,
)
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.support.functions import conjugate, imaginary_part, real_part
from adjoint.ir.single import Value

SCALAR_METHODS = frozenset(
    "all any astype copy max mean min prod reshape round squeeze sum".split()
)
"""Methods that NumPy's numbers have in common with arrays."""


def method_of_scalar(name, x, *args, **keywords):  # type: ignore[no-untyped-def]
    """Call a method of a number of NumPy's, which gives what that of an array of rank 0 gives."""
    return getattr(np.asarray(x), name)(*args, **keywords)[()]


def part_of(ev: Evaluator, a: Value, name: str) -> Abstract:
    """Write ``a.real`` or ``a.imag`` of a number or an array, or ``a.flat`` of an array."""
    t = ev.types[a]
    if name == "flat":
        elements = ev.infer(np.ravel, [a])
        made = ev.allocate(IteratorOf(Iterating(iter, (elements,)), place=ev.place_now()))
        ev.flat_of[made.address] = a, ev.heap[made.address]
        return made
    if name == "real" and not has_complex(t) and not (isinstance(t, Number) and bool in t.kinds):
        return a  # the real part of a truth value is an integer
    if isinstance(t, Array) and not has_complex(t):
        zeros = ev.call(Known(np.zeros_like), [a], {})
        ev.locked.add(zeros)  # type: ignore[arg-type]
        return zeros
    f = real_part if name == "real" else imaginary_part
    return ev.operation(f, (a,), part_type(t, name))


def attribute_of_value(ev: Evaluator, a: Value, name: str) -> Abstract | None:
    """Return an attribute of a number or an array of the program; ``None`` for one that these do
    not have."""
    t = ev.types[a]
    if name == "__class__" and (cls := ev.class_of(a)) is not None:
        return Known(cls)
    if isinstance(t, Array):
        return _of_array(ev, a, t, name)
    if isinstance(t, Number):
        return _of_number(ev, a, t, name)
    raise NotCovered(f"the attribute {name!r} of a {t}", ev.span)


def _of_array(ev: Evaluator, a: Value, t: Array, name: str) -> Abstract | None:
    if name == "shape":
        return Tuple(tuple(length_of(ev, a, i) for i in range(len(t.shape))))
    if name == "T":
        return ev.infer(np.transpose, [a])
    if name == "ndim":
        return Known(len(t.shape))
    if name == "size":
        total: Abstract = Known(1)
        for i in range(len(t.shape)):
            total = product(ev, total, length_of(ev, a, i))
        return total
    if name == "dtype":
        return Known(t.dtype)
    if name in ("real", "imag", "flat"):
        return part_of(ev, a, name)
    if name in ("conj", "conjugate"):
        return Bound(Known(conjugate), a)
    if name == "flags":
        return Bound(Known(is_contiguous), a)
    if name in dir(np.ndarray) and callable(getattr(np.ndarray, name)):
        return Bound(Known(getattr(np.ndarray, name)), a)
    return None


_OF_NUMPY = ("shape", "ndim", "size", "dtype")
_OF_PYTHON = frozenset({int, float, bool, complex})
"""Classes of numbers without ``conj``."""


def _of_number(ev: Evaluator, a: Value, t: Number, name: str) -> Abstract | None:
    if name in ("real", "imag"):
        return part_of(ev, a, name)
    is_of_numpy = t.kinds.isdisjoint(_OF_PYTHON)
    if name == "conjugate" or (name == "conj" and is_of_numpy):
        return Bound(Known(conjugate), a)
    if name in _OF_NUMPY and is_of_numpy and len(t.kinds) == 1:
        (kind,) = t.kinds
        found = getattr(kind(), name)
        return Tuple(()) if type(found) is tuple else Known(found)
    if name == "item" and is_of_numpy and len({type(x.item()) for x in witnesses(t)}) == 1:
        return Partial(Known(type(witnesses(t)[0].item())), (a,), ())
    if name in SCALAR_METHODS and is_of_numpy:
        return Partial(ev.outside.own(method_of_scalar), (Known(name), a), ())
    return None
