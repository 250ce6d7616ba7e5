"""Python equivalents of the filters of `scipy.ndimage` that call a Python function."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.ndimage import _nd_image

from adjoint.rulekit.registry import substitute
from adjoint.rules.scipy.ndimage.boundaries import along, extended, widened


@substitute(_nd_image.generic_filter)
def _(input, function, footprint, output, mode, cval, origins, arguments, keywords):
    wide = extended(input, widened(input.shape, footprint.shape, origins, mode), cval)
    results = []
    for start in np.ndindex(input.shape):
        window = tuple([slice(k, k + n) for k, n in zip(start, footprint.shape, strict=True)])
        values = wide[window][footprint].astype(np.float64)
        results.append(function(values, *arguments, **keywords))
    output[...] = np.reshape(np.array(results), output.shape)


@substitute(_nd_image.generic_filter1d)
def _(input, function, size, axis, output, mode, cval, origin, arguments, keywords):
    axes: list[Any] = [None] * input.ndim
    axes[axis] = along(input.shape[axis], size, origin, mode)
    wide = np.moveaxis(extended(input, axes, cval), axis, -1)
    results = np.zeros((*wide.shape[:-1], input.shape[axis]))
    for line in np.ndindex(wide.shape[:-1]):
        values, filtered = wide[line].astype(np.float64), np.zeros(input.shape[axis])
        function(values, filtered, *arguments, **keywords)
        results[line] = filtered
    output[...] = np.moveaxis(results, -1, axis)
