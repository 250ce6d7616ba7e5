"""Files of NumPy's format ``.npz``: an archive with a file for each array."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjoint.errors import ArgumentError


def write(path: Path, arrays: dict[str, NDArray[Any]]) -> None:
    """Write arrays to a file."""
    with zipfile.ZipFile(path, "w") as archive:  # `np.savez` has names of its own that clash
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, np.asarray(array), allow_pickle=False)


def read(path: Path) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file by name."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            # an entry is called like its array, with ".npy" behind it
            return {name: arrays[f"{name}.npy"] for name in arrays.files}
    except (
        ValueError,
        AttributeError,
        TypeError,
        EOFError,
        KeyError,
        zipfile.BadZipFile,
        zlib.error,
    ) as error:
        raise ArgumentError(
            f"{path} is no .npz file of plain arrays",
            hint="write it by ad.nn.save or numpy.savez; arrays of objects are not read, because"
            " they could run code",
        ) from error
