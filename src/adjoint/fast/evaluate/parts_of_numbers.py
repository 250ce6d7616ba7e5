"""Real and imaginary parts of numbers and arrays, and the elements of arrays in order."""

from __future__ import annotations

import numpy as np

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.types import Array, Number, has_complex, part_type
from adjoint.fast.evaluate.values import Abstract, Iterating, IteratorOf
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.support.functions import imaginary_part, real_part
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
        return ev.allocate(IteratorOf(Iterating(iter, (elements,)), place=ev.place_now()))
    if name == "real" and not has_complex(t) and not (isinstance(t, Number) and bool in t.kinds):
        return a  # the real part of a truth value is an integer
    if isinstance(t, Array) and not has_complex(t):
        raise NotCovered("the imaginary part of a real array", ev.span)
    f = real_part if name == "real" else imaginary_part
    return ev.operation(f, (a,), part_type(t, name))
