"""Calls of pure functions of constants and lengths, which run at specialisation.

Code that computes shapes by NumPy, as that of SciPy does, has integers as elements of arrays. Where
the evaluator does not know what such a function returns, the function itself is called. The
contents of small arrays that are calculated from constants are noted, so that a truth value which
follows from them is known.
"""

from __future__ import annotations

import copy
import math
import operator
import warnings
from collections.abc import Sequence
from types import FunctionType
from typing import Any

import numpy as np

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.objects.containers import closed
from adjoint.fast.evaluate.types import Array, Number, has_integer, type_of
from adjoint.fast.evaluate.values import Abstract, External, Flag, Known, Ref, SliceOf, Tuple, parts
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.support.opaque_functions import may_be_opaque
from adjoint.fast.support.pure_functions import names_of_pure
from adjoint.ir.nodes import ConstArray
from adjoint.ir.single import Value
from adjoint.rulekit.registry import lookup

_PLAIN = (int, float, complex, str, bool, type(None), np.dtype, type, slice)


def is_of_constants(ev: Evaluator, f: Any, args: Sequence[Abstract]) -> bool:
    """Return whether `f` is a pure function, and `args` are constants, lengths, and sequences of
    these."""
    if not all(_is_constant(ev, x) for x in args):
        return False
    if may_be_opaque(f) or f is np.broadcast_shapes:
        return bool(args)
    return type(f) is FunctionType and lookup(f) is None and names_of_pure(f) is not None


def _is_constant(ev: Evaluator, a: Abstract) -> bool:
    if isinstance(a, Value):
        return a in ev.dims
    items = _items(ev, a)
    if items is not None:
        return all(_is_constant(ev, x) for x in items)
    return isinstance(a, Known) and not isinstance(a, Flag) and isinstance(a.value, _PLAIN)


def _items(ev: Evaluator, a: Abstract) -> Sequence[Abstract] | None:
    """Return the items of a tuple or list that the program makes. Those of one from outside are not
    read for this: a program would depend on what the function does not read."""
    made = not isinstance(a, External) and ev.class_of(a) in (tuple, list)
    return ev.sequence(a) if made else None


def has_unknown_integer(ev: Evaluator, a: Abstract) -> bool:
    """Return whether a result has an integer of which the evaluator knows nothing."""
    if isinstance(a, Value):
        t = ev.types[a]
        return isinstance(t, Number) and has_integer(t) and a not in ev.dims
    inside = parts(ev.held(a) or a if isinstance(a, Ref) else a)
    return inside is not None and any(has_unknown_integer(ev, x) for x in inside)


def computed(ev: Evaluator, f: Any, args: Sequence[Abstract]) -> Any:
    """Return ``f(*args)``, computed now, where it consists of constants; an ellipsis for anything
    else, and for lengths that nothing can make known."""
    try:
        given = [_real(ev, x) for x in args]
    except NotCovered as error:
        if type(error) is not NotCovered:  # it demands lengths
            raise
        return ...
    before = copy.deepcopy(given)
    try:
        y = f(*given)
    except Exception:
        return ...
    return y if given == before and _is_made_of_constants(y) else ...


def _is_made_of_constants(y: Any) -> bool:
    if type(y) in (tuple, list):
        return all(map(_is_made_of_constants, y))
    return type(y) in (int, str, type(None)) or isinstance(y, np.integer)


def as_constants(ev: Evaluator, f: Any, y: Any) -> Abstract:
    """Return what `computed` gave for a call of `f`; guard what makes the function pure."""
    for namespace, name in names_of_pure(f) or () if type(f) is FunctionType else ():
        ev.demand_not_stored(namespace, name)
        ev.outside.global_(namespace, name)
    return closed(ev, y)


def _real(ev: Evaluator, a: Abstract) -> Any:
    if isinstance(a, Value):
        ev.demand_known("a length that has to be known", ev.dims[a])
        raise NotCovered("a length that is not known", ev.span)
    items = _items(ev, a)
    if items is not None:
        made = [_real(ev, x) for x in items]
        return made if ev.class_of(a) is list else tuple(made)
    assert isinstance(a, Known)
    return a.value


# ---- small arrays --------------------------------------------------------------------------------

designs: set[Any] = {np.kaiser, np.setdiff1d, np.ravel_multi_index}
"""Functions that design windows, filters or sets of indices: pure, and much slower than what they
are used for."""
_UNSET: frozenset[Any] = frozenset({np.empty, np.empty_like})
MOST_ELEMENTS = 1024
"""Number of elements of an array whose contents are noted."""
_FOLDED: frozenset[Any] = frozenset(
    getattr(operator, name)
    for name in (
        "eq ne lt le gt ge and_ or_ xor invert neg add sub mul truediv pow abs getitem not_ truth"
    ).split()
) | {math.prod, max, min, sum, all, any, abs, np.broadcast_shapes}


def result_of_constants(
    ev: Evaluator, f: Any, args: Sequence[Abstract], keywords: dict[str, Abstract]
) -> Any:
    """Return what a call gives, computed now; an ellipsis if an operand is not constant, or the
    call is not known to do nothing else."""
    for x in args:
        if type(x) is Value and x not in ev.contents and x not in ev.outside.fixed:
            return ...  # the most frequent case
    try:
        if f not in _FOLDED and (f in _UNSET or not may_be_opaque(f)) and f not in designs:
            return ...
        given = [_contents(ev, x) for x in args]
        named = {name: _contents(ev, x) for name, x in keywords.items()}
        if "out" in named and f not in _FOLDED:
            return ...
        if f in _FOLDED and all(type(x) is int for x in given):  # NumPy takes no part
            return f(*given, **named)
        with np.errstate(all="raise"), warnings.catch_warnings():
            warnings.simplefilter("error")
            return f(*given, **named)
    except Exception:  # not constant, or nothing that goes without a warning
        return ...


def constant_of(ev: Evaluator, y: Any, args: Sequence[Abstract]) -> Abstract | None:
    """Return the result `y` of constants if it is a truth value, an integer or a shape; ``None``
    for anything else, and for integers that may have a cotangent."""
    if type(y) in (bool, np.bool_):
        return Known(y)
    if not (isinstance(y, int | np.integer) or _is_shape(y)) or _has_fixed(ev, args):
        return None
    return closed(ev, y)


def _has_fixed(ev: Evaluator, args: Sequence[Abstract]) -> bool:
    """Return whether there is an integer from outside that has a cotangent, though it is known."""
    return any(x in ev.outside.fixed or _has_fixed(ev, _items(ev, x) or ()) for x in args)


def _is_shape(y: Any) -> bool:
    return type(y) is tuple and all(type(n) is int for n in y)


def design_of(ev: Evaluator, y: Any, args: Sequence[Abstract]) -> Abstract | None:
    """Return the result `y` of a design, in arrays of its own; ``None`` if it has other parts, or
    may have a derivative in an integer."""
    t = type_of(y)
    if isinstance(t, Array) and not _has_fixed(ev, args):
        made = ev.operation(np.copy, (ConstArray(y),), t)
        note_contents(ev, made, y, args)
        return made
    if type(y) is tuple:
        made_of = [design_of(ev, part, args) for part in y]
        return None if None in made_of else Tuple(tuple(made_of))  # type: ignore[arg-type]
    return None


def note_contents(ev: Evaluator, made: Abstract, y: Any, args: Sequence[Abstract]) -> None:
    """Note the contents `y` of a number or a small array that the program makes of constants."""
    t = ev.types[made] if isinstance(made, Value) else None
    if isinstance(t, Array) and _is_small(t) and isinstance(y, np.ndarray):
        if y.dtype.kind in "biufc" and type_of(y) == t and not _has_fixed(ev, args):
            ev.contents[made] = y.copy(), ev.block  # type: ignore[index]
    elif isinstance(t, Number) and t.kinds == {type(y)} and not _has_fixed(ev, args):
        ev.contents[made] = y, ev.block  # type: ignore[index]


def _is_small(t: Array) -> bool:
    sizes = [n for n in t.shape if isinstance(n, int)]
    return len(sizes) == len(t.shape) and math.prod(sizes) <= MOST_ELEMENTS


class _NotConstant(Exception):
    """The operand of a call is not known at specialisation."""


def _contents(ev: Evaluator, a: Abstract) -> Any:
    """Return the value of a constant, of a sequence of constants, or of an array that was made of
    constants in this block and has not been written to; a block in a loop runs many times."""
    if isinstance(a, Value):
        if a in ev.outside.fixed:
            return ev.outside.fixed[a]
        found, block = ev.contents.get(a, (None, None))
        if block is not ev.block or not ev.aliased_by(a).isdisjoint(ev.written):
            raise _NotConstant
        return found
    items = _items(ev, a)
    if items is not None:
        made = [_contents(ev, x) for x in items]
        return made if ev.class_of(a) is list else tuple(made)
    if isinstance(a, SliceOf):
        return slice(*(_contents(ev, x) for x in (a.start, a.stop, a.step)))
    if isinstance(a, Known) and not isinstance(a, Flag) and isinstance(a.value, _PLAIN):
        return a.value
    raise _NotConstant
