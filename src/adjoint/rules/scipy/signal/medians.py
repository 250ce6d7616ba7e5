"""The rule of `scipy.signal.medfilt2d`; other median filters are those of `scipy.ndimage`."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.signal import _sigtools

from adjoint.rulekit.registry import substitute
from adjoint.rules.scipy.linalg.matrix_rule import Call, matrix_rule
from adjoint.rules.scipy.ndimage.boundaries import CONSTANT, widened
from adjoint.rules.scipy.ndimage.rank_filters import Picks

_compiled: Any = _sigtools._medfilt2d


def medians(image: Any, sizes: Any) -> Any:
    """Return the medians of the windows of an image that is extended by zeros."""
    return _compiled(image, sizes)


@substitute(_compiled)
def _(image, sizes):
    return medians(image, sizes)


@matrix_rule(medians, "image")
def _(call: Call) -> Any:
    sizes = [int(n) for n in call.sizes]
    axes = widened(call.image.shape, sizes, [0, 0], CONSTANT)
    picks = Picks(call.image, 0.0, call.y, axes, np.ones(sizes, bool))
    return lambda y_bar: picks.back(y_bar)[:1]
