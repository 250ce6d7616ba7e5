"""``out=`` of NumPy's functions: the call without output, and a write of its result.

A call with an output runs `ufunc_into`, Python code that is differentiated.
"""

from __future__ import annotations

import inspect
from types import FunctionType
from typing import Any

import numpy as np

from adjoint.diagnostics.refusals import raised_after_write, refused
from adjoint.primal.array_classes import overrides_method
from adjoint.primal.value_kinds import PLAIN
from adjoint.rulekit.registry import lookup, non_differentiable, primitive
from adjoint.runtime.arrays.wrap_results import (
    may_wrap,
    wraps_result,
)
from adjoint.runtime.dispatch.source_call import call_function
from adjoint.runtime.operators.ufunc_output import (
    _demand_all,
    _demand_fit,
    _demand_shape,
    _mask,
    ufunc_into,
)

non_differentiable(wraps_result, raised_after_write, _mask, _demand_shape, _demand_fit, _demand_all)


# ---- every function that takes an output ---------------------------------------------------------

FUNCTIONS = """
    amax amin around choose clip compress concatenate cumprod cumsum cumulative_prod cumulative_sum
    dot einsum fix max mean median min nancumprod nancumsum nanmax nanmean nanmedian nanmin
    nanpercentile nanprod nanquantile nanstd nansum nanvar outer percentile prod ptp quantile round
    stack std sum take trace var all any argmax argmin nanargmax nanargmin isneginf isposinf
"""
BY_POSITION = {"choose": 2, "compress": 3, "concatenate": 2, "dot": 2, "einsum": 1 << 30}
"""Positions of ``out`` in functions in C, which have no signatures in older versions of NumPy."""

METHODS = {
    "max": 2, "min": 2, "all": 2, "any": 2, "argmax": 2, "argmin": 2, "choose": 1 << 30, "dot": 2,
    "round": 2, "ptp": 2, "sum": 3, "mean": 3, "prod": 3, "std": 3, "var": 3, "cumsum": 3,
    "cumprod": 3, "clip": 3, "compress": 3, "take": 3, "trace": 5,
}  # fmt: skip
MASKED = (np.clip, np.ndarray.clip)
"""Functions with ``where``, like ufuncs: other elements are not written. They call a ufunc, which
array subclasses may see."""
_IN_PYTHON = [getattr(np.ndarray, name, None) for name in ("mean", "var", "std", "ptp")]
"""Methods in C that call functions of NumPy in Python."""
_OF_MASKS = [
    np.concatenate,
    np.stack,
    *(getattr(np, name) for name in ("round", "around")),
    np.ndarray.round,
]
"""Functions that change the mask of an output in C, or not at all."""
UFUNC_METHODS = {"reduce": 4, "accumulate": 4, "reduceat": 5, "outer": 1 << 30}


def position_of_output(f: Any, name: str) -> int:
    if name in BY_POSITION:
        return BY_POSITION[name]
    parameters = inspect.signature(f).parameters
    if parameters["out"].kind is inspect.Parameter.KEYWORD_ONLY:
        return 1 << 30
    return list(parameters).index("out")


def take_output(f: Any, key: Any, position: int, size: int = 0) -> None:
    """Send calls of `f` with an output to `ufunc_into`.

    A draw without a size, whose position is `size`, takes the shape of the output. If array
    subclasses may observe the steps of a function in Python, its source is differentiated instead.
    """
    source = getattr(f, "__wrapped__", f)
    tells = (type(source) is FunctionType and f is not np.einsum) or f in _IN_PYTHON

    def into(record: list[Any], slot: int, /, *args: Any, **kwargs: Any) -> Any:
        out = args[position] if position < len(args) else kwargs.get("out")
        if isinstance(out, tuple):
            out = out[0] if len(out) == 1 else None
        if out is None or (f in MASKED and not PLAIN.issuperset(map(type, (*args, out)))):
            return NotImplemented
        if isinstance(out, np.ma.MaskedArray) and f in _OF_MASKS:
            raise refused(
                f"{f.__name__} writes into a masked array, whose mask it may change",
                "assign what it returns: out[...] = numpy.round(x)",
            )
        given = (*args, *kwargs.values())
        if tells and (any(map(may_wrap, given)) or overrides_method(f, given)):
            if type(source) is FunctionType and _is_inactive(f) and not overrides_method(f, given):
                return call_function(record, slot, source, args, kwargs)
            return NotImplemented
        memory, inner = record[0], [record[0], None]
        rest = args[position + 1 :]
        given = (*args[:position], *((None, *rest) if rest else ()))
        named = {name: value for name, value in kwargs.items() if name != "out"}
        if len(args) <= size and named.get("size") is None:
            named["size"] = np.shape(out)
        where = named.pop("where", True) if f in MASKED else True

        def into_back(y_bar: Any) -> tuple[Any, ...]:
            back: Any = inner[1]
            if back is not None:
                back(y_bar)
            bars = memory.take_items(given, len(given))
            none = (None,) * (len(args) - len(given))
            return (None, *bars, *none, *(memory.take_entry(named, name) for name in kwargs))

        record[slot] = into_back
        return call_function(inner, 1, ufunc_into, (f, out, where, given, named), {})

    into.is_output = True  # type: ignore[attr-defined]
    primitive(key)(into)


def _is_inactive(f: Any) -> bool:
    """Return whether `f` is constant by a rule, so that its source would not be differentiated."""
    rules = lookup(f)
    return rules is not None and rules.inactive


for _name in FUNCTIONS.split():
    if hasattr(np, _name):
        _f = getattr(np, _name)
        take_output(_f, _f, position_of_output(_f, _name))
take_output(np.linalg.multi_dot, np.linalg.multi_dot, 1 << 30)
for _kind, _methods in ((np.ndarray, METHODS), (np.ufunc, UFUNC_METHODS)):
    for _name, _place in _methods.items():
        if hasattr(_kind, _name):
            take_output(getattr(_kind, _name), (_kind, _name), _place)
