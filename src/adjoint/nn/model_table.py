"""A model as a table of its arrays."""

from __future__ import annotations

from typing import Any

from adjoint.nn.parameters import named_parameters


def summary(model: Any) -> str:
    """The arrays of floats of a model, as a text table: print it.

    Parameters
    ----------
    model
        Any object, as for `parameters`.

    Returns
    -------
    str
        One line for each distinct array: its name, as in the files of `save`; the class of the
        object that holds it; its shape, dtype and number of elements. The last line has their total
        and the memory of the arrays.

    Examples
    --------
    >>> from adjoint.nn import Chain, Dense, relu
    >>> print(summary(Chain(Dense(2, 16, relu), Dense(16, 1))))
    name        in     shape    dtype    numbers
    layers.0.W  Dense  (2, 16)  float64       32
    layers.0.b  Dense  (16,)    float64       16
    layers.1.W  Dense  (16, 1)  float64       16
    layers.1.b  Dense  (1,)     float64        1
    Chain: 65 numbers in 4 arrays, 520 bytes
    """
    named = named_parameters(model)
    rows = [("name", "in", "shape", "dtype", "numbers")]
    for name, kind, array in named:
        rows.append((name, kind, str(array.shape), str(array.dtype), f"{array.size:,}"))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join([*map(str.ljust, row[:-1], widths), row[-1].rjust(widths[-1])]) for row in rows
    ]
    numbers, size = sum(a.size for _, _, a in named), sum(a.nbytes for _, _, a in named)
    total = f"{numbers:,} numbers in {len(named)} arrays, {_memory(size)}"
    return "\n".join([*lines, f"{type(model).__name__}: {total}"])


def _memory(size: float) -> str:
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:,.3g} GB"
