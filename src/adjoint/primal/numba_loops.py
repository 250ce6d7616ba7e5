"""Universal functions of Numba, as loops in Python."""

from __future__ import annotations

from typing import Any

import numpy as np


def each(f: Any, nin: int, /, *args: Any, out: Any = None) -> Any:
    """Return ``numba.vectorize(f)(*args)``: `f` of corresponding elements."""
    y = np.vectorize(f)(*args[:nin])[()]
    for into in (*args[nin:], out):
        if into is not None:
            into[...] = y
            y = into
    return y


def generalized(f: Any, signature: str, /, *args: Any) -> Any:
    """Return ``numba.guvectorize(signature)(f)(*args)``: `f` writes each result into an operand."""
    inputs, outputs = [
        [core.strip("()").split(",") if core.strip("()") else [] for core in part.split("),(")]
        for part in signature.replace(" ", "").split("->")
    ]
    sizes: dict[str, int] = {}
    arrays, shapes = [np.asarray(arg) for arg in args[: len(inputs)]], []
    for array, core in zip(arrays, inputs, strict=True):
        n = len(array.shape) - len(core)
        shapes.append(array.shape[:n])
        for name, size in zip(core, array.shape[n:], strict=True):
            sizes[name] = size
    loop = np.broadcast_shapes(*shapes)
    wide = [
        np.broadcast_to(array, loop + array.shape[len(array.shape) - len(core) :])
        for array, core in zip(arrays, inputs, strict=True)
    ]
    dtype = np.result_type(float, *[array.dtype for array in arrays])
    made = []
    for core in outputs:
        shape = tuple([sizes[name] for name in core]) or (1,)
        made.append(np.zeros(loop + shape, dtype))
    for index in np.ndindex(*loop):
        f(*[array[index] for array in wide], *[out[index] for out in made])
    found = [out if core else out[..., 0] for out, core in zip(made, outputs, strict=True)]
    found = [y if y.shape else y[()] for y in found]
    return found[0] if len(found) == 1 else tuple(found)
