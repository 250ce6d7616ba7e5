"""The gradient magnitude of `scipy.ndimage`, as a norm, whose slope at zero is zero."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import ndimage as nd
from scipy.ndimage import _ni_support

from adjoint.rulekit.registry import substitute


def _magnitude(
    input: Any,
    derivative: Any,
    output: Any,
    axes: Any,
    modes: Any,
    cval: Any,
    extra_arguments: Any,
    extra_keywords: Any,
) -> Any:
    x = np.asarray(input)
    result = _ni_support._get_output(output, x)
    if len(axes):
        parts = [
            derivative(x, axis, result.dtype, mode, cval, *extra_arguments, **extra_keywords)
            for axis, mode in zip(axes, modes, strict=True)
        ]
        result[...] = np.linalg.norm(np.stack(parts), axis=0)
    else:
        result[...] = x
    return result


if hasattr(_ni_support, "_check_axes"):

    @substitute(nd.generic_gradient_magnitude)
    def _(
        input,
        derivative,
        output=None,
        mode="reflect",
        cval=0.0,
        extra_arguments=(),
        extra_keywords=None,
        *,
        axes=None,
    ):
        axes = _ni_support._check_axes(axes, np.ndim(input))
        modes = _ni_support._normalize_sequence(mode, len(axes))
        named = {} if extra_keywords is None else extra_keywords
        return _magnitude(input, derivative, output, axes, modes, cval, extra_arguments, named)
