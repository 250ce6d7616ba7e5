"""Sums of the entries of groups."""

from __future__ import annotations

import numpy as np


def totals(x, place, size):
    """Sum the entries of `x` at each place."""
    found = np.zeros(size, x.dtype)
    np.add.at(found, place, x)
    return found
