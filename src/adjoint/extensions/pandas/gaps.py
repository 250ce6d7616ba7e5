"""Rules of compiled pandas functions that fill an array: gaps, and unstacked tables."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from adjoint.rulekit.registry import non_differentiable, substitute


def register(algos: Any, reshape: Any, isna: Any) -> None:
    """Register the rules of two modules of pandas; `isna` returns which entries are missing."""
    for name in ("pad_inplace", "pad_2d_inplace", "backfill_inplace", "backfill_2d_inplace"):
        _from_others(getattr(algos, name))
    for name in ("scalar_fillna_inplace", "scalar_fillna_2d_inplace"):
        if hasattr(algos, name):  # new in pandas 3
            _by_one(getattr(algos, name), isna)
    _unstacked(reshape.unstack)


def _from_others(f: Any) -> None:
    @non_differentiable
    def sources(values: Any, mask: Any, limit: Any) -> tuple[Any, Any, Any]:
        """Return the filled entries, their sources, and the mask of missing entries afterwards."""
        shape, mask = np.shape(values), np.array(mask)
        before = np.broadcast_to(np.arange(shape[-1]), shape)
        after = np.array(before)
        f(after, mask, limit)
        filled = np.nonzero(after != before)
        return filled, (*filled[:-1], after[filled]), mask

    @substitute(f)
    def write(values, mask, limit=None):
        filled, source, missing = sources(values, mask, limit)
        values[filled] = values[source]
        mask[...] = missing


def _by_one(f: Any, isna: Any) -> None:
    names = list(inspect.signature(f).parameters)

    @non_differentiable
    def places(given: dict[str, Any]) -> tuple[Any, Any, Any]:
        """Return the filled entries, the mask of missing ones afterwards, and the result of `f`."""
        before = np.array(given["values"])
        outputs = {"values": np.array(before), "fill_val": before.dtype.type(0)}
        if given.get("mask") is not None:
            outputs["mask"] = np.array(given["mask"])
        number = f(**{**given, **outputs})
        if "mask" in outputs:
            return np.asarray(given["mask"] != outputs["mask"]), outputs["mask"], number
        return isna(before) & ~isna(outputs["values"]), None, number

    @non_differentiable
    def as_it_is(given: dict[str, Any]) -> Any:
        return f(**given)

    @substitute(f)
    def write(*args, **kwargs):
        given = {**dict(zip(names, args)), **kwargs}  # noqa: B905 (it is lowered)
        if given["values"].dtype.kind not in "fcO":
            return as_it_is(given)
        filled, missing, number = places(given)
        given["values"][filled] = given["fill_val"]
        if missing is not None:
            given["mask"][...] = missing
        return number


def _unstacked(f: Any) -> None:
    @non_differentiable
    def sources(shape: Any, given: Any, new_values: Any, others: Any) -> tuple[Any, Any, Any]:
        """Return filled entries of the table, their sources in the series, and other outputs."""
        found = np.full(np.shape(new_values), -1)
        others = [np.array(other) for other in others]
        f(np.arange(np.prod(shape)).reshape(shape), *given, found, *others)
        filled = np.nonzero(found >= 0)
        return filled, np.unravel_index(found[filled], shape), others

    @substitute(f)
    def write(values, mask, stride, length, width, new_values, *others):
        filled, source, written = sources(
            np.shape(values), (mask, stride, length, width), new_values, others
        )
        new_values[filled] = values[source]
        for other, found in zip(others, written):  # noqa: B905 (it is lowered)
            other[...] = found
