"""The order of the elements of arrays from outside, and other flags, which programs guard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.values import Abstract, Known
from adjoint.fast.not_covered import NotCovered
from adjoint.ir.single import Value


def is_contiguous(x: Any) -> bool:
    """Return whether the elements of an array lie in the order of C, one after another."""
    return bool(x.flags.c_contiguous)


def is_transposed(x: Any) -> bool:
    """Return whether the elements of an array lie in the order of Fortran, one after another."""
    return bool(x.flags.f_contiguous)


def order_of(ev: Evaluator, a: Abstract, asked: Callable[[Any], bool]) -> bool:
    """Return what `asked` says of an array from outside, and guard it."""
    leaf = next((leaf for leaf in ev.outside.leaves if leaf.value is a), None)
    if leaf is None:
        raise NotCovered("how an array lies in memory", ev.span)
    found = asked(leaf.sample)
    ev.outside.guard(leaf.source, "fact", (asked, found))
    return found


def is_writeable(x: Any) -> bool:
    """Return whether the elements of an array may be written to."""
    return bool(x.flags.writeable)


_ORDERS = {
    "c_contiguous": is_contiguous,
    "f_contiguous": is_transposed,
    "writeable": is_writeable,
}


def flag(ev: Evaluator, a: Abstract, name: str) -> bool:
    """Return ``a.flags.name``."""
    if name == "writeable" and isinstance(a, Value):
        a = ev.owners(a)[-1]  # views that may be written to if their array may
        if a in ev.fresh:
            return a not in ev.locked
    if name == "contiguous" and _is_of_splines(ev):
        return True
    if name not in _ORDERS:
        raise NotCovered(f"the flag {name!r} of an array", ev.span)
    return order_of(ev, a, _ORDERS[name])


def set_flag(ev: Evaluator, a: Abstract, name: str, value: Abstract) -> None:
    """Evaluate ``a.flags.name = value``: lock an array that the program has made, and what it is a
    view of. A write before must not come again, in the next iteration of a loop."""
    owner = ev.owners(a)[-1] if isinstance(a, Value) else None
    if name == "writeable" and isinstance(value, Known) and owner in ev.fresh:
        made = ev.defined.get(owner)
        if not value.value and (owner not in ev.written or any(op is made for op in ev.block)):
            ev.locked.add(owner)
            return
        if value.value and owner not in ev.locked:
            return
    raise NotCovered(f"a change of the flag {name!r} of an array", ev.span)


def _is_of_splines(ev: Evaluator) -> bool:
    """Return whether code of `scipy.ndimage` is evaluated that copies what is not contiguous:
    programs do so before they call its compiled functions."""
    return bool(ev.frames[-1].namespace.get("__name__") == "scipy.ndimage._interpolation")
