"""The derivatives of the parts of a list."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.cotangents.poison import Poison


def parts_of(below: Callable[..., Any], of_list: Any, n: int) -> Any:
    """Those of a list of `n` things, for which a rule may have given an array: what is taken out of
    that, on the level `below`, has a derivative as well."""
    if type(of_list) is Poison:
        return [of_list] * n
    if isinstance(of_list, np.ndarray):
        return [below(operator.getitem, of_list, i) for i in range(len(of_list))]
    return of_list
