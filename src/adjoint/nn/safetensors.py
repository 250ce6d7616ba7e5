"""Files of named arrays in the format of safetensors: eight bytes with the length of a header, the
header in JSON, the numbers of all arrays in little-endian C order.

https://github.com/huggingface/safetensors#format
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjoint.errors import ArgumentError

_DTYPES = {"F16": "<f2", "F32": "<f4", "F64": "<f8", "C64": "<c8"}
_NAMES = {np.dtype(dtype): name for name, dtype in _DTYPES.items()}


def write(path: Path, arrays: dict[str, NDArray[Any]]) -> None:
    """Write arrays of floats in single, double or half precision, or complex in single."""
    header, data, end = {}, [], 0
    for name, array in arrays.items():
        kind = _NAMES.get(array.dtype.newbyteorder("<"))
        if kind is None or name == "__metadata__":
            raise ArgumentError(
                f"safetensors cannot hold {name!r}, an array of {array.dtype}",
                hint="save under a name that ends in .npz",
            )
        data.append(array.astype(_DTYPES[kind]).tobytes())
        begin, end = end, end + len(data[-1])
        header[name] = {"dtype": kind, "shape": array.shape, "data_offsets": (begin, end)}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # numbers begin at a multiple of eight
    path.write_bytes(b"".join([len(text).to_bytes(8, "little"), text, *data]))


def read(path: Path) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file by name; refuse what is not of this format."""
    content = path.read_bytes()
    start = 8 + int.from_bytes(content[:8], "little")
    try:
        header = json.loads(content[8:start])
        header.pop("__metadata__", None)
        return {name: _array(entry, content[start:]) for name, entry in header.items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ArgumentError(
            f"{path} is no file of safetensors that can be read here: {error}",
            hint=f"its arrays must have a dtype of {', '.join(_DTYPES)}",
        ) from None


def _array(entry: Any, data: bytes) -> NDArray[Any]:
    dtype, shape = np.dtype(_DTYPES[entry["dtype"]]), tuple(entry["shape"])
    begin, end = entry["data_offsets"]
    if min(begin, *shape, 0) < 0 or end - begin != math.prod(shape) * dtype.itemsize:
        raise ValueError(f"offsets {begin}, {end} do not fit the shape {shape}")
    return np.frombuffer(data[begin:end], dtype).reshape(shape)
