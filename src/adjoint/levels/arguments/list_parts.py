"""The derivatives of the parts of a list."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.cotangents.poison import Poison


def parts_of(below: Callable[..., Any], of_list: Any, n: int) -> Any:
    """Return the derivatives of the `n` elements of a list. A rule may have returned an array for
    them; its elements are then read on the level `below`, which differentiates the read."""
    if type(of_list) is Poison:
        return [of_list] * n
    if isinstance(of_list, np.ndarray):
        return [below(operator.getitem, of_list, i) for i in range(len(of_list))]
    return of_list
