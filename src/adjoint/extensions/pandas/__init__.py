"""Rules for `pandas`, whose series and frames are Python around compiled blocks."""

from __future__ import annotations

from typing import Any

from adjoint.extensions.pandas import (
    arrays,
    blocks,
    constants,
    gaps,
    groups,
    keys,
    mapping,
    objects,
    properties,
    quantiles,
    running_totals,
    taking,
    ufuncs,
    windows,
)
from adjoint.rulekit.loading import registering


@registering("pandas")
def _(pandas: Any) -> None:
    from pandas._libs import algos, groupby, lib, missing, ops_dispatch, reshape
    from pandas._libs.window import aggregations
    from pandas.core.array_algos import take

    arrays.register(pandas._libs.arrays.NDArrayBacked)
    groups.register(groupby, aggregations, algos)
    running_totals.register(groupby)
    windows.register(aggregations, algos)
    quantiles.register(groupby.group_quantile)
    keys.register(pandas._libs.hashtable)
    gaps.register(algos, reshape, pandas.isna)
    objects.register(lib, reshape, missing.checknull, pandas.arrays.FloatingArray)
    constants.register(pandas)
    blocks.register(pandas._libs.internals, pandas.core.internals)
    properties.register(pandas)
    mapping.register(lib, missing.checknull)
    taking.register(take)
    ufuncs.register(ops_dispatch)
