"""What of pandas carries no derivative: labels, periods of time, questions about types."""

from __future__ import annotations

from typing import Any

from adjoint.extensions.pandas.members import derived_from, names
from adjoint.rulekit.registry import non_differentiable


def register(pandas: Any) -> None:
    """Say of functions of pandas that they run as they are."""
    from pandas._libs import algos, index, indexing, internals, lib, missing
    from pandas.core import indexing as indexers

    # What managers, blocks and indexers hold is in sight: it is in their attributes.
    non_differentiable(
        *derived_from(indexing.NDFrameIndexerBase, indexers),
        (internals.BlockManager, "__new__"),
        (internals.BlockManager, "_rebuild_blknos_and_blklocs"),
        *((internals.BlockValuesRefs, name) for name in names(internals.BlockValuesRefs, "")),
    )
    # They look at types and integers, and fill caches of what they are given on the way.
    non_differentiable(
        lib.infer_dtype,
        missing.isnaobj,
        missing.checknull,
        *(getattr(lib, name) for name in names(lib, "is_", "has_")),
        *(getattr(algos, name) for name in names(algos, "ensure_int", "ensure_uint", "ensure_pl")),
    )
    # They say where labels are, and keep what they have looked up.
    for engine in derived_from(object, index):
        non_differentiable(*((engine, name) for name in names(engine, "get_")))
    _periods(pandas.Period)


def _periods(Period: Any) -> None:
    """Periods of time hold no reals: they keep what they have calculated from their number."""
    period = Period.__base__
    non_differentiable(Period, (Period, "__new__"))
    non_differentiable(*((period, f"__{name}__") for name in ("add", "radd", "sub", "rsub")))
    non_differentiable(*((period, name) for name in names(period, "asfreq", "to_", "strftime")))
