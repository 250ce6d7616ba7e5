"""Calls of NumPy and SciPy functions that have a rule.

The type of the result is inferred from examples. The program checks each result, and leaves the
call to the generic tier if its type or its shape differs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint.fast.evaluate.result_types.inferable_functions import most_operands
from adjoint.fast.evaluate.result_types.inference import (
    Constant,
    example_lengths,
    name_of,
    sizes_in,
    type_on_examples,
)
from adjoint.fast.evaluate.types import (
    ANYTHING,
    Array,
    Dim,
    Number,
    Symbol,
    has_complex,
    has_integer,
    has_truth_value,
    is_complex,
    number,
)
from adjoint.fast.evaluate.values import Abstract
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.support import functions as runtime
from adjoint.ir import primitives
from adjoint.ir.single import Const, Operand, Value
from adjoint.rulekit.registry import Rules

if TYPE_CHECKING:
    from adjoint.fast.evaluate.evaluator import Evaluator

_LENGTHS = ((3, 7, 5, 11), (5, 3, 11, 7), (9, 10, 12, 14))


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
    return library == "numpy" or (library == "scipy" and type(f) is FunctionType)


def call_library(
    ev: Evaluator, f: Any, args: Sequence[Abstract], keywords: dict[str, Abstract]
) -> Abstract:
    """Write ``f(*args, **keywords)``, and the check of its result."""
    writes = any(name in ("out", "copy") or name.startswith("overwrite") for name in keywords)
    if writes or len(args) > (1 if f is np.nan_to_num else most_operands(f)):
        raise NotCovered(f"{name_of(f)} with an array to write to", ev.span)
    operands = tuple(map(ev.operand, args))
    named = tuple((k, ev.operand(v)) for k, v in keywords.items())
    types = [ev.type_of(x) for x in operands]
    with ev.demanding_sizes((*operands, *(v for _, v in named))):
        found = _seen(f, types, {k: ev.type_of(v) for k, v in named})
    made = ev.operation(f, operands, found, named)
    return _checked(ev, made, found, operands)


def _checked(ev: Evaluator, y: Value, t: Number | Array, operands: tuple[Operand, ...]) -> Value:
    """Write the check that the result `y` has type `t`."""
    if isinstance(t, Number):
        (kind,) = t.kinds
        return ev.operation(runtime.foreseen_number, (y, Const(kind)), t)
    lengths = tuple(_length(ev, dim, operands) for dim in t.shape)
    if all(isinstance(n, Const) for n in lengths):
        shape: Operand = Const(tuple(n.value for n in lengths if isinstance(n, Const)))
    else:
        shape = ev.operation(primitives.build_tuple, lengths, ANYTHING, name="shape")
    return ev.operation(runtime.foreseen, (y, Const(t.dtype), shape), t)


def _length(ev: Evaluator, dim: Dim, operands: tuple[Operand, ...]) -> Operand:
    if isinstance(dim, int):
        return Const(dim)
    for x in operands:
        t = ev.types.get(x) if isinstance(x, Value) else None
        if isinstance(t, Array) and dim in t.shape:
            return ev.operation(
                runtime.length, (x, Const(t.shape.index(dim))), number(int), name="n"
            )
    return Const(None)


def _seen(
    f: Callable[..., Any], operands: Sequence[Any], keywords: Mapping[str, Any]
) -> Number | Array:
    """Return the type of the result, inferred from three examples with different lengths."""
    for t in (*operands, *keywords.values()):
        if isinstance(t, tuple | Symbol):
            raise NotCovered(f"such a call of {name_of(f)}")
        if has_integer(t) or has_truth_value(t):
            raise NotCovered(f"{name_of(f)} of an integer that is not known")
    lengths = example_lengths(f, sizes_in((*operands, *keywords.values())), _LENGTHS)
    rngs = [np.random.default_rng(seed) for seed in range(len(lengths))]
    found = type_on_examples(
        f, operands, keywords, lengths, lambda t, i: _example(t, lengths[i], rngs[i])
    )
    if isinstance(found, tuple):
        raise NotCovered(f"{name_of(f)} returns several things")
    return found  # type: ignore[no-any-return]


def _example(t: Any, at: Mapping[Any, int], rng: np.random.Generator) -> Any:
    if isinstance(t, Constant):
        return t.value
    if isinstance(t, Array):
        shape = [at[d] if isinstance(d, Symbol) else d for d in t.shape]
        made = 0.1 + 0.8 * rng.random(shape)
        if made.ndim > 1 and shape[-1] == shape[-2]:  # some functions require positive definite
            made = made @ np.swapaxes(made, -1, -2) + np.eye(shape[-1])
        return made.astype(t.dtype)
    if isinstance(t, Number):
        (kind,) = t.kinds if len(t.kinds) == 1 else (_general(t),)
        return kind(0.4)
    raise NotCovered("an operand is neither a number nor an array")


def _general(t: Number) -> type:
    """Return one class to represent a number of several classes."""
    if has_complex(t) and not is_complex(t):
        raise NotCovered("a number that is real or complex, as an operand of a function")
    return complex if has_complex(t) else float
