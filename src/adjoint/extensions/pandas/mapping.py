"""What pandas does with a function and with each element of an array."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.rulekit.registry import substitute


def register(lib: Any, is_missing: Any) -> None:
    """Register the rules of a module of pandas; `is_missing` says what stands for nothing."""

    @substitute(lib.map_infer)
    def map_infer(arr, f, convert=True, ignore_na=False):
        """``Series.map(f)``, of each element."""
        made = np.empty(len(arr), object)
        for i in range(len(arr)):
            part = arr[i]
            made[i] = part if ignore_na and is_missing(part) else f(part)
        return lib.maybe_convert_objects(made) if convert else made

    @substitute(lib.map_infer_mask)
    def map_infer_mask(arr, f, mask, convert=True, na_value=lib.no_default, dtype=object):
        """The same but for what is masked, which stays, or is `na_value`."""
        made = np.empty(len(arr), dtype)
        for i in range(len(arr)):
            if not mask[i]:
                made[i] = f(arr[i])
            else:
                made[i] = arr[i] if na_value is lib.no_default else na_value
        return lib.maybe_convert_objects(made) if convert else made

    @substitute(lib.item_from_zerodim)
    def item_from_zerodim(val):
        return val[()] if isinstance(val, np.ndarray) and val.ndim == 0 else val
