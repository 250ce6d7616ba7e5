"""Calls of NumPy and SciPy functions that have a rule.

Those without a record of their shape: the type of the result is inferred from examples. The program
checks each result, and leaves the call to the generic tier if its type or its shape differs.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint.fast.evaluate.plain_classes import is_multimethod
from adjoint.fast.evaluate.result_types.examples import type_on_examples
from adjoint.fast.evaluate.result_types.inferable_functions import most_operands
from adjoint.fast.evaluate.result_types.ones import name_of
from adjoint.fast.evaluate.types import (
    ANYTHING,
    Array,
    Number,
    Symbol,
    has_integer,
    has_truth_value,
)
from adjoint.fast.evaluate.values import ENTERED, Abstract, Closure, Instance
from adjoint.fast.not_covered import NeedsKnown, NotCovered
from adjoint.fast.support import functions as runtime
from adjoint.ir import primitives
from adjoint.ir.single import Const, Operand, Value
from adjoint.rulekit.registry import Rules

if TYPE_CHECKING:
    from adjoint.fast.evaluate.evaluator import Evaluator


def is_library(f: Any, rules: Rules | None) -> bool:
    """Return whether `f` is a NumPy or SciPy function with a rule in closure form."""
    if rules is None or not rules.rrules or rules.inactive or rules.overridden:
        return False
    if rules.structural is not None:
        return False
    if rules.primitive is not None and not hasattr(rules.primitive, "is_output"):
        return False  # a primitive that only handles ``out=`` leaves the closure form in use
    if isinstance(f, np.ufunc):
        return True
    library = str(getattr(f, "__module__", None)).partition(".")[0]
    # SciPy functions in C may not check their operands, and then write outside of arrays.
    kind = type(f)
    is_checking = kind is FunctionType or is_multimethod(kind)
    return library == "numpy" or (library == "scipy" and is_checking)


def catches_warnings(ev: Evaluator) -> bool:
    """Return whether this is within `warnings.catch_warnings`."""
    return any(
        isinstance(held, Instance)
        and held.cls is warnings.catch_warnings
        and held.items[:1] == (ENTERED,)
        for held in ev.heap.values()
    )


_OWNING = ("scipy.interpolate.", "scipy.signal.")
"""Packages whose functions let others overwrite only what they have made for that, and do not read
it afterwards."""


def without_overwriting(ev: Evaluator, keywords: dict[str, Abstract]) -> dict[str, Abstract]:
    """Return options without those by which a function may compute in the memory of an operand, if
    the caller does not see that."""
    if not keywords or not ev.frames:
        return keywords
    if not str(ev.frames[-1].namespace.get("__name__")).startswith(_OWNING):
        return keywords
    return {k: x for k, x in keywords.items() if not k.startswith("overwrite")}


def call_library(
    ev: Evaluator, f: Any, args: Sequence[Abstract], keywords: dict[str, Abstract]
) -> Abstract:
    """Write ``f(*args, **keywords)``, and the check of its result."""
    writes = any(name in ("out", "copy") or name.startswith("overwrite") for name in keywords)
    if writes or len(args) > (1 if f is np.nan_to_num else most_operands(f)):
        raise NotCovered(f"{name_of(f)} with an array to write to", ev.span)
    if catches_warnings(ev):  # the program does not filter those that it issues itself
        raise NotCovered(f"{name_of(f)} within warnings.catch_warnings", ev.span)
    operands = tuple(map(ev.operand, args))
    named = tuple((k, ev.operand(v)) for k, v in keywords.items())
    types, of_named = [*map(ev.type_of, operands)], {k: ev.type_of(v) for k, v in named}
    for t in (*types, *of_named.values()):
        if isinstance(t, tuple | Symbol):
            raise NotCovered(f"such a call of {name_of(f)}")
        if has_integer(t) or has_truth_value(t):
            for x in (*operands, *(v for _, v in named)):
                if isinstance(x, Value) and ev.types[x] is t and ev.outside.is_leaf(x):
                    raise NeedsKnown(x, f"{name_of(f)} of an integer that is not known", ev.span)
            raise NotCovered(f"{name_of(f)} of an integer that is not known")
    with ev.demanding_sizes((*operands, *(v for _, v in named))):
        found = type_on_examples(f, types, of_named, ev.derived)
    made = ev.operation(f, operands, found.type, named)
    y = checked(ev, made, found.type, operands)
    if found.is_alias:
        ev.note_alias(made, operands)
        ev.note_alias(y, (made,))
    return y


def checked(ev: Evaluator, y: Value, t: Number | Array, operands: tuple[Operand, ...]) -> Value:
    """Write the check that the result `y` has type `t`."""
    if isinstance(t, Number):
        if len(t.kinds) > 1:
            raise NotCovered("a number of several types", ev.span)
        (kind,) = t.kinds
        return ev.operation(runtime.foreseen_number, (y, Const(kind)), t)
    lengths = tuple(ev.length_operand(dim, operands) for dim in t.shape)
    if all(isinstance(n, Const) for n in lengths):
        shape: Operand = Const(tuple(n.value for n in lengths if isinstance(n, Const)))
    else:
        shape = ev.operation(primitives.build_tuple, lengths, ANYTHING, name="shape")
    return ev.operation(runtime.foreseen, (y, Const(t.dtype), shape), t)


def call_templated(
    ev: Evaluator,
    f: Any,
    template: Closure,
    args: Sequence[Abstract],
    keywords: dict[str, Abstract],
) -> Abstract:
    """Write a call of `f`, whose result has the type of that of `template`."""
    with ev.trial():
        like = ev.inline(template, args, keywords)
    if not isinstance(like, Value):
        raise NotCovered(f"{name_of(f)} returns a structure", ev.span)
    t: Any = ev.types[like]
    operands = tuple(map(ev.operand, args))
    named = tuple((k, ev.operand(v)) for k, v in keywords.items())
    return checked(ev, ev.operation(f, operands, t, named), t, operands)
